#include "ct/fdk/fdk.h"

#include "base/call.h"
#include "base/fail.h"
#include "base/mem.h"
#include "ct/beam/beam.h"
#include "rt/array.h"

static motet_status filter_first(const fdk_job *job, int beyond, const motet_array *sinogram,
                                 motet_array **out)
{
    motet_context *c = job->geometry->context;
    motet_array *filtered = NULL;
    TRY(motet_array_create(c, MOTET_F32, 3, sinogram->shape, &filtered));
    filtered->flags |= MOTET_WRITE_DIRECT; /* nobody else sees it */
    const rt_op op = ct_fdk_filter_op(job, beyond, sinogram, filtered);
    const motet_status st = rt_run(c, &op);
    if (st)
        motet_array_free(filtered);
    else
        *out = filtered;
    return st;
}

int fdk_filters_on_the_way(const fdk_job *job, const motet_array *sinogram, int64_t left)
{
    const size_t arrays = job->tables.beyond ? 2 : 1;
    return left < INT64_MAX && sinogram->bytes > (size_t)left / 4 / arrays;
}

/* Filters first and keeps that, where the context's bound leaves room; else, and what comes from
 * disk, filters on the way, as often as chunks need it. The bits are the same. */
static motet_status run(const fdk_job *job, const motet_array *sinogram, motet_array *volume)
{
    motet_context *c = job->geometry->context;
    motet_status st = MOTET_OK;
    if (sinogram->disk || volume->disk || fdk_filters_on_the_way(job, sinogram, mem_left(c))) {
        const rt_op op = ct_fdk_op(job, sinogram, volume);
        return rt_run(c, &op);
    }
    motet_array *filtered = NULL, *beyond = NULL;
    TRY_GOTO(filter_first(job, 0, sinogram, &filtered));
    if (job->tables.beyond) TRY_GOTO(filter_first(job, 1, sinogram, &beyond));
    const rt_op op = ct_fdk_filtered_op(job, filtered, beyond, volume);
    TRY_GOTO(rt_run(c, &op));
out:
    motet_array_free(filtered);
    motet_array_free(beyond);
    return st;
}

static motet_status fdk(motet_ct_geometry *g, const motet_ct_fdk_options *options,
                        const motet_array *sinogram, motet_array *volume)
{
    motet_ct_fdk_options defaults;
    motet_ct_fdk_options_init(&defaults);
    if (!options) options = &defaults;
    TRY(ct_check_sinogram(g, sinogram, "sinogram"));
    TRY(ct_check_volume(g, volume, "volume"));
    if (!g->beam) return motet_ct_fbp(g, &options->filter, sinogram, volume);
    fdk_job job = {.geometry = g};
    TRY(fdk_tables_make(g, options, 1, &job.tables));
    const motet_status st = run(&job, sinogram, volume);
    fdk_tables_free(&job.tables);
    return st;
}

motet_status motet_ct_fdk(motet_ct_geometry *geometry, const motet_ct_fdk_options *options,
                          const motet_array *sinogram, motet_array *volume)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, fdk(geometry, options, sinogram, volume));
}
