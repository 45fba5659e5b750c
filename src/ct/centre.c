/* The rotation axis of a parallel-beam sinogram, from the data alone.
 *
 * Two views half a turn apart are mirror images about the axis. Seen per detector frequency w, a view's spectrum P(a, w)
 * taken about a trial column c is e^{iwc} P, and its mirror image is the conjugate. So every disagreement
 * below is, summed over frequencies, a trigonometric polynomial in c:
 *
 *     M(c) = E + 2 Re sum_w D(w) e^{2iwc}
 *
 * whose coefficients come from one pass over the data; trial centres then cost next to nothing, at
 * any fraction of a column. The best centre is the lowest M.
 *
 * - Where the scan holds opposite views, M is the squared difference of each view and the mirrored opposite.
 * - A scan of half a turn holds none. Then M is the energy of the sinogram, completed by its mirror image, in the part of
 *   its two-dimensional spectrum that a consistent sinogram leaves empty: |n| > w R for an object of radius R
 *   (the double wedge: Edholm, Lewitt, Lindholm, Proc. SPIE 671:8, 1986; as a measure of the centre: Vo, Drakopoulos,
 *   Atwood, Reinhard, Opt. Express 22:19078, 2014).
 *
 * An object wider than the detector has no silence at the ends of its rows, which favours the middle. Such sinograms
 * first get a coarse centre from the overlap of the views nearest to opposite, then are faded out
 * symmetrically about it, and again about what that gives.
 *
 * Everything is float64 in a fixed order; sine and cosine are src/kern's. */
#include <stdlib.h>
#include <string.h>

#include <motet/ct.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "kern/exact.h"
#include "rt/array.h"

enum {
    MAX_FREQUENCIES = 1024,
    MAX_ROWS = 8,   /* rows looked at, spread evenly */
    WEDGE_BAND = 256, /* harmonics above the wedge's edge; the energy falls as 1/n^2 */
    WEDGE_MARGIN = 4,
    FADES = 3,
    MAX_PAIRS = 32,
    STEPS_PER_COLUMN = 4 /* of the first search */
};

static const double turn = 0x1.921fb54442d18p+2, half_turn = 0x1.921fb54442d18p+1;

typedef struct sorted_angle {
    double angle; /* in [0, period) */
    int64_t view;
} sorted_angle;

typedef struct mirror { /* what a view's opposite is made of: (1 - part) * low + part * high */
    int64_t view, low, high;
    double part;
} mirror;

typedef struct finder {
    motet_context *context;
    const float *sinogram; /* views, columns, rows */
    const double *angles;
    int64_t views, columns, rows;
    int64_t length;      /* of the transform, a power of two >= 2 columns */
    int64_t frequencies; /* 1 .. frequencies - 1 are used; spacing 2 pi / length */
    double *cosine, *sine;           /* of 2 pi i / length, i < length / 2 */
    double *work_re, *work_im;       /* length */
    double *re, *im;                 /* views * frequencies: spectra of one row */
    double *weight;                  /* of a view: half the gaps to its neighbours modulo pi */
    double *phase_re, *phase_im;     /* of the harmonic at hand, per view */
    double *turn_re, *turn_im;       /* e^{-i angle} */
    double *sum[4];                  /* frequencies each */
    double *d_re, *d_im;             /* D(w), weight included */
    double *profile;                 /* columns */
    double *window;                  /* columns; NULL: none */
    sorted_angle *order;
    mirror *mirrors;
    int64_t mirror_count;
    int by_mirrors; /* the scan holds opposite views */
    double energy; /* E */
} finder;

/* ---- Angles ---- */

static double modulo(double a, double period)
{
    double turns = a / period;
    /* floor without libm; angles are checked to be below 1e6 turns */
    double whole = (double)(int64_t)turns;
    if (whole > turns) whole -= 1.0;
    double rest = a - whole * period;
    if (rest < 0.0) rest += period;
    if (rest >= period) rest -= period;
    return rest;
}

