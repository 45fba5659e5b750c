/* Views from files: which format, what the caller adds, what is missing. */
#include "ct/paths/read.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/threads.h"
#include "ct/angles.h"
#include "kern/bits.h"
#include "store/file.h"

static const int64_t greatest_file = 64 << 20; /* bytes: a quarter of a million views */

motet_status paths_room(const paths_file *f, int64_t views, motet_ct_views *out,
                        motet_ct_view **view)
{
    *view = mem_array(f->context, motet_ct_view, views);
    if (!*view)
        return fail(f->context, MOTET_NO_MEMORY, "no memory for %lld views", (long long)views);
    out->view = *view;
    out->views = views;
    return MOTET_OK;
}

int paths_number(const char **at, double *out)
{
    const char *from = *at + strspn(*at, " \t\r\n,"), *end;
    if (!strchr("+-.0123456789", *from) || !*from) return 0;
    *out = number_prefix(from, &end);
    if (end == from || !k_is_finite(*out)) return 0;
    *at = end;
    return 1;
}

int paths_word(const char *at)
{
    const size_t n = strcspn(at, " \t\r\n,");
    return n < 20 ? (int)n : 20;
}

/* By what is in it: NPY and NPZ say so, JSON is an object, XML begins with a tag, LEAP has names.
 */
static motet_ct_geometry_format guess(const paths_file *f)
{
    const char *at = f->text;
    if (f->bytes >= 6 && !memcmp(at, "\x93NUMPY", 6)) return MOTET_CT_GEOMETRY_ASTRA;
    if (f->bytes >= 4 && !memcmp(at, "PK\3\4", 4)) return MOTET_CT_GEOMETRY_ASTRA;
    at += strspn(at, " \t\r\n");
    if (*at == '{') return MOTET_CT_GEOMETRY_MOTET;
    if (*at == '<') return MOTET_CT_GEOMETRY_RTK;
    return strchr(at, '=') ? MOTET_CT_GEOMETRY_LEAP : MOTET_CT_GEOMETRY_ASTRA;
}

static motet_status parse(const paths_file *f, motet_ct_geometry_format format, motet_ct_views *out)
{
    switch (format == MOTET_CT_GEOMETRY_AUTO ? guess(f) : format) {
    case MOTET_CT_GEOMETRY_MOTET: return paths_read_json(f, out);
    case MOTET_CT_GEOMETRY_ASTRA: return paths_read_astra(f, out);
    case MOTET_CT_GEOMETRY_RTK: return paths_read_rtk(f, out);
    case MOTET_CT_GEOMETRY_LEAP: return paths_read_leap(f, out);
    case MOTET_CT_GEOMETRY_AUTO: break;
    }
    return fail(f->context, MOTET_BAD_ARGUMENT,
                "format is %d, expected one of MOTET_CT_GEOMETRY_FORMAT_LIST", (int)format);
}

static motet_status load(motet_context *c, const char *path, motet_ct_geometry_format format,
                         const motet_ct_views *given, motet_ct_views *out)
{
    store_file file;
    TRY(file_open(c, path, &file));
    motet_status st = MOTET_OK;
    char *text = NULL;
    if (file.size > greatest_file)
        TRY_GOTO(fail(c, MOTET_BAD_DATA, "%s has %lld bytes, expected a geometry of at most %lld",
                      path, (long long)file.size, (long long)greatest_file));
    text = mem_alloc(c, (size_t)file.size + 1);
    if (!text) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory to read it", path));
    TRY_GOTO(file_read(&file, 0, (size_t)file.size, text));
    text[file.size] = 0;
    /* A byte order mark says that what follows is UTF-8, which is known. */
    const size_t mark = file.size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    const paths_file f = {
        c, path, text + mark, (size_t)file.size - mark, given->beam, k_abs(given->pitch_u)};
    st = parse(&f, format, out);
out:
    mem_free(c, text);
    file_close(&file);
    return st;
}

/* What files and callers count must agree; a number below 0 stands in for what the file omits. */
static motet_status agree(motet_context *c, const char *path, const char *what, int64_t given,
                          int64_t *value)
{
    if (given > 0 && *value > 0 && given != *value)
        return fail(c, MOTET_BAD_ARGUMENT, "%s has %lld %s, expected %lld", path, (long long)*value,
                    what, (long long)given);
    if (given > 0) *value = given;
    if (given < 0 && *value == 0) *value = given == INT64_MIN ? INT64_MAX : -given;
    return MOTET_OK;
}

/* Of the volume's size the caller's wins. */
static void take_count(int64_t given, int64_t *value)
{
    if (given > 0) *value = given;
    if (given < 0 && *value == 0) *value = given == INT64_MIN ? INT64_MAX : -given;
}

static void take_length(double given, double *value)
{
    if (given > 0.0) *value = given;
    if (given < 0.0 && !(*value > 0.0)) *value = -given;
}

static motet_status complete(motet_context *c, const char *path, const motet_ct_views *given,
                             motet_ct_views *out)
{
    TRY(agree(c, path, "views", given->views, &out->views));
    TRY(agree(c, path, "columns", given->columns, &out->columns));
    TRY(agree(c, path, "rows", given->rows, &out->rows));
    take_count(given->nx, &out->nx);
    take_count(given->ny, &out->ny);
    take_count(given->nz, &out->nz);
    take_length(given->pitch_u, &out->pitch_u);
    take_length(given->pitch_v, &out->pitch_v);
    for (int i = 0; i < 3; i++) take_length(given->voxel[i], &out->voxel[i]);
    const char *missing = NULL;
    if (!(out->columns > 0 && out->rows > 0)) missing = "size of the detector (columns, rows)";
    if (!(out->pitch_u > 0.0 && out->pitch_v > 0.0)) missing = "pitch of the detector";
    if (!(out->nx > 0 && out->ny > 0 && out->nz > 0)) missing = "size of the volume (nx, ny, nz)";
    for (int i = 0; i < 3; i++)
        if (!(out->voxel[i] > 0.0)) missing = "size of a voxel";
    if (!missing) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s: neither the file nor the caller gives the %s", path,
                missing);
}

motet_status motet_ct_views_read(motet_context *context, const char *path,
                                 motet_ct_geometry_format format, const motet_ct_views *given,
                                 motet_ct_views *out)
{
    motet_ct_views nothing, read;
    memset(&nothing, 0, sizeof nothing);
    nothing.size = sizeof nothing;
    nothing.beam = MOTET_CT_BEAM_CONE;
    if (!given) given = &nothing;
    if (given->size != sizeof *given)
        return fail(context, MOTET_BAD_ARGUMENT,
                    "size is %u, expected %zu: call motet_ct_views_init", given->size,
                    sizeof *given);
    read = nothing;
    const thread_float_state former = thread_float_enter();
    motet_status st = load(context, path, format, given, &read);
    if (st == MOTET_OK) st = complete(context, path, given, &read);
    thread_float_leave(former);
    if (st == MOTET_OK)
        *out = read;
    else
        motet_ct_views_release(context, &read);
    return st;
}

motet_status motet_ct_angles_read(motet_context *context, const char *text, int64_t views,
                                  double *angles)
{
    if (!text || views < 1)
        return fail(context, MOTET_BAD_ARGUMENT, "views is %lld and text %s, expected angles",
                    (long long)views, text ? "there" : "NULL");
    const thread_float_state former = thread_float_enter();
    const motet_status st = angles_given(context, text, views, angles);
    thread_float_leave(former);
    return st;
}
