/* Vectors as ASTRA takes them (cone_vec, parallel3d_vec: 12 numbers a view; fanflat_vec,
 * parallel_vec: 6): source or direction of the rays, middle of the detector, then the step from one
 * column to the next, in space from one row to the next, too. The steps carry the pitch. */
#include <string.h>

#include <motet/store.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/paths/read.h"
#include "kern/bits.h"

enum { IN_SPACE = 12, IN_PLANE = 6 };
static const double tolerance = 1e-4; /* of equal pitches and right angles, as of unit vectors */

typedef struct table {
    double *value;
    int64_t rows;
    int columns;
} table;

static motet_status wrong_columns(const paths_file *f, int64_t row, int64_t columns)
{
    return fail(f->context, MOTET_BAD_DATA,
                "%s: view %lld has %lld numbers, expected 12 (cone, parallel3d) or 6 (fan, "
                "parallel)",
                f->path, (long long)row, (long long)columns);
}

static motet_status from_array(const paths_file *f, table *t)
{
    motet_store *store = NULL;
    motet_store_info info;
    TRY(motet_store_open(f->context, f->path, NULL, &store));
    motet_store_describe(store, &info);
    motet_status st = MOTET_OK;
    if (info.axes != 2 || (info.shape[1] != IN_SPACE && info.shape[1] != IN_PLANE) ||
        info.shape[0] < 1)
        TRY_GOTO(fail(f->context, MOTET_BAD_DATA,
                      "%s: an array of %d axes, the last of %lld, expected (views, 12) or "
                      "(views, 6)",
                      f->path, info.axes, (long long)info.shape[info.axes - 1]));
    t->rows = info.shape[0];
    t->columns = (int)info.shape[1];
    t->value = mem_alloc_array(f->context, t->rows * t->columns, sizeof(double));
    if (!t->value)
        TRY_GOTO(fail(f->context, MOTET_NO_MEMORY, "%s: no memory for %lld views", f->path,
                      (long long)t->rows));
    TRY_GOTO(motet_store_read(store, 0, t->rows, MOTET_F64, t->value));
    for (int64_t i = 0; i < t->rows * t->columns; i++)
        if (!k_is_finite(t->value[i]))
            TRY_GOTO(fail(f->context, MOTET_BAD_DATA,
                          "%s: view %lld holds a number that is not "
                          "finite",
                          f->path, (long long)(i / t->columns)));
out:
    motet_store_free(store);
    return st;
}

/* A view a line, numbers with blanks or commas between; '#' begins a remark. */
static motet_status from_text(const paths_file *f, table *t)
{
    int64_t room = 0, count = 0, line = 0;
    for (const char *at = f->text; *at; line++) {
        const char *end = at + strcspn(at, "\n#");
        int columns = 0;
        for (at += strspn(at, " \t\r,"); at < end; at += strspn(at, " \t\r,"), columns++) {
            if (count == room) {
                room = room ? 2 * room : 1024;
                double *grown = mem_grow(f->context, t->value, (size_t)room * sizeof *grown);
                if (!grown)
                    return fail(f->context, MOTET_NO_MEMORY, "%s: no memory to read it", f->path);
                t->value = grown;
            }
            if (!paths_number(&at, &t->value[count++]) || at > end ||
                (at < end && !strchr(" \t\r,", *at)))
                return fail(f->context, MOTET_BAD_DATA, "%s: line %lld: \"%.*s\" is no number",
                            f->path, (long long)line + 1, paths_word(at), at);
        }
        if (columns && t->rows == 0) t->columns = columns;
        if (columns && (columns != t->columns || (columns != IN_SPACE && columns != IN_PLANE)))
            return wrong_columns(f, t->rows, columns);
        t->rows += columns > 0;
        at = end + strcspn(end, "\n");
        at += *at == '\n';
    }
    if ((size_t)(strchr(f->text, 0) - f->text) != f->bytes)
        return fail(f->context, MOTET_BAD_DATA, "%s: a zero byte in line %lld", f->path,
                    (long long)line);
    if (!t->rows) return fail(f->context, MOTET_BAD_DATA, "%s holds no numbers", f->path);
    return MOTET_OK;
}

