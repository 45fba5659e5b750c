/* Line integrals of detector rows from a scan's frames.
 *
 * The views are read in blocks, of each frame no more than the rows asked for; each block goes
 * through the kernel of normalise.k.h. A value depends on its own pixel alone (or, where that is
 * dead, on its neighbours'), so neither rows, blocks nor threads can change a bit. */
#include <stdio.h>
#include <string.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/normalise.k.h"
#include "ct/scan.h"
#include "rt/op.h"

typedef struct normalise {
    const motet_ct_scan *scan;
    int64_t first, rows; /* of the detector */
} normalise;

static void *start_of(const rt_view *view, size_t element, int64_t row)
{
    return (char *)view->data + (row - view->first[0]) * view->stride[0] * (int64_t)element;
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const normalise *n = user;
    const scan_frames *data = &n->scan->data;
    const int64_t view = chunk->first[0], columns = data->columns;
    int64_t stride_v, stride_u;
    scan_frames_strides(data, n->rows, &stride_v, &stride_u);
    const ct_normalise_args a = {
        .raw = start_of(&chunk->port[SCAN_RAW], sizeof(double), view),
        .frame = n->rows * columns,
        .stride_v = stride_v,
        .stride_u = stride_u,
        .dark = (const double *)start_of(&chunk->port[SCAN_DARK], sizeof(double), n->first),
        .open = (const double *)start_of(&chunk->port[SCAN_OPEN], sizeof(double), n->first),
        .live = (const int32_t *)start_of(&chunk->port[SCAN_LIVE], sizeof(int32_t), n->first),
        .columns = columns,
        .rows = n->rows,
        .line_integrals = n->scan->line_integrals,
        .sinogram = start_of(&chunk->port[SCAN_SINOGRAM], sizeof(float), view),
        .counters = start_of(&chunk->port[SCAN_COUNTERS], sizeof(int64_t), view),
    };
    return rt_launch(queue, &K_ct_normalise, &a, chunk->count[0]);
}

static const struct {
    const char *name;
    motet_type type;
} ports[SCAN_PORTS] = {
    [SCAN_RAW] = {"raw", MOTET_F64},           [SCAN_SINOGRAM] = {"sinogram", MOTET_F32},
    [SCAN_COUNTERS] = {"counters", MOTET_I64}, [SCAN_DARK] = {"dark", MOTET_F64},
    [SCAN_OPEN] = {"open", MOTET_F64},         [SCAN_LIVE] = {"live", MOTET_I32},
};

motet_type scan_port_shape(int port, int64_t scan_rows, int64_t columns, int64_t rows,
                           int64_t count, int *axes, int64_t shape[3])
{
    const int64_t shapes[SCAN_PORTS][3] = {[SCAN_RAW] = {count, rows * columns, 0},
                                           [SCAN_SINOGRAM] = {count, columns, rows},
                                           [SCAN_COUNTERS] = {count, CT_NORMALISE_COUNTERS, 0},
                                           [SCAN_DARK] = {scan_rows, columns, 0},
                                           [SCAN_OPEN] = {scan_rows, columns, 0},
                                           [SCAN_LIVE] = {scan_rows, columns, 2}};
    memcpy(shape, shapes[port], sizeof shapes[port]);
    *axes = port == SCAN_SINOGRAM || port == SCAN_LIVE ? 3 : 2;
    return ports[port].type;
}

rt_op scan_normalise_op(const motet_array *const arrays[SCAN_PORTS], int64_t count)
{
    rt_op op = {.name = "ct.normalise", .axes = 1, .extent = {count}, .enqueue = enqueue};
    for (int i = 0; i < SCAN_PORTS; i++)
        op.port[i] =
            (rt_port){.name = ports[i].name,
                      .array = arrays[i],
                      .access = i == SCAN_SINOGRAM || i == SCAN_COUNTERS ? RT_WRITE : RT_READ,
                      .cut = {i < SCAN_DARK ? 0 : RT_WHOLE}};
    return op;
}

