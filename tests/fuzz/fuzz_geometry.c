/* Any bytes at all, as a description of views: by what they look like, and as each format. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <motet/motet.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* What was read holds together, and where a geometry can be made of it, it can be looked at. */
static void use(motet_context *c, motet_ct_views *v)
{
    check(v->views >= 1 && v->view && v->columns >= 1 && v->rows >= 1, "there is a detector");
    check(v->pitch_u > 0 && v->pitch_v > 0 && v->nx >= 1 && v->ny >= 1 && v->nz >= 1,
          "there is a volume");
    motet_ct_geometry *g = NULL;
    motet_ct_check found;
    char *texts = NULL;
    if (motet_ct_geometry_create(c, v, &g) == MOTET_OK &&
        motet_ct_geometry_check(g, &found, &texts) == MOTET_OK)
        motet_text_free(c, texts);
    motet_ct_geometry_free(g);
    motet_ct_views_release(c, v);
}

static void take(motet_context *c, const char *path, motet_ct_geometry_format format,
                 const motet_ct_views *given)
{
    motet_ct_views v, before;
    memset(&v, 0x5a, sizeof v);
    memcpy(&before, &v, sizeof v);
    const motet_status st = motet_ct_views_read(c, path, format, given, &v);
    check(st != MOTET_INTERNAL && st != MOTET_IO, "the file is to blame, not we");
    if (st == MOTET_OK)
        use(c, &v);
    else
        check(!memcmp(&v, &before, sizeof v), "a failure leaves the outcome as it was");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static motet_context *context;
    motet_context_options options;
    motet_context_options_init(&options);
    options.threads = 1;
    options.host_memory = 32 << 20; /* a few bytes can ask for a million views */
    if (!context && motet_context_create(&options, &context) != MOTET_OK) abort();
    motet_memory before, after;
    motet_context_report_reset(context);
    motet_context_memory(context, &before);

    const int file = memfd_create("geometry", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    motet_ct_views given;
    motet_ct_views_init(&given);
    given.columns = 4, given.rows = 0, given.nx = given.ny = 3, given.nz = 1;
    given.pitch_u = given.pitch_v = 0;
    take(context, path, MOTET_CT_GEOMETRY_AUTO, NULL);
    for (int format = MOTET_CT_GEOMETRY_AUTO; format <= MOTET_CT_GEOMETRY_LEAP; format++) {
        given.beam = format & 1 ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
        given.rows = format == MOTET_CT_GEOMETRY_RTK ? 3 : 0;
        given.pitch_u = given.pitch_v = format == MOTET_CT_GEOMETRY_RTK ? 1 : 0;
        take(context, path, (motet_ct_geometry_format)format, &given);
    }
    close(file);
    motet_context_report_reset(context);
    motet_context_memory(context, &after);
    check(after.blocks == before.blocks, "nothing leaks");
    return 0;
}