static double length_of(const double a[3])
{
    return k_sqrt(k_fma(a[0], a[0], k_fma(a[1], a[1], a[2] * a[2])));
}

/* The step's length is a pitch, the same in all views; the rest is the axis. */
static motet_status take_step(const paths_file *f, int64_t k, const char *name,
                              const double step[3], double *pitch, double axis[3])
{
    char one[NUMBER_TEXT], all[NUMBER_TEXT];
    const double length = length_of(step);
    if (!(length > 0.0) || !k_is_finite(length))
        return fail(f->context, MOTET_BAD_DATA, "%s: view %lld: %s is of length %s", f->path,
                    (long long)k, name, number_text(length, one));
    if (k == 0) *pitch = length;
    if (!(k_abs(length - *pitch) <= tolerance * *pitch))
        return fail(f->context, MOTET_UNSUPPORTED,
                    "%s: view %lld: %s is of length %s, before %s: a pitch that changes", f->path,
                    (long long)k, name, number_text(length, one), number_text(*pitch, all));
    for (int i = 0; i < 3; i++) axis[i] = step[i] / length;
    return MOTET_OK;
}

static motet_status take_view(const paths_file *f, const table *t, int64_t k, motet_ct_views *out,
                              motet_ct_view *w)
{
    const double *row = t->value + k * t->columns;
    const int axes = t->columns == IN_SPACE ? 3 : 2;
    double step[2][3] = {{0.0}};
    step[1][2] = axes == 2 ? 1.0 : 0.0;
    for (int i = 0; i < axes; i++) {
        w->source[i] = row[i];
        w->detector[i] = row[axes + i];
        step[0][i] = row[2 * axes + i];
        if (axes == 3) step[1][i] = row[9 + i];
    }
    double pitch_v = out->pitch_v > 0.0 ? out->pitch_v : 1.0;
    TRY(take_step(f, k, "u", step[0], &out->pitch_u, w->u));
    TRY(take_step(f, k, "v", step[1], &pitch_v, w->v));
    out->pitch_v = pitch_v;
    const double skew = k_fma(w->u[0], w->v[0], k_fma(w->u[1], w->v[1], w->u[2] * w->v[2]));
    if (!(k_abs(skew) <= tolerance))
        return fail(f->context, MOTET_UNSUPPORTED, "%s: view %lld: u and v are not at right angles",
                    f->path, (long long)k);
    return MOTET_OK;
}

motet_status paths_read_astra(const paths_file *f, motet_ct_views *out)
{
    table t = {NULL, 0, 0};
    motet_ct_view *view;
    motet_status st = MOTET_OK;
    const int packed =
        f->bytes >= 4 && (!memcmp(f->text, "\x93NUM", 4) || !memcmp(f->text, "PK\3\4", 4));
    TRY_GOTO(packed ? from_array(f, &t) : from_text(f, &t));
    TRY_GOTO(paths_room(f, t.rows, out, &view));
    out->beam = f->beam;
    for (int64_t k = 0; k < t.rows; k++) TRY_GOTO(take_view(f, &t, k, out, &view[k]));
    if (t.columns == IN_PLANE) {
        out->rows = 1;
        out->nz = 1;
        out->pitch_v = out->pitch_u;
    }
    /* Unit vectors in place of steps are the common slip. */
    if (f->pitch_u > 0.0 && !(k_abs(f->pitch_u - out->pitch_u) <= tolerance * f->pitch_u)) {
        char file[NUMBER_TEXT], given[NUMBER_TEXT];
        log_warning(f->context, "ct.paths",
                    "%s: u is of length %s, the pitch given is %s; in ASTRA vectors it carries the "
                    "pitch; taken as %s",
                    f->path, number_text(out->pitch_u, file), number_text(f->pitch_u, given),
                    given);
    }
out:
    mem_free(f->context, t.value);
    return st;
}