/* One block of `count` views whose rows lie in `raw`. */
static motet_status normalise_block(motet_ct_scan *scan, const normalise *n, double *raw,
                                    int64_t count, float *sinogram, int64_t *counters)
{
    void *const data[SCAN_PORTS] = {raw, sinogram, counters, scan->dark, scan->open, scan->live};
    motet_array *arrays[SCAN_PORTS] = {0};
    motet_status st = MOTET_OK;
    for (int i = 0; i < SCAN_PORTS; i++) {
        int axes;
        int64_t shape[3];
        const motet_type type =
            scan_port_shape(i, scan->info.rows, scan->info.columns, n->rows, count, &axes, shape);
        TRY_GOTO(motet_array_wrap(scan->context, data[i], type, axes, shape, MOTET_WRITE_DIRECT,
                                  &arrays[i]));
    }
    rt_op op = scan_normalise_op((const motet_array *const *)arrays, count);
    op.user = n;
    st = rt_run(scan->context, &op);
out:
    for (int i = 0; i < SCAN_PORTS; i++) motet_array_free(arrays[i]);
    return st;
}

typedef struct broken_value {
    double value;
    int64_t at[3]; /* as the file counts: frame, then row and column or the other way round */
} broken_value;

/* The first of a view that the kernel has counted; `view` is that of the scan. */
static void find_broken(const normalise *n, const double *raw, int64_t view, broken_value *out)
{
    const motet_ct_scan *s = n->scan;
    const int64_t columns = s->info.columns, first = n->first * columns;
    const int transposed = s->data.transposed;
    const int64_t outer = transposed ? columns : n->rows, inner = transposed ? n->rows : columns;
    int64_t stride_v, stride_u;
    scan_frames_strides(&s->data, n->rows, &stride_v, &stride_u);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++) {
            const int64_t v = transposed ? j : i, u = transposed ? i : j;
            const int64_t pixel = first + v * columns + u;
            const double value = raw[v * stride_v + u * stride_u];
            const int counts = ct_normalise_counts(
                s->line_integrals ? value : (value - s->dark[pixel]) / s->open[pixel]);
            if (counts || s->live[2 * pixel] != u) continue; /* of a dead pixel it is not taken */
            out->value = value;
            out->at[0] = s->frame_of_view ? s->frame_of_view[view] : view;
            out->at[1] = transposed ? u : n->first + v;
            out->at[2] = transposed ? n->first + v : u;
            return;
        }
}

static motet_status refuse(const normalise *n, int64_t broken, const broken_value *b)
{
    const motet_ct_scan *s = n->scan;
    char rows[64] = "", number[NUMBER_TEXT];
    if (n->rows < s->info.rows)
        snprintf(rows, sizeof rows, " of detector rows %lld to %lld", (long long)n->first,
                 (long long)(n->first + n->rows - 1));
    return fail(
        s->context, MOTET_BAD_DATA,
        "%s: %lld values%s are not finite or beyond 1e30, the first, at (%lld, %lld, %lld), "
        "is %s",
        s->path, (long long)broken, rows, (long long)b->at[0], (long long)b->at[1],
        (long long)b->at[2], number_text(b->value, number));
}

/* The rows of views [first, first + count) into `raw`, run by run of neighbouring frames. */
static motet_status read_views(motet_ct_scan *scan, const normalise *n, int64_t first,
                               int64_t count, double *raw)
{
    const int64_t pixels = n->rows * scan->info.columns;
    for (int64_t k = 0; k < count;) {
        const int64_t *frame = scan->frame_of_view ? scan->frame_of_view + first : NULL;
        int64_t run = frame ? 1 : count;
        while (frame && k + run < count && frame[k + run] == frame[k] + run) run++;
        TRY(scan_frames_read(&scan->data, frame ? frame[k] : first, run, n->first, n->rows,
                             raw + k * pixels));
        k += run;
    }
    return MOTET_OK;
}

static motet_status check_sinogram(motet_ct_scan *scan, int64_t first, const motet_array *sinogram)
{
    motet_context *c = scan->context;
    if (motet_array_type(sinogram) != MOTET_F32 || motet_array_axes(sinogram) != 3)
        return fail(c, MOTET_BAD_SHAPE,
                    "sinogram is %s with %d axes, expected float32 with 3 (view, u, v)",
                    motet_type_text(motet_array_type(sinogram)), motet_array_axes(sinogram));
    const int64_t rows = motet_array_size(sinogram, 2);
    if (motet_array_size(sinogram, 0) != scan->info.views ||
        motet_array_size(sinogram, 1) != scan->info.columns)
        return fail(
            c, MOTET_BAD_SHAPE, "sinogram has %lld views and %lld columns, the scan %lld and %lld",
            (long long)motet_array_size(sinogram, 0), (long long)motet_array_size(sinogram, 1),
            (long long)scan->info.views, (long long)scan->info.columns);
    if (first < 0 || rows < 1 || first > scan->info.rows - rows)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "detector rows %lld to %lld were asked for, the scan has rows 0 to %lld",
                    (long long)first, (long long)(first + rows - 1),
                    (long long)(scan->info.rows - 1));
    return MOTET_OK;
}

