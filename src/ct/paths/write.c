/* Views as Motet's own JSON, one line a view; every number reads back to the same bits. */
#include <stdio.h>
#include <string.h>

#include <motet/ct_paths.h>

#include "base/fail.h"
#include "base/number.h"
#include "ct/geometry.h"
#include "store/file.h"

enum { LINE = 1024 };

static const char *vector(const double a[3], char out[4 * NUMBER_TEXT])
{
    char x[NUMBER_TEXT], y[NUMBER_TEXT], z[NUMBER_TEXT];
    snprintf(out, 4 * NUMBER_TEXT, "[%s, %s, %s]", number_text(a[0], x), number_text(a[1], y),
             number_text(a[2], z));
    return out;
}

static motet_status put(store_file *file, const char *text)
{
    return file_write(file, file->size, strlen(text), text);
}

static motet_status write_all(store_file *file, const motet_ct_views *v)
{
    char line[LINE], a[4 * NUMBER_TEXT], b[4 * NUMBER_TEXT], c[4 * NUMBER_TEXT], d[4 * NUMBER_TEXT];
    const int cone = v->beam == MOTET_CT_BEAM_CONE;
    snprintf(line, sizeof line,
             "{\n  \"motet\": \"geometry\",\n  \"version\": 1,\n  \"beam\": \"%s\",\n"
             "  \"columns\": %lld,\n  \"rows\": %lld,\n  \"pitch\": [%s, %s],\n"
             "  \"size\": [%lld, %lld, %lld],\n",
             cone ? "cone" : "parallel", (long long)v->columns, (long long)v->rows,
             number_text(v->pitch_u, a), number_text(v->pitch_v, b), (long long)v->nx,
             (long long)v->ny, (long long)v->nz);
    TRY(put(file, line));
    snprintf(line, sizeof line, "  \"voxel\": %s,\n  \"centre\": %s,\n  \"views\": [\n",
             vector(v->voxel, a), vector(v->centre, b));
    TRY(put(file, line));
    for (int64_t k = 0; k < v->views; k++) {
        const motet_ct_view *w = &v->view[k];
        snprintf(line, sizeof line, "    {\"%s\": %s, \"detector\": %s, \"u\": %s, \"v\": %s}%s\n",
                 cone ? "source" : "direction", vector(w->source, a), vector(w->detector, b),
                 vector(w->u, c), vector(w->v, d), k + 1 < v->views ? "," : "");
        TRY(put(file, line));
    }
    return put(file, "  ]\n}\n");
}

motet_status motet_ct_views_write(motet_context *context, const motet_ct_views *views,
                                  const char *path, int overwrite)
{
    /* What no geometry can be made of is not worth a file. */
    motet_ct_geometry *geometry;
    TRY(motet_ct_geometry_create(context, views, &geometry));
    motet_ct_geometry_free(geometry);
    store_file file;
    TRY(file_begin(context, path, overwrite, &file));
    motet_status st = write_all(&file, views);
    if (st == MOTET_OK) st = file_sync(&file);
    if (st == MOTET_OK) st = file_place(&file);
    file_close(&file);
    return st;
}
