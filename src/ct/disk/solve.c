/* Solvers from and to stores: in memory where all of it fits, else with every array in a file. */
#include "base/call.h"
#include "base/mem.h"
#include "ct/disk/disk.h"
#include "ct/solve/solver.h"
#include "store/format.h"

typedef struct solving {
    motet_ct_geometry *geometry;
    const ct_method *method;
    motet_ct_solve_options options;
    motet_array *start; /* NULL: zeros */
    motet_array *sinogram, *volume;
    motet_ct_solve_result *result;
} solving;

static motet_status check(motet_context *c, const motet_ct_solve_options *o,
                          const motet_store *start, const motet_store *volume)
{
    if (o->warm_start && !start)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "warm_start is %d, expected 0 without a volume to start from", o->warm_start);
    if (!start) return MOTET_OK;
    if (start->writing)
        return fail(c, MOTET_BAD_ARGUMENT, "%s: is to be read, and the store was begun",
                    start->path);
    return motet_store_check_distinct(c, start->path, volume->path);
}

static motet_status in_memory(const solving *s)
{
    motet_context *c = s->geometry->context;
    motet_array *sinogram = NULL, *volume = NULL;
    motet_ct_solve_options options = s->options;
    motet_status st = MOTET_OK;
    options.keep_checkpoint = 1; /* the volume is still to be written */
    TRY_GOTO(motet_array_create(c, MOTET_F32, 3, s->sinogram->shape, &sinogram));
    TRY_GOTO(motet_array_create(c, MOTET_F32, 3, s->volume->shape, &volume));
    volume->flags |= MOTET_WRITE_DIRECT; /* nobody else sees it */
    TRY_GOTO(rt_disk_copy(s->sinogram, sinogram));
    if (s->start) TRY_GOTO(rt_disk_copy(s->start, volume));
    TRY_GOTO(ct_solve(s->geometry, s->method, &options, sinogram, volume, s->result));
    TRY_GOTO(rt_disk_copy(volume, s->volume));
    if (options.checkpoint && !s->options.keep_checkpoint)
        rt_loop_tidy(c, options.checkpoint, s->method->name);
out:
    motet_array_free(sinogram);
    motet_array_free(volume);
    return st;
}

/* Both arrays beside what the solver takes. */
static int fits(const solving *s)
{
    motet_array direct = *s->volume;
    direct.flags |= MOTET_WRITE_DIRECT;
    const int64_t own = ct_method_bytes(s->method, &direct, s->sinogram, 1);
    const int64_t room = ct_disk_room(s->geometry->context);
    const int64_t volume = (int64_t)s->volume->bytes, sinogram = (int64_t)s->sinogram->bytes;
    return volume <= room && sinogram <= room - volume && own <= room - volume - sinogram;
}

static motet_status on_disk(const solving *s, const motet_store *beside)
{
    char *folder;
    TRY(ct_disk_folder(s->geometry->context, beside, &folder));
    const motet_status st = ct_solve_on_disk(s->geometry, s->method, &s->options, folder, s->start,
                                             s->sinogram, s->volume, s->result);
    mem_free(s->geometry->context, folder);
    return st;
}

static motet_status solve(motet_ct_geometry *g, const ct_method *method,
                          const motet_ct_solve_options *options, motet_store *start,
                          motet_store *sinogram, motet_store *volume, motet_ct_solve_result *result)
{
    solving s = {.geometry = g, .method = method, .result = result};
    motet_array *pair[2];
    motet_status st;
    if (options)
        s.options = *options;
    else
        motet_ct_solve_options_init(&s.options);
    TRY(ct_disk_pair(g, sinogram, volume, 1, pair));
    s.sinogram = pair[0];
    s.volume = pair[1];
    TRY_GOTO(check(g->context, &s.options, start, volume));
    if (start) TRY_GOTO(ct_disk_volume(g, start, &s.start));
    s.options.warm_start = start != NULL;
    st = fits(&s) ? in_memory(&s) : on_disk(&s, volume);
out:
    motet_array_free(s.start);
    motet_array_free(pair[0]);
    motet_array_free(pair[1]);
    return st;
}

motet_status motet_ct_cgls_store(motet_ct_geometry *geometry, const motet_ct_solve_options *options,
                                 motet_store *start, motet_store *sinogram, motet_store *volume,
                                 motet_ct_solve_result *result)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, solve(geometry, &ct_cgls, options, start, sinogram, volume, result));
}

motet_status motet_ct_sirt_store(motet_ct_geometry *geometry, const motet_ct_solve_options *options,
                                 motet_store *start, motet_store *sinogram, motet_store *volume,
                                 motet_ct_solve_result *result)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, solve(geometry, &ct_sirt, options, start, sinogram, volume, result));
}
