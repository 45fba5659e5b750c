/* Loops over rows and blocks around the items of accumulate.h. */
#include "kern/reduce.h"

#include "kern/accumulate.h"

double reduce_dot(const float *a, const float *b, int64_t rows, int64_t row_elements)
{
    double sum = 0.0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < row_elements; i += K_BLOCK) {
            const int64_t at = r * row_elements + i;
            sum += k_dot_block(a + at, b + at, k_min_i64(K_BLOCK, row_elements - i));
        }
    return sum;
}

double reduce_sum(const float *a, int64_t rows, int64_t row_elements)
{
    double sum = 0.0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < row_elements; i += K_BLOCK)
            sum += k_sum_block(a + r * row_elements + i, k_min_i64(K_BLOCK, row_elements - i));
    return sum;
}

void reduce_range(const float *a, int64_t n, float *least, float *greatest)
{
    float low = k_infinityf(), high = -k_infinityf();
    int64_t counted = 0;
    for (int64_t i = 0; i < n; i++) {
        low = a[i] < low ? a[i] : low;
        high = a[i] > high ? a[i] : high;
        counted += a[i] == a[i];
    }
    *least = counted ? low + 0.0f : k_nanf();
    *greatest = counted ? high + 0.0f : k_nanf();
}
