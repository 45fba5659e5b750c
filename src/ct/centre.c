/* The rotation axis of a parallel-beam sinogram, from the data alone.
 *
 * Two views half a turn apart are mirror images about the axis. Seen per detector frequency w, a
 * view's spectrum P(a, w) taken about a trial column c is e^{iwc} P, and its mirror image is the
 * conjugate. So every disagreement below is, summed over frequencies, a trigonometric polynomial in
 * c:
 *
 *     M(c) = E + 2 Re sum_w D(w) e^{2iwc}
 *
 * whose coefficients come from one pass over the data; trial centres then cost next to nothing, at
 * any fraction of a column. The best centre is the lowest M.
 *
 * - Where the scan holds opposite views, M is the squared difference of each view and the mirrored
 * opposite.
 * - A scan of half a turn holds none. Then M is the energy of the sinogram, completed by its mirror
 * image, in the part of its two-dimensional spectrum that a consistent sinogram leaves empty: |n| >
 * w R for an object of radius R (the double wedge: Edholm, Lewitt, Lindholm, Proc. SPIE 671:8,
 * 1986; as a measure of the centre: Vo, Drakopoulos, Atwood, Reinhard, Opt. Express 22:19078,
 * 2014).
 *
 * An object wider than the detector has no silence at the ends of its rows, which favours the
 * middle. Such sinograms first get a coarse centre from the overlap of the views nearest to
 * opposite, then are faded out symmetrically about it, and again about what that gives.
 *
 * Everything is float64 in a fixed order; sine and cosine are src/kern's. */
#include "ct/centre.h"

#include <string.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/fft.h"
#include "kern/exact.h"
#include "rt/array.h"

enum {
    MAX_FREQUENCIES = 1024,
    FADES = 3,
    MAX_PAIRS = 32,
    STEPS_PER_COLUMN = 4 /* of the first search */
};

int centre_goes_on(finder *f)
{
    if (f->st == MOTET_OK) f->st = log_phase_step(&f->phase, f->measured);
    return f->st == MOTET_OK;
}

/* ---- Searching ---- */

typedef struct found {
    double centre, quality;
} found;

static found search(finder *f, double from, double to)
{
    const double step = 1.0 / STEPS_PER_COLUMN;
    const int64_t count = (int64_t)((to - from) * STEPS_PER_COLUMN) + 1;
    double best = from, least = 0.0, mean = 0.0;
    for (int64_t i = 0; i < count && centre_goes_on(f); i++) {
        const double m = centre_disagreement(f, from + step * (double)i);
        if (i == 0 || m < least) least = m, best = from + step * (double)i;
        mean += m;
    }
    mean /= (double)count;
    /* How far it stands out: where the best elsewhere lies between the least and the mean, times
     * the part of the disagreement that the centre explains. Noise alone does neither. */
    const double elsewhere = 0.05 * (double)f->columns;
    double second = mean;
    for (int64_t i = 0; i < count && centre_goes_on(f); i++) {
        const double c = from + step * (double)i;
        if (c > best - elsewhere && c < best + elsewhere) continue;
        const double m = centre_disagreement(f, c);
        if (m < second) second = m;
    }
    double quality = 0.0;
    if (mean > least && f->energy > 0.0)
        quality = (second - least) / (mean - least) * (1.0 - least / mean);
    double fine = step;
    for (int pass = 0; pass < 3; pass++) {
        fine *= 0.25;
        const double middle = best;
        for (int i = -4; i <= 4; i++) {
            const double c = middle + fine * (double)i, m = centre_disagreement(f, c);
            if (m < least) least = m, best = c;
        }
    }
    const double left = centre_disagreement(f, best - fine),
                 right = centre_disagreement(f, best + fine);
    const double curve = left - 2.0 * least + right;
    if (curve > 0.0) {
        double shift = 0.5 * (left - right) / curve;
        if (shift > -1.0 && shift < 1.0) best += shift * fine;
    }
    return (found){best, quality < 0.0 ? 0.0 : quality > 1.0 ? 1.0 : quality};
}

/* ---- Objects wider than the detector ---- */

/* The mean value at the ends of the rows over the largest in the middle: 0 when all of the object
 * is seen. */