motet_status scan_read(motet_ct_scan *scan, int64_t first, motet_array *sinogram, int64_t *clamped,
                       int64_t *broken)
{
    TRY(check_sinogram(scan, first, sinogram));
    motet_context *c = scan->context;
    const int64_t views = scan->info.views, columns = scan->info.columns;
    const int64_t rows = motet_array_size(sinogram, 2), pixels = rows * columns;
    const normalise n = {scan, first, rows};
    motet_status st = MOTET_OK;
    int64_t sums[CT_NORMALISE_COUNTERS] = {0};
    broken_value one = {0.0, {0, 0, 0}};
    /* The caller's array gets all or nothing, unless it says that it need not. */
    const int direct = (sinogram->flags & MOTET_WRITE_DIRECT) != 0;
    float *copy = direct ? NULL : mem_alloc(c, sinogram->bytes);
    const int64_t block = scan_block(mem_left(c), pixels, views);
    double *raw = mem_alloc_array(c, block * pixels, sizeof *raw);
    int64_t *counters = mem_alloc_array(c, block * CT_NORMALISE_COUNTERS, sizeof *counters);
    if ((!direct && !copy) || !raw || !counters)
        TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory to read %lld views of %lld rows",
                      scan->path, (long long)views, (long long)rows));
    float *to = direct ? motet_array_data(sinogram) : copy;
    log_phase phase = log_phase_begin(c, "read", views);
    for (int64_t k = 0; k < views; k += block) {
        const int64_t count = views - k < block ? views - k : block;
        TRY_GOTO(read_views(scan, &n, k, count, raw));
        TRY_GOTO(normalise_block(scan, &n, raw, count, to + k * columns * rows, counters));
        for (int64_t i = 0; i < count; i++) {
            const int64_t *of = counters + i * CT_NORMALISE_COUNTERS;
            if (of[CT_NORMALISE_BROKEN] && !sums[CT_NORMALISE_BROKEN])
                find_broken(&n, raw + i * pixels, k + i, &one);
            for (int j = 0; j < CT_NORMALISE_COUNTERS; j++) sums[j] += of[j];
        }
        TRY_GOTO(log_phase_step(&phase, k + count));
    }
    if (sums[CT_NORMALISE_BROKEN] && !scan->nan_as_zero)
        TRY_GOTO(refuse(&n, sums[CT_NORMALISE_BROKEN], &one));
    if (!direct) memcpy(motet_array_data(sinogram), copy, sinogram->bytes);
    *clamped = sums[CT_NORMALISE_CLAMPED];
    *broken = sums[CT_NORMALISE_BROKEN];
out:
    mem_free(c, copy);
    mem_free(c, raw);
    mem_free(c, counters);
    return st;
}

void scan_warn(motet_ct_scan *scan, int64_t clamped, int64_t broken)
{
    if (clamped)
        log_warning(scan->context, "ct.scan",
                    "%s: %lld measurements at or below the dark level were clamped to 2^-20",
                    scan->path, (long long)clamped);
    if (broken)
        log_warning(scan->context, "ct.scan",
                    "%s: %lld values are not finite or beyond 1e30; taken as %s", scan->path,
                    (long long)broken, scan->line_integrals ? "0" : "blocked rays");
}

static motet_status read_and_warn(motet_ct_scan *scan, int64_t first, motet_array *sinogram)
{
    int64_t clamped = 0, broken = 0;
    TRY(scan_read(scan, first, sinogram, &clamped, &broken));
    scan_warn(scan, clamped, broken);
    return MOTET_OK;
}

motet_status motet_ct_scan_read(motet_ct_scan *scan, int64_t first, motet_array *sinogram)
{
    call one;
    call_begin(scan->context, &one);
    return call_end(&one, read_and_warn(scan, first, sinogram));
}
