#include "picture.h"

#include <math.h>
#include <stdlib.h>

static void swap(float *a, float *b)
{
    const float t = *a;
    *a = *b;
    *b = t;
}

/* The k-th smallest (C. A. R. Hoare, "Find", 1961); the value does not depend on how the search
 * goes. */
static float kth(float *v, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const float pivot = v[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) swap(&v[i++], &v[j--]);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return v[k];
}

int picture_window(const float *slice, int64_t ny, int64_t nx, double *black, double *white)
{
    float *inside = malloc((size_t)(nx * ny) * sizeof *inside);
    if (!inside) return 0;
    const double cx = (double)(nx - 1) / 2, cy = (double)(ny - 1) / 2;
    const double radius = (double)(nx < ny ? nx : ny) / 2;
    int64_t n = 0;
    for (int64_t iy = 0; iy < ny; iy++)
        for (int64_t ix = 0; ix < nx; ix++) {
            const double x = (double)ix - cx, y = (double)iy - cy;
            const float value = slice[iy * nx + ix];
            if (x * x + y * y <= radius * radius && isfinite(value)) inside[n++] = value;
        }
    *black = *white = 0;
    if (n) {
        const int64_t low = (int64_t)(0.005 * (double)(n - 1) + 0.5);
        *black = (double)kth(inside, n, low);
        *white = (double)kth(inside, n, n - 1 - low);
    }
    free(inside);
    return 1;
}

void picture_grey(const float *slice, int64_t count, double black, double white, uint8_t *out)
{
    const double scale = white > black ? 255 / (white - black) : 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)slice[i];
        if (!(value > black))
            out[i] = 0;
        else if (value >= white)
            out[i] = 255;
        else
            out[i] = (uint8_t)((value - black) * scale + 0.5);
    }
}
