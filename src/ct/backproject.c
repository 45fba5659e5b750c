/* Back-projection as an operation: slices and lines are owned, detector rows come with the slices.
 */
#include "ct/backproject_fast.h"
#include "ct/beam/beam.h"
#include "ct/geometry.h"
#include "ct/operations.h"
#include "rt/calibrate.h"

enum { VOLUME, SINOGRAM, TABLE };

typedef struct backprojection {
    const motet_ct_geometry *geometry;
    int64_t window;
} backprojection;

static int64_t window_of(const motet_ct_geometry *g, const ct_table *table)
{
    return ct_window_columns(g->voxel / g->pitch, table->most_taps);
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const backprojection *b = user;
    const motet_ct_geometry *g = b->geometry;
    const rt_view *volume = &chunk->port[VOLUME], *sinogram = &chunk->port[SINOGRAM];
    const ct_backproject_args a = {
        .grid = g->grid,
        .view = chunk->port[TABLE].data,
        .views = g->views,
        .sinogram = sinogram->data,
        .view_stride = sinogram->stride[0],
        .column_stride = sinogram->stride[1],
        .volume = volume->data,
        .slice_stride = volume->stride[0],
        .line_stride = volume->stride[1],
        .rows = chunk->count[0],
        .first_line = chunk->first[1],
        .lines = chunk->count[1],
        .window = b->window,
    };
    return rt_launch(queue, &K_ct_backproject, &a, ct_backproject_items(&a));
}

rt_op ct_backproject_op(const motet_ct_geometry *g, const ct_table *table,
                        const motet_array *sinogram, const motet_array *volume)
{
    rt_op op = {
        .name = "ct.backproject",
        .axes = 2,
        .extent = {g->rows, g->grid.ny},
        .grain = {CT_ROWS, CT_TILE},
        .port = {[VOLUME] = {.name = "volume", .array = volume, .access = RT_WRITE, .cut = {0, 1}},
                 [SINOGRAM] = {.name = "sinogram",
                               .array = sinogram,
                               .access = RT_READ,
                               .cut = {2, RT_WHOLE}},
                 [TABLE] = {.name = "views",
                            .array = table->views,
                            .access = RT_READ,
                            .cut = {RT_WHOLE, RT_WHOLE}}},
        .batch = CT_TILE_ITEMS,
        .scratch = {.fast = ct_backproject_scratch(window_of(g, table))},
        .enqueue = enqueue,
    };
    ct_fingerprint(g, op.fingerprint);
    return op;
}

motet_status ct_backproject_by(motet_ct_geometry *g, const ct_table *table,
                               const motet_array *sinogram, motet_array *volume)
{
    const backprojection b = {g, window_of(g, table)};
    rt_op op = ct_backproject_op(g, table, sinogram, volume);
    op.user = &b;
    return rt_run(g->context, &op);
}

motet_status ct_backproject_calibrate(motet_ct_geometry *g, const ct_table *table,
                                      const motet_array *sinogram, const motet_array *volume,
                                      const motet_calibrate_options *options)
{
    const backprojection b = {g, window_of(g, table)};
    rt_op op = ct_backproject_op(g, table, sinogram, volume);
    op.user = &b;
    return rt_calibrate(g->context, &op, options, NULL);
}

rt_op ct_backproject_any_op(const motet_ct_geometry *g, const motet_array *sinogram,
                            const motet_array *volume)
{
    return g->beam ? ct_beam_backproject_op(g, sinogram, volume)
                   : ct_backproject_op(g, &g->chords, sinogram, volume);
}

motet_status ct_backproject_anew(const motet_ct_geometry *g, const motet_array *sinogram,
                                 motet_array *volume)
{
    const backprojection b = {g, g->beam ? 0 : window_of(g, &g->chords)};
    rt_op op = ct_backproject_any_op(g, sinogram, volume);
    if (!g->beam) op.user = &b;
    op.fingerprint[0] = op.fingerprint[1] = 0;
    return rt_run(g->context, &op);
}

motet_status motet_ct_backproject(motet_ct_geometry *geometry, const motet_array *sinogram,
                                  motet_array *volume)
{
    TRY(ct_check_sinogram(geometry, sinogram, "sinogram"));
    TRY(ct_check_volume(geometry, volume, "volume"));
    if (!geometry->beam) return ct_backproject_by(geometry, &geometry->chords, sinogram, volume);
    const rt_op op = ct_beam_backproject_op(geometry, sinogram, volume);
    return rt_run(geometry->context, &op);
}
