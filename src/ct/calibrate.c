/* Calibration of CT's operations, on inputs that are made up: how long a kernel takes does not
 * depend on their values. */
#include <motet/calibrate.h>

#include "base/call.h"
#include "base/fail.h"
#include "ct/operations.h"
#include "rt/array.h"
#include "rt/calibrate.h"

/* Values in [0, 1) that follow from their places (the finaliser of splitmix64; Steele, Lea and
 * Flood 2014, OOPSLA). */
static motet_status make_input(motet_context *c, const int64_t shape[3], motet_array **out)
{
    TRY(motet_array_create(c, MOTET_F32, 3, shape, out));
    float *data = (*out)->data;
    for (int64_t i = 0; i < (*out)->elements; i++) {
        uint64_t z = (uint64_t)i + 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        data[i] = (float)(uint32_t)(z >> 40) * 0x1p-24f;
    }
    return MOTET_OK;
}

static motet_status filter(motet_ct_geometry *g, const motet_array *sinogram,
                           const motet_calibrate_options *options)
{
    const motet_array filtered = ct_array_sizes(g->context, 3, sinogram->shape);
    return ct_filter_calibrate(g, sinogram, &filtered, options);
}

static motet_status backproject(motet_ct_geometry *g, const motet_array *sinogram,
                                const motet_array *volume, int means,
                                const motet_calibrate_options *options)
{
    ct_table table = g->chords;
    if (means) TRY(ct_table_create(g, ct_mean_of, &table));
    const motet_status st = ct_backproject_calibrate(g, &table, sinogram, volume, options);
    if (means) motet_array_free(table.views);
    return st;
}

motet_status motet_ct_calibrate(motet_ct_geometry *g, motet_ct_operation operation,
                                const motet_calibrate_options *options)
{
    motet_context *c = g->context;
    if ((int)operation < MOTET_CT_PROJECT || (int)operation > MOTET_CT_RECON)
        return fail(c, MOTET_BAD_ARGUMENT, "operation is %d, expected one of the list",
                    (int)operation);
    const int64_t sinogram_shape[3] = {g->views, g->grid.columns, g->rows};
    const int64_t volume_shape[3] = {g->rows, g->grid.ny, g->grid.nx};
    const int projects = operation == MOTET_CT_PROJECT;
    motet_array *input = NULL;
    motet_status st = MOTET_OK;
    call one;
    call_begin(c, &one);
    TRY_GOTO(make_input(c, projects ? volume_shape : sinogram_shape, &input));
    const motet_array sinogram = ct_array_sizes(c, 3, sinogram_shape);
    const motet_array volume = ct_array_sizes(c, 3, volume_shape);
    if (projects) {
        const rt_op op = ct_project_op(g, input, &sinogram);
        st = rt_calibrate(c, &op, options, NULL);
    }
    if (operation == MOTET_CT_FILTER || operation == MOTET_CT_RECON)
        TRY_GOTO(filter(g, input, options));
    if (operation == MOTET_CT_BACKPROJECT || operation == MOTET_CT_RECON)
        st = backproject(g, input, &volume, operation == MOTET_CT_RECON, options);
out:
    motet_array_free(input);
    return call_end(&one, st);
}
