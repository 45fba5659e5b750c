/* Ramp filtering as an operation.
 *
 * The ramp is sampled in space, h[0] = 1 / (4 pitch^2), h[n] = -1 / (pi n pitch)^2 for odd n, else
 * 0 (Kak and Slaney, Principles of Computerized Tomographic Imaging, 1988, eq. 3.3.61): sampling
 * |f| itself would make its mean, and so the reconstruction, too small. Its transform is multiplied
 * by the window. */
#include "ct/filter.h"

#include "base/call.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/fft.h"
#include "ct/filter_fast.h"
#include "ct/geometry.h"
#include "ct/operations.h"
#include "kern/exact.h"
#include "rt/calibrate.h"

static const double pi = 3.14159265358979323846;

void motet_ct_filter_options_init(motet_ct_filter_options *options)
{
    *options = (motet_ct_filter_options){
        .size = sizeof *options, .window = MOTET_CT_RAM_LAK, .cutoff = 1.0, .pad = 0};
}

int32_t ct_filter_bits(int64_t columns, int64_t pad)
{
    const int64_t needed = 2 * (columns + 2 * pad) - 1;
    int32_t bits = 1;
    while ((int64_t)2 << bits < needed) bits++;
    return bits;
}

/* At a fraction of the Nyquist frequency. */
static double window_at(motet_ct_window window, double cutoff, double fraction)
{
    if (fraction > cutoff) return 0.0;
    const double f = fraction / cutoff;
    switch (window) {
    case MOTET_CT_SHEPP_LOGAN: return f > 0.0 ? k_sinpi(0.5 * f) / (0.5 * pi * f) : 1.0;
    case MOTET_CT_COSINE: return k_cospi(0.5 * f);
    case MOTET_CT_HAMMING: return 0.54 + 0.46 * k_cospi(f);
    case MOTET_CT_HANN: return 0.5 + 0.5 * k_cospi(f);
    case MOTET_CT_RAM_LAK: break;
    }
    return 1.0;
}

motet_status ct_filter_table(motet_context *context, const motet_ct_filter_options *options,
                             int32_t bits, double pitch, motet_array **out)
{
    motet_status st = MOTET_OK;
    const int64_t half = (int64_t)1 << bits, length = 2 * half;
    const int64_t size[] = {half + 1 + 2 * length};
    motet_array *table = NULL;
    double *turn = mem_array(context, double, 2 * length);
    double *ramp = mem_array(context, double, 2 * length);
    if (!turn || !ramp) {
        st = fail(context, MOTET_NO_MEMORY, "no memory for a filter of %lld values",
                  (long long)length);
        goto out;
    }
    TRY_GOTO(motet_array_create(context, MOTET_F32, 1, size, &table));
    ct_fft_turns(turn, bits + 1);
    ramp[0] = 0.25 / pitch;
    for (int64_t n = 1; n < half; n += 2) {
        const double value = -1.0 / (pi * (double)n * pi * (double)n * pitch);
        ramp[2 * n] = value;
        ramp[2 * (length - n)] = value;
    }
    ct_fft_f64(ramp, bits + 1, turn);
    float *response = motet_array_data(table);
    for (int64_t k = 0; k <= half; k++)
        response[k] =
            (float)(ramp[2 * k] *
                    window_at(options->window, options->cutoff, (double)k / (double)half) /
                    (4.0 * (double)half));
    for (int64_t j = 0; j < 2 * length; j++) response[half + 1 + j] = (float)turn[j];
    *out = table;
out:
    mem_free(context, turn);
    mem_free(context, ramp);
    return st;
}

motet_status ct_filter_check(motet_context *c, const motet_ct_geometry *g,
                             const motet_ct_filter_options *o)
{
    char text[NUMBER_TEXT];
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "size is %u, expected %zu: call motet_ct_filter_options_init", o->size,
                    sizeof *o);
    switch (o->window) {
#define KNOWN(name, number, text) case MOTET_CT_##name:
        MOTET_CT_WINDOW_LIST(KNOWN)
#undef KNOWN
        break;
    default:
        return fail(c, MOTET_BAD_ARGUMENT, "window is %d, expected one of motet_ct_window",
                    (int)o->window);
    }
    if (!(o->cutoff > 0.0 && o->cutoff <= 1.0))
        return fail(c, MOTET_BAD_ARGUMENT, "cutoff is %s, expected above 0 and at most 1",
                    number_text(o->cutoff, text));
    const int64_t most = (int64_t)1 << 24; /* what a row may become */
    if (o->pad < 0 || o->pad > most || g->grid.columns + 2 * o->pad > most)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "pad is %lld, expected 0 or more and at most %lld columns in all",
                    (long long)o->pad, (long long)most);
    return MOTET_OK;
}

