/* Checked first, so that a refusal leaves everything as it was. */
#include "kern/scan.h"

int scan_exclusive(const int64_t *in, int64_t n, int64_t *out, int64_t *total)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (in[i] < 0 || __builtin_add_overflow(sum, in[i], &sum)) return 1;
    sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t here = in[i];
        out[i] = sum;
        sum += here;
    }
    *total = sum;
    return 0;
}
