/* Spectra of a sinogram's rows, and the disagreement that they give: D(w) and E of centre.c. */
#include "ct/centre.h"

#include <string.h>

#include "ct/fft.h"
#include "kern/exact.h"

enum {
    MAX_ROWS = 8, /* rows looked at, spread evenly; of large sinograms two say enough */
    MIN_ROWS = 2,
    ENOUGH = 1 << 22, /* values */
    WEDGE_BAND = 256, /* harmonics above the wedge's edge; the energy falls as 1/n^2 */
    WEDGE_MARGIN = 4
};

static void spectra_of_row(finder *f, int64_t row)
{
    for (int64_t k = 0; k < f->views && centre_goes_on(f); k++) {
        const float *view = f->sinogram + k * f->columns * f->rows + row;
        memset(f->work, 0, ((size_t)2 << f->bits) * sizeof *f->work);
        for (int64_t u = 0; u < f->columns; u++) {
            const double value = (double)view[u * f->rows];
            /* One broken value must not spoil every frequency. */
            const double finite = value - value == 0.0 ? value : 0.0;
            f->work[2 * u] = f->window ? finite * f->window[u] : finite;
        }
        ct_fft_f64(f->work, f->bits, f->turn);
        for (int64_t j = 0; j < f->frequencies; j++) {
            f->re[k * f->frequencies + j] = f->work[2 * j];
            f->im[k * f->frequencies + j] = f->work[2 * j + 1];
        }
    }
}

/* ---- The two measures: both add to D and E ---- */

static double frequency(const finder *f, int64_t j)
{
    return CT_TURN * (double)j / (double)((int64_t)1 << f->bits);
}

static void add_mirrors(finder *f)
{
    for (int64_t m = 0; m < f->mirror_count && centre_goes_on(f); m++) {
        const mirror *p = &f->mirrors[m];
        const double *ar = f->re + p->view * f->frequencies, *ai = f->im + p->view * f->frequencies;
        const double *lr = f->re + p->low * f->frequencies, *li = f->im + p->low * f->frequencies;
        const double *hr = f->re + p->high * f->frequencies, *hi = f->im + p->high * f->frequencies;
        for (int64_t j = 1; j < f->frequencies; j++) {
            const double w = frequency(f, j);
            const double br = (1.0 - p->part) * lr[j] + p->part * hr[j];
            const double bi = (1.0 - p->part) * li[j] + p->part * hi[j];
            /* |e^{iwc} A - conj(e^{iwc} B)|^2 = |A|^2 + |B|^2 - 2 Re(e^{2iwc} A B) */
            f->d_re[j] -= w * (ar[j] * br - ai[j] * bi);
            f->d_im[j] -= w * (ar[j] * bi + ai[j] * br);
            f->energy += w * (ar[j] * ar[j] + ai[j] * ai[j] + br * br + bi * bi);
        }
    }
}

/* A(n, w) = sum over views of weight e^{-i n angle} P(w). The completed sinogram has the
 * coefficient e^{iwc} A(n) + (-1)^n conj(e^{iwc} A(-n)). */
static void add_wedge(finder *f, double radius)
{
    for (int64_t k = 0; k < f->views; k++) f->phase_re[k] = f->weight[k], f->phase_im[k] = 0.0;
    int64_t low = 1, high = 1; /* frequencies [low, high) take part in harmonic n */
    /* Beyond the last frequency's band no harmonic adds anything. */
    for (int64_t n = 1; n < f->views && low < f->frequencies && centre_goes_on(f); n++) {
        for (int64_t k = 0; k < f->views; k++) {
            const double r = f->phase_re[k], i = f->phase_im[k];
            f->phase_re[k] = r * f->turn_re[k] - i * f->turn_im[k];
            f->phase_im[k] = r * f->turn_im[k] + i * f->turn_re[k];
        }
        while (high < f->frequencies &&
               frequency(f, high) * radius + (double)WEDGE_MARGIN <= (double)n)
            high++;
        while (low < high &&
               frequency(f, low) * radius + (double)(WEDGE_MARGIN + WEDGE_BAND) < (double)n)
            low++;
        if (low >= high) continue;
        for (int s = 0; s < 4; s++)
            memset(f->sum[s] + low, 0, (size_t)(high - low) * sizeof(double));
        for (int64_t k = 0; k < f->views; k++) {
            const double zr = f->phase_re[k], zi = f->phase_im[k];
            const double *pr = f->re + k * f->frequencies, *pi = f->im + k * f->frequencies;
            double *rr = f->sum[0], *ii = f->sum[1], *ri = f->sum[2], *ir = f->sum[3];
            for (int64_t j = low; j < high; j++) {
                rr[j] += zr * pr[j];
                ii[j] += zi * pi[j];
                ri[j] += zr * pi[j];
                ir[j] += zi * pr[j];
            }
        }
        const double sign = n % 2 ? -1.0 : 1.0;
        for (int64_t j = low; j < high; j++) {
            const double w = frequency(f, j), w2 = w * w;
            const double ar = f->sum[0][j] - f->sum[1][j], ai = f->sum[2][j] + f->sum[3][j];
            const double br = f->sum[0][j] + f->sum[1][j], bi = f->sum[2][j] - f->sum[3][j];
            f->d_re[j] += sign * w2 * (ar * br - ai * bi);
            f->d_im[j] += sign * w2 * (ar * bi + ai * br);
            f->energy += w2 * (ar * ar + ai * ai + br * br + bi * bi);
        }
    }
}

int64_t centre_rows(const finder *f)
{
    const int64_t enough = k_max_i64(ENOUGH / (f->views * f->columns), MIN_ROWS);
    return k_min_i64(f->rows, k_min_i64(enough, MAX_ROWS));
}

void centre_measure(finder *f, double radius)
{
    memset(f->d_re, 0, (size_t)f->frequencies * sizeof *f->d_re);
    memset(f->d_im, 0, (size_t)f->frequencies * sizeof *f->d_im);
    f->energy = 0.0;
    const int64_t rows = centre_rows(f);
    for (int64_t i = 0; i < rows; i++) {
        spectra_of_row(f, (2 * i + 1) * f->rows / (2 * rows));
        if (f->by_mirrors)
            add_mirrors(f);
        else
            add_wedge(f, radius);
        f->measured++;
    }
}

double centre_disagreement(const finder *f, double centre)
{
    double zr, zi, er = 1.0, ei = 0.0, total = 0.0;
    k_sincospi(4.0 * centre / (double)((int64_t)1 << f->bits), &zi, &zr);
    for (int64_t j = 1; j < f->frequencies; j++) {
        const double r = er * zr - ei * zi;
        ei = er * zi + ei * zr;
        er = r;
        total += f->d_re[j] * er - f->d_im[j] * ei;
    }
    return f->energy + 2.0 * total;
}