static int compare_angles(const void *a, const void *b)
{
    const sorted_angle *x = a, *y = b;
    if (x->angle != y->angle) return x->angle < y->angle ? -1 : 1;
    return x->view < y->view ? -1 : x->view > y->view;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void sort_angles(finder *f, double period)
{
    for (int64_t k = 0; k < f->views; k++)
        f->order[k] = (sorted_angle){modulo(f->angles[k], period), k};
    qsort(f->order, (size_t)f->views, sizeof *f->order, compare_angles);
}

/* Gap from sorted angle i to the next, around the period. */
static double gap_after(const finder *f, int64_t i, double period)
{
    return i + 1 < f->views ? f->order[i + 1].angle - f->order[i].angle
                            : f->order[0].angle + period - f->order[i].angle;
}

static double median_gap(finder *f, double period)
{
    double *gaps = f->phase_re; /* free at this time */
    for (int64_t i = 0; i < f->views; i++) gaps[i] = gap_after(f, i, period);
    qsort(gaps, (size_t)f->views, sizeof *gaps, compare_doubles);
    /* Views measured twice leave gaps of zero, which say nothing about the step. */
    int64_t zero = 0;
    while (zero < f->views - 1 && gaps[zero] < 1e-9) zero++;
    return gaps[zero + (f->views - zero) / 2];
}

/* Weights for the wedge, and a word about holes. */
static void weigh_views(finder *f)
{
    sort_angles(f, half_turn);
    const double step = median_gap(f, half_turn);
    double widest = 0.0, before = gap_after(f, f->views - 1, half_turn);
    for (int64_t i = 0; i < f->views; i++) {
        const double after = gap_after(f, i, half_turn);
        f->weight[f->order[i].view] = 0.5 * (before + after);
        before = after;
        widest = after > widest ? after : widest;
    }
    if (widest > 5.0 * step && widest > 0.1)
        log_warning(f->context, "ct.centre",
                    "the views leave a gap of %lld degrees: the centre may be off",
                    (long long)(widest / half_turn * 180.0));
}

/* The opposite of every view that has one: a view, or two neighbours to interpolate between. */
static void find_mirrors(finder *f)
{
    sort_angles(f, turn);
    const double step = median_gap(f, turn), exact = 1e-6;
    f->mirror_count = 0;
    for (int64_t k = 0; k < f->views; k++) {
        const double want = modulo(f->angles[k] + half_turn, turn);
        int64_t from = 0, to = f->views; /* first sorted angle >= want */
        while (from < to) {
            const int64_t middle = from + (to - from) / 2;
            if (f->order[middle].angle < want) from = middle + 1;
            else to = middle;
        }
        const int64_t high = from % f->views, low = (high + f->views - 1) % f->views;
        const double below = modulo(want - f->order[low].angle, turn);
        const double above = modulo(f->order[high].angle - want, turn);
        double part;
        if (above < exact) part = 1.0;
        else if (below < exact) part = 0.0;
        else if (below + above < 2.0 * step && below + above < 0.5) part = below / (below + above);
        else continue;
        f->mirrors[f->mirror_count++] =
            (mirror){k, f->order[low].view, f->order[high].view, part};
    }
}

/* ---- Spectra of the rows ---- */

/* In-place radix-2 transform of work_re, work_im (decimation in time; Cooley and Tukey 1965). */
static void transform(finder *f)
{
    const int64_t n = f->length;
    double *re = f->work_re, *im = f->work_im;
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            const double r = re[i], m = im[i];
            re[i] = re[j], im[i] = im[j];
            re[j] = r, im[j] = m;
        }
    }
    for (int64_t half = 1; half < n; half <<= 1) {
        const int64_t stride = n / (2 * half);
        for (int64_t begin = 0; begin < n; begin += 2 * half)
            for (int64_t i = 0; i < half; i++) {
                const double c = f->cosine[i * stride], s = -f->sine[i * stride];
                const int64_t a = begin + i, b = a + half;
                const double r = re[b] * c - im[b] * s, m = re[b] * s + im[b] * c;
                re[b] = re[a] - r, im[b] = im[a] - m;
                re[a] += r, im[a] += m;
            }
    }
}

static void spectra_of_row(finder *f, int64_t row)
{
    for (int64_t k = 0; k < f->views; k++) {
        const float *view = f->sinogram + k * f->columns * f->rows + row;
        memset(f->work_re, 0, (size_t)f->length * sizeof *f->work_re);
        memset(f->work_im, 0, (size_t)f->length * sizeof *f->work_im);
        for (int64_t u = 0; u < f->columns; u++) {
            const double value = (double)view[u * f->rows];
            /* One broken value must not spoil every frequency. */
            const double finite = value - value == 0.0 ? value : 0.0;
            f->work_re[u] = f->window ? finite * f->window[u] : finite;
        }
        transform(f);
        memcpy(f->re + k * f->frequencies, f->work_re, (size_t)f->frequencies * sizeof *f->re);
        memcpy(f->im + k * f->frequencies, f->work_im, (size_t)f->frequencies * sizeof *f->im);
    }
}