static double edge_level(finder *f)
{
    const int64_t edge = f->columns / 64 + 1;
    memset(f->profile, 0, (size_t)f->columns * sizeof *f->profile);
    for (int64_t k = 0; k < f->views && centre_goes_on(f); k++)
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

/* Views to compare in space: the mirrors of a long scan, else neighbours modulo half a turn that
 * lie about half a turn apart in fact. */
static void choose_pairs(finder *f)
{
    if (f->by_mirrors) {
        for (int64_t i = 0; i < f->mirror_count; i++)
            if (f->mirrors[i].part < 0.5) f->mirrors[i].high = f->mirrors[i].low;
        return;
    }
    directions_sort(f->angles, f->views, CT_HALF_TURN, 0.0, f->order);
    f->mirror_count = 0;
    for (int64_t i = 0; i < f->views; i++) {
        const int64_t a = f->order[i].view, b = f->order[(i + 1) % f->views].view;
        const double apart = direction_modulo(f->angles[b] - f->angles[a], CT_TURN);
        if (apart > 0.5 * CT_HALF_TURN && apart < 1.5 * CT_HALF_TURN)
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
        for (int64_t p = 0; p < f->mirror_count && centre_goes_on(f); p += stride) {
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
    void *blocks[] = {f->turn,     f->work,     f->re,      f->im,      f->weight,
                      f->phase_re, f->phase_im, f->turn_re, f->turn_im, f->sum[0],
                      f->sum[1],   f->sum[2],   f->sum[3],  f->d_re,    f->d_im,
                      f->profile,  f->window,   f->order,   f->mirrors};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(f->context, blocks[i]);
}

static motet_status finder_begin(finder *f)
{
    f->bits = 1;
    while ((int64_t)1 << f->bits < 2 * f->columns) f->bits++;
    const int64_t length = (int64_t)1 << f->bits;
    f->frequencies = k_min_i64(length / 2, MAX_FREQUENCIES);
    size_t cells;
    if (!mem_product(f->views, (size_t)f->frequencies * sizeof(double), &cells))
        return fail(f->context, MOTET_NO_MEMORY, "finding the centre: %lld views are too many",
                    (long long)f->views);
    motet_context *c = f->context;
    const struct {
        double **block;
        int64_t count;
    } blocks[] = {{&f->turn, 2 * length},
                  {&f->work, 2 * length},
                  {&f->re, f->views * f->frequencies},
                  {&f->im, f->views * f->frequencies},
                  {&f->weight, f->views},
                  {&f->phase_re, f->views},
                  {&f->phase_im, f->views},
                  {&f->turn_re, f->views},
                  {&f->turn_im, f->views},
                  {&f->sum[0], f->frequencies},
                  {&f->sum[1], f->frequencies},
                  {&f->sum[2], f->frequencies},
                  {&f->sum[3], f->frequencies},
                  {&f->d_re, f->frequencies},
                  {&f->d_im, f->frequencies},
                  {&f->profile, f->columns}};
    int missing = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!(*blocks[i].block = mem_array(c, double, blocks[i].count))) missing = 1;
    f->order = mem_array(c, direction, f->views);
    f->mirrors = mem_array(c, mirror, f->views);
    if (missing || !f->order || !f->mirrors)
        return fail(c, MOTET_NO_MEMORY,
                    "finding the centre: no memory for the spectra of %lld views",
                    (long long)f->views);
    ct_fft_turns(f->turn, f->bits);
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

static motet_status find_centre(motet_context *context, const motet_array *sinogram,
                                const double *angles, double *centre, double *quality)
{
    TRY(check(context, sinogram, angles));
    TRY(motet_array_fetch((motet_array *)(uintptr_t)sinogram)); /* the host reads it */
    finder f = {.context = context,
                .sinogram = motet_array_data(sinogram),
                .angles = angles,
                .views = motet_array_size(sinogram, 0),
                .columns = motet_array_size(sinogram, 1),
                .rows = motet_array_size(sinogram, 2)};
    f.phase = log_phase_begin(context, "find the axis", 0);
    const double last = (double)(f.columns - 1);
    found result = {0.5 * last, 0.0};
    motet_status st = MOTET_OK;
    if (f.views > 1 && f.columns > 2) {
        TRY_GOTO(finder_begin(&f));
        centre_find_mirrors(&f);
        /* A half turn with both ends has one exact pair, which alone is noisier than the wedge. */
        f.by_mirrors = f.mirror_count >= 8 || 2 * f.mirror_count >= f.views;
        if (!f.by_mirrors) centre_weigh_views(&f);
        const int cut_off = edge_level(&f) > 0.05;
        f.phase.total = centre_rows(&f) * (cut_off ? FADES : 1);
        if (cut_off) {
            double middle = coarse_centre(&f);
            if (f.by_mirrors) centre_find_mirrors(&f); /* the interpolated ones again */
            if (!(f.window = mem_array(context, double, f.columns)))
                TRY_GOTO(fail(context, MOTET_NO_MEMORY,
                              "finding the centre: no memory for %lld columns",
                              (long long)f.columns));
            for (int i = 0; i < FADES; i++) {
                const double half = fade_about(&f, middle), reach = 0.05 * last;
                centre_measure(&f, half);
                result = search(&f, k_max(middle - reach, 0.0), k_min(middle + reach, last));
                middle = result.centre;
            }
            result.quality = search(&f, 0.1 * last, 0.9 * last).quality;
        } else {
            centre_measure(&f, 0.5 * (double)f.columns);
            result = search(&f, 0.1 * last, 0.9 * last);
        }
        TRY_GOTO(f.st);
        TRY_GOTO(log_phase_step(&f.phase, f.phase.total));
        if (!(f.energy > 0.0)) result = (found){0.5 * last, 0.0};
    }
    if (result.quality < 0.02)
        log_warning(context, "ct.centre",
                    "no column stands out as the rotation axis; %s is a guess",
                    number_text(result.centre, (char[NUMBER_TEXT]){0}));
    *centre = result.centre;
    *quality = result.quality;
out:
    finder_end(&f);
    return st;
}

motet_status motet_ct_find_centre(motet_context *context, const motet_array *sinogram,
                                  const double *angles, double *centre, double *quality)
{
    call one;
    call_begin(context, &one);
    return call_end(&one, find_centre(context, sinogram, angles, centre, quality));
}
