/* The plan of filtered back-projection: the operations that motet_ct_fdk runs, on sizes. */
#include "ct/fdk/fdk.h"
#include "ct/plan_inside.h"

static int64_t bytes_of(const motet_array *a) { return (int64_t)a->bytes; }

static motet_status add(ct_planning *p, const fdk_job *job, unsigned flags)
{
    const motet_array sinogram = ct_sinogram_sizes(p->geometry);
    motet_array volume = ct_volume_sizes(p->geometry), filtered = sinogram;
    volume.flags = flags;
    filtered.flags = MOTET_WRITE_DIRECT;
    p->held =
        bytes_of(job->tables.views) + bytes_of(job->tables.shares) + bytes_of(job->tables.response);
    const int64_t bound = p->options.host_memory ? p->options.host_memory : INT64_MAX;
    if (fdk_filters_on_the_way(job, &sinogram, bound < p->held ? 0 : bound - p->held)) {
        const rt_op op = ct_fdk_op(job, &sinogram, &volume);
        return ct_plan_add(p, &op, NULL);
    }
    for (int beyond = 0; beyond <= (job->tables.beyond != 0); beyond++) {
        const rt_op op = ct_fdk_filter_op(job, beyond, &sinogram, &filtered);
        p->held += bytes_of(&filtered);
        TRY(ct_plan_add(p, &op, NULL));
    }
    const rt_op op =
        ct_fdk_filtered_op(job, &filtered, job->tables.beyond ? &filtered : NULL, &volume);
    return ct_plan_add(p, &op, NULL);
}

motet_status ct_plan_fdk(ct_planning *p, unsigned flags)
{
    motet_ct_fdk_options o;
    motet_ct_fdk_options_init(&o);
    o.filter = *p->filter;
    fdk_job job = {.geometry = p->geometry};
    TRY(fdk_tables_make(p->geometry, &o, 0, &job.tables));
    const motet_status st = add(p, &job, flags);
    fdk_tables_free(&job.tables);
    return st;
}