/* ---- The two measures: both add to D and E ---- */

static double frequency(const finder *f, int64_t j) { return turn * (double)j / (double)f->length; }

static void add_mirrors(finder *f)
{
    for (int64_t m = 0; m < f->mirror_count; m++) {
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

/* A(n, w) = sum over views of weight e^{-i n angle} P(w). The completed sinogram has the coefficient
 * e^{iwc} A(n) + (-1)^n conj(e^{iwc} A(-n)). */
static void add_wedge(finder *f, double radius)
{
    for (int64_t k = 0; k < f->views; k++) f->phase_re[k] = f->weight[k], f->phase_im[k] = 0.0;
    int64_t low = 1, high = 1; /* frequencies [low, high) take part in harmonic n */
    for (int64_t n = 1; n < f->views; n++) {
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

static void measure(finder *f, double radius)
{
    memset(f->d_re, 0, (size_t)f->frequencies * sizeof *f->d_re);
    memset(f->d_im, 0, (size_t)f->frequencies * sizeof *f->d_im);
    f->energy = 0.0;
    const int64_t rows = f->rows < MAX_ROWS ? f->rows : MAX_ROWS;
    for (int64_t i = 0; i < rows; i++) {
        spectra_of_row(f, (2 * i + 1) * f->rows / (2 * rows));
        if (f->by_mirrors) add_mirrors(f);
        else add_wedge(f, radius);
    }
}

/* ---- Searching ---- */

static double disagreement(const finder *f, double centre)
{
    double zr, zi, er = 1.0, ei = 0.0, total = 0.0;
    k_sincospi(4.0 * centre / (double)f->length, &zi, &zr);
    for (int64_t j = 1; j < f->frequencies; j++) {
        const double r = er * zr - ei * zi;
        ei = er * zi + ei * zr;
        er = r;
        total += f->d_re[j] * er - f->d_im[j] * ei;
    }
    return f->energy + 2.0 * total;
}

typedef struct found {
    double centre, quality;
} found;

static found search(const finder *f, double from, double to)
{
    const double step = 1.0 / STEPS_PER_COLUMN;
    const int64_t count = (int64_t)((to - from) * STEPS_PER_COLUMN) + 1;
    double best = from, least = 0.0, mean = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double m = disagreement(f, from + step * (double)i);
        if (i == 0 || m < least) least = m, best = from + step * (double)i;
        mean += m;
    }
    mean /= (double)count;
    /* How far it stands out: where the best elsewhere lies between the least and the mean, times the part of
     * the disagreement that the centre explains. Noise alone does neither. */
    const double elsewhere = 0.05 * (double)f->columns;
    double second = mean;
    for (int64_t i = 0; i < count; i++) {
        const double c = from + step * (double)i;
        if (c > best - elsewhere && c < best + elsewhere) continue;
        const double m = disagreement(f, c);
        if (m < second) second = m;
    }
    double quality = 0.0;
    if (mean > least && f->energy > 0.0) quality = (second - least) / (mean - least) * (1.0 - least / mean);
    double fine = step;
    for (int pass = 0; pass < 3; pass++) {
        fine *= 0.25;
        const double middle = best;
        for (int i = -4; i <= 4; i++) {
            const double c = middle + fine * (double)i, m = disagreement(f, c);
            if (m < least) least = m, best = c;
        }
    }
    const double left = disagreement(f, best - fine), right = disagreement(f, best + fine);
    const double curve = left - 2.0 * least + right;
    if (curve > 0.0) {
        double shift = 0.5 * (left - right) / curve;
        if (shift > -1.0 && shift < 1.0) best += shift * fine;
    }
    return (found){best, quality < 0.0 ? 0.0 : quality > 1.0 ? 1.0 : quality};
}

/* ---- Objects wider than the detector ---- */

/* The mean value at the ends of the rows over the largest in the middle: 0 when all of the object is seen. */
static double edge_level(finder *f)
{
    const int64_t edge = f->columns / 64 + 1;
    memset(f->profile, 0, (size_t)f->columns * sizeof *f->profile);
    for (int64_t k = 0; k < f->views; k++)
        for (int64_t u = 0; u < f->columns; u++) {
            const float *value = f->sinogram + (k * f->columns + u) * f->rows;
            for (int64_t v = 0; v < f->rows; v++)
                if (value[v] - value[v] == 0.0f) f->profile[u] += (double)value[v];
        }
    double low = 0.0, high = 0.0, most = 0.0;
    for (int64_t u = 0; u < edge; u++) {
        low += f->profile[u] / (double)edge;
        high += f->profile[f->columns - 1 - u] / (double)edge;
    }
    for (int64_t u = 0; u < f->columns; u++) most = k_max(f->profile[u], most);
    return most > 0.0 ? k_max(low, high) / most : 0.0;
}

/* Views to compare in space: the mirrors of a long scan, else neighbours modulo half a turn that lie about half a
 * turn apart in fact. */
static void choose_pairs(finder *f)
{
    if (f->by_mirrors) {
        for (int64_t i = 0; i < f->mirror_count; i++)
            if (f->mirrors[i].part < 0.5) f->mirrors[i].high = f->mirrors[i].low;
        return;
    }
    sort_angles(f, half_turn);
    f->mirror_count = 0;
    for (int64_t i = 0; i < f->views; i++) {
        const int64_t a = f->order[i].view, b = f->order[(i + 1) % f->views].view;
        const double apart = modulo(f->angles[b] - f->angles[a], turn);
        if (apart > 0.5 * half_turn && apart < 1.5 * half_turn)
            f->mirrors[f->mirror_count++] = (mirror){a, b, b, 1.0};
    }
}

/* Mean squared difference over the columns that both views of a pair see. */
static double coarse_centre(finder *f)
{
    choose_pairs(f);
    const int64_t last = f->columns - 1, row = f->rows / 2;
    const int64_t stride = f->mirror_count / MAX_PAIRS + 1;
    double best = 0.5 * (double)last, least = -1.0;
    /* Twice the centre; the overlap must be at least a third of the row. */
    for (int64_t twice = last / 3; twice <= 2 * last - last / 3; twice++) {
        const int64_t from = twice > last ? twice - last : 0, to = twice > last ? last : twice;
        double sum = 0.0;
        for (int64_t p = 0; p < f->mirror_count; p += stride) {
            const float *a = f->sinogram + f->mirrors[p].view * f->columns * f->rows + row;
            const float *b = f->sinogram + f->mirrors[p].high * f->columns * f->rows + row;
            for (int64_t u = from; u <= to; u++) {
                const double d = (double)a[u * f->rows] - (double)b[(twice - u) * f->rows];
                if (d - d == 0.0) sum += d * d;
            }
        }
        sum /= (double)(to - from + 1);
        if (least < 0.0 || sum < least) least = sum, best = 0.5 * (double)twice;
    }
    return best;
}

static double fade_about(finder *f, double centre)
{
    const double last = (double)(f->columns - 1);
    const double half = k_min(centre, last - centre) + 0.5;
    for (int64_t u = 0; u < f->columns; u++) {
        const double x = ((double)u - centre) / half, d = x < 0.0 ? -x : x;
        double s, c = 1.0;
        if (d > 0.5) k_sincospi(k_min(d, 1.0) - 0.5, &s, &c);
        f->window[u] = d < 1.0 ? c * c : 0.0;
    }
    return half;
}

/* ---- All together ---- */

static void finder_end(finder *f)
{
    void *blocks[] = {f->cosine,   f->sine,    f->work_re, f->work_im, f->re,     f->im,
                      f->weight,   f->phase_re, f->phase_im, f->turn_re, f->turn_im, f->sum[0],
                      f->sum[1],   f->sum[2],  f->sum[3],  f->d_re,    f->d_im,   f->profile,
                      f->window,   f->order,   f->mirrors};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(f->context, blocks[i]);
}

static motet_status finder_begin(finder *f)
{
    f->length = 2;
    while (f->length < 2 * f->columns) f->length *= 2;
    f->frequencies = k_min_i64(f->length / 2, MAX_FREQUENCIES);
    size_t cells;
    if (!mem_product(f->views, (size_t)f->frequencies * sizeof(double), &cells))
        return fail(f->context, MOTET_NO_MEMORY, "finding the centre: %lld views are too many",
                    (long long)f->views);
    motet_context *c = f->context;
    const struct {
        double **block;
        int64_t count;
    } blocks[] = {{&f->cosine, f->length / 2},    {&f->sine, f->length / 2},
                  {&f->work_re, f->length},       {&f->work_im, f->length},
                  {&f->re, f->views * f->frequencies}, {&f->im, f->views * f->frequencies},
                  {&f->weight, f->views},         {&f->phase_re, f->views},
                  {&f->phase_im, f->views},       {&f->turn_re, f->views},
                  {&f->turn_im, f->views},        {&f->sum[0], f->frequencies},
                  {&f->sum[1], f->frequencies},   {&f->sum[2], f->frequencies},
                  {&f->sum[3], f->frequencies},   {&f->d_re, f->frequencies},
                  {&f->d_im, f->frequencies},     {&f->profile, f->columns}};
    int missing = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!(*blocks[i].block = mem_array(c, double, blocks[i].count))) missing = 1;
    f->order = mem_array(c, sorted_angle, f->views);
    f->mirrors = mem_array(c, mirror, f->views);
    if (missing || !f->order || !f->mirrors)
        return fail(c, MOTET_NO_MEMORY, "finding the centre: no memory for the spectra of %lld views",
                    (long long)f->views);
    for (int64_t i = 0; i < f->length / 2; i++)
        k_sincospi(2.0 * (double)i / (double)f->length, &f->sine[i], &f->cosine[i]);
    for (int64_t k = 0; k < f->views; k++) {
        k_sincos(f->angles[k], &f->turn_im[k], &f->turn_re[k]);
        f->turn_im[k] = -f->turn_im[k];
    }
    return MOTET_OK;
}

static motet_status check(motet_context *context, const motet_array *sinogram, const double *angles)
{
    if (motet_array_type(sinogram) != MOTET_F32 || motet_array_axes(sinogram) != 3)
        return fail(context, MOTET_BAD_SHAPE,
                    "sinogram is %s with %d axes, expected float32 with 3 (view, u, v)",
                    motet_type_text(motet_array_type(sinogram)), motet_array_axes(sinogram));
    for (int axis = 0; axis < 3; axis++)
        if (motet_array_size(sinogram, axis) < 1)
            return fail(context, MOTET_BAD_SHAPE, "sinogram: axis %d is empty", axis);
    for (int64_t k = 0; k < motet_array_size(sinogram, 0); k++)
        if (!(angles[k] > -1e6 && angles[k] < 1e6))
            return fail(context, MOTET_BAD_ARGUMENT,
                        "angle %lld is %s, expected radians between -1e6 and 1e6", (long long)k,
                        number_text(angles[k], (char[NUMBER_TEXT]){0}));
    return MOTET_OK;
}

motet_status motet_ct_find_centre(motet_context *context, const motet_array *sinogram,
                                  const double *angles, double *centre, double *quality)
{
    TRY(check(context, sinogram, angles));
    finder f = {.context = context,
                .sinogram = motet_array_data(sinogram),
                .angles = angles,
                .views = motet_array_size(sinogram, 0),
                .columns = motet_array_size(sinogram, 1),
                .rows = motet_array_size(sinogram, 2)};
    const double last = (double)(f.columns - 1);
    found result = {0.5 * last, 0.0};
    motet_status st = MOTET_OK;
    if (f.views > 1 && f.columns > 2) {
        TRY_GOTO(finder_begin(&f));
        find_mirrors(&f);
        /* A half turn with both ends has one exact pair, which alone is noisier than the wedge. */
        f.by_mirrors = f.mirror_count >= 8 || 2 * f.mirror_count >= f.views;
        if (!f.by_mirrors) weigh_views(&f);
        if (edge_level(&f) > 0.05) {
            double middle = coarse_centre(&f);
            if (f.by_mirrors) find_mirrors(&f); /* the interpolated ones again */
            if (!(f.window = mem_array(context, double, f.columns)))
                TRY_GOTO(fail(context, MOTET_NO_MEMORY, "finding the centre: no memory for %lld columns",
                              (long long)f.columns));
            for (int i = 0; i < FADES; i++) {
                const double half = fade_about(&f, middle), reach = 0.05 * last;
                measure(&f, half);
                result = search(&f, k_max(middle - reach, 0.0), k_min(middle + reach, last));
                middle = result.centre;
            }
            result.quality = search(&f, 0.1 * last, 0.9 * last).quality;
        } else {
            measure(&f, 0.5 * (double)f.columns);
            result = search(&f, 0.1 * last, 0.9 * last);
        }
        if (!(f.energy > 0.0)) result = (found){0.5 * last, 0.0};
    }
    if (result.quality < 0.05)
        log_warning(context, "ct.centre",
                    "no column stands out as the rotation axis; %s is a guess",
                    number_text(result.centre, (char[NUMBER_TEXT]){0}));
    *centre = result.centre;
    *quality = result.quality;
out:
    finder_end(&f);
    return st;
}