enum { FROM, TO, TABLE, SCALE };

typedef struct filter {
    const motet_ct_geometry *geometry;
    int64_t pad;
    int32_t bits;
} filter;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const filter *f = user;
    const rt_view *from = &chunk->port[FROM], *to = &chunk->port[TO];
    const ct_filter_args a = {
        .from = from->data,
        .from_view_stride = from->stride[0],
        .from_column_stride = from->stride[1],
        .to = to->data,
        .to_view_stride = to->stride[0],
        .to_column_stride = to->stride[1],
        .scale = chunk->port[SCALE].data,
        .response = chunk->port[TABLE].data,
        .columns = f->geometry->grid.columns,
        .rows = chunk->count[1],
        .pad = f->pad,
        .bits = f->bits,
    };
    return rt_launch(queue, &K_ct_filter, &a, chunk->count[0] * chunk->count[1]);
}

rt_op ct_filter_op(const motet_ct_geometry *g, int32_t bits, const motet_array *response,
                   const motet_array *scale, const motet_array *sinogram,
                   const motet_array *filtered)
{
    return (rt_op){
        .name = "ct.filter",
        .axes = 2,
        .extent = {g->views, g->rows},
        .grain = {1, CT_FILTER_LANES},
        .port =
            {[FROM] = {.name = "sinogram", .array = sinogram, .access = RT_READ, .cut = {0, 2}},
             [TO] = {.name = "filtered", .array = filtered, .access = RT_WRITE, .cut = {0, 2}},
             [TABLE] = {.name = "response",
                        .array = response,
                        .access = RT_READ,
                        .cut = {RT_WHOLE, RT_WHOLE}},
             [SCALE] = {.name = "scale", .array = scale, .access = RT_READ, .cut = {0, RT_WHOLE}}},
        .batch = CT_FILTER_LANES,
        .scratch = {.plain = ct_filter_scratch(bits, 1),
                    .fast = ct_filter_scratch(bits, CT_FILTER_LANES)},
        .enqueue = enqueue,
    };
}

motet_status ct_filter_scaled(motet_ct_geometry *g, const motet_ct_filter_options *options,
                              const motet_array *scale, const motet_array *sinogram,
                              motet_array *filtered)
{
    motet_ct_filter_options defaults;
    motet_ct_filter_options_init(&defaults);
    if (!options) options = &defaults;
    TRY(ct_filter_check(g->context, g, options));
    const filter f = {g, options->pad, ct_filter_bits(g->grid.columns, options->pad)};
    motet_array *table = NULL;
    TRY(ct_filter_table(g->context, options, f.bits, g->pitch, &table));
    rt_op op = ct_filter_op(g, f.bits, table, scale, sinogram, filtered);
    op.user = &f;
    const motet_status st = rt_run(g->context, &op);
    motet_array_free(table);
    return st;
}

motet_status ct_filter_calibrate(motet_ct_geometry *g, const motet_array *sinogram,
                                 const motet_array *filtered,
                                 const motet_calibrate_options *options)
{
    motet_ct_filter_options defaults;
    motet_ct_filter_options_init(&defaults);
    const filter f = {g, defaults.pad, ct_filter_bits(g->grid.columns, defaults.pad)};
    motet_array *table = NULL;
    TRY(ct_filter_table(g->context, &defaults, f.bits, g->pitch, &table));
    rt_op op = ct_filter_op(g, f.bits, table, NULL, sinogram, filtered);
    op.user = &f;
    const motet_status st = rt_calibrate(g->context, &op, options, NULL);
    motet_array_free(table);
    return st;
}

static motet_status filter_sinogram(motet_ct_geometry *geometry,
                                    const motet_ct_filter_options *options,
                                    const motet_array *sinogram, motet_array *filtered)
{
    TRY(ct_check_sinogram(geometry, sinogram, "sinogram"));
    TRY(ct_check_sinogram(geometry, filtered, "filtered"));
    return ct_filter_scaled(geometry, options, NULL, sinogram, filtered);
}

motet_status motet_ct_filter(motet_ct_geometry *geometry, const motet_ct_filter_options *options,
                             const motet_array *sinogram, motet_array *filtered)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, filter_sinogram(geometry, options, sinogram, filtered));
}
