/* Motet's own description of views, docs/geometry.md: JSON, angles in degrees. Jansson keeps what
 * it reads in its own memory, which the greatest size of a file bounds, as its own limit of 2048
 * bounds the depth. */
#include <jansson.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "ct/paths/read.h"
#include "kern/bits.h"

static const double greatest_count = 1073741824.0;

static motet_status bad(const paths_file *f, const char *where, const char *name,
                        const char *expected)
{
    return fail(f->context, MOTET_BAD_DATA, "%s: %s%s%.40s, expected %s", f->path, where,
                *where ? ": " : "", name, expected);
}

static motet_status take_number(const paths_file *f, const char *where, const char *name,
                                const json_t *value, double *out)
{
    if (!json_is_number(value)) return bad(f, where, name, "a number");
    *out = json_number_value(value);
    return MOTET_OK;
}

static motet_status take_numbers(const paths_file *f, const char *where, const char *name,
                                 const json_t *value, size_t count, double *out)
{
    static const char *const lists[] = {"", "", "a list of two numbers", "a list of three numbers"};
    if (!json_is_array(value) || json_array_size(value) != count)
        return bad(f, where, name, lists[count]);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(value, i);
        if (!json_is_number(one)) return bad(f, where, name, lists[count]);
        out[i] = json_number_value(one);
    }
    return MOTET_OK;
}

static motet_status take_count(const paths_file *f, const char *where, const char *name,
                               const json_t *value, int64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        (double)json_integer_value(value) > greatest_count)
        return bad(f, where, name, "a whole number from 1 to 1073741824");
    *out = json_integer_value(value);
    return MOTET_OK;
}

static motet_status take_beam(const paths_file *f, const json_t *value, motet_ct_beam *out)
{
#define IS(upper, number, text)                                                                    \
    if (json_is_string(value) && !strcmp(json_string_value(value), text)) {                        \
        *out = MOTET_CT_BEAM_##upper;                                                              \
        return MOTET_OK;                                                                           \
    }
    MOTET_CT_BEAM_LIST(IS)
#undef IS
    return bad(f, "", "beam", "\"parallel\" or \"cone\"");
}

/* ---- One entry per view ---- */

static motet_status take_view(const paths_file *f, size_t k, const json_t *entry, int cone,
                              motet_ct_view *out)
{
    char where[32];
    snprintf(where, sizeof where, "view %zu", k);
    const struct {
        const char *name;
        double *to;
    } fields[] = {{cone ? "source" : "direction", out->source},
                  {"detector", out->detector},
                  {"u", out->u},
                  {"v", out->v}};
    if (!json_is_object(entry)) return bad(f, where, "it", "an object");
    for (size_t i = 0; i < 4; i++)
        TRY(take_numbers(f, where, fields[i].name, json_object_get(entry, fields[i].name), 3,
                         fields[i].to));
    if (json_object_size(entry) == 4) return MOTET_OK;
    return bad(f, where, "its members",
               cone ? "source, detector, u, v" : "direction, detector, u, v");
}

static motet_status take_views(const paths_file *f, const json_t *list, motet_ct_views *out)
{
    motet_ct_view *view;
    if (!json_is_array(list) || !json_array_size(list))
        return bad(f, "", "views", "a list of views");
    const size_t views = json_array_size(list);
    TRY(paths_room(f, (int64_t)views, out, &view));
    for (size_t k = 0; k < views; k++)
        TRY(take_view(f, k, json_array_get(list, k), out->beam == MOTET_CT_BEAM_CONE, &view[k]));
    return MOTET_OK;
}

/* ---- A path ---- */

static motet_status take_kind(const paths_file *f, const json_t *value, motet_ct_path *out)
{
#define IS(upper, number, text)                                                                    \
    if (json_is_string(value) && !strcmp(json_string_value(value), text)) {                        \
        *out = MOTET_CT_PATH_##upper;                                                              \
        return MOTET_OK;                                                                           \
    }
    MOTET_CT_PATH_LIST(IS)
#undef IS
    return bad(f, "path", "kind",
               "\"circular\", \"helical\", \"saddle\", \"sinusoidal\" or \"random\"");
}

static motet_status take_angles(const paths_file *f, const json_t *list, double **out)
{
    if (!json_is_array(list) || !json_array_size(list))
        return bad(f, "path", "angles", "a list of degrees");
    const size_t count = json_array_size(list);
    double *angle = *out = mem_array(f->context, double, (int64_t)count);
    if (!angle) return fail(f->context, MOTET_NO_MEMORY, "%s: no memory for angles", f->path);
    for (size_t k = 0; k < count; k++) {
        TRY(take_number(f, "path", "angles", json_array_get(list, k), &angle[k]));
        angle[k] *= paths_degree();
    }
    return MOTET_OK;
}

static motet_status path_member(const paths_file *f, const char *name, const json_t *value,
                                motet_ct_trajectory *t, int64_t *views, double **angles)
{
    const double degree = paths_degree();
    const struct {
        const char *name;
        double *to, unit;
    } numbers[] = {{"start", &t->start, degree},
                   {"arc", &t->arc, degree},
                   {"tilt", &t->tilt, degree},
                   {"sid", &t->sid, 1.0},
                   {"sdd", &t->sdd, 1.0},
                   {"rise", &t->rise, 1.0},
                   {"amplitude", &t->amplitude, 1.0},
                   {"periods", &t->periods, 1.0},
                   {"shift_u", &t->shift_u, 1.0},
                   {"shift_v", &t->shift_v, 1.0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name)) continue;
        TRY(take_number(f, "path", name, value, numbers[i].to));
        *numbers[i].to *= numbers[i].unit;
        return MOTET_OK;
    }
    if (!strcmp(name, "kind")) return take_kind(f, value, &t->path);
    if (!strcmp(name, "views")) return take_count(f, "path", name, value, views);
    if (!strcmp(name, "angles")) return take_angles(f, value, angles);
    if (strcmp(name, "seed"))
        return bad(f, "path", name,
                   "kind, views, start, arc, angles, sid, sdd, rise, amplitude, periods, shift_u, "
                   "shift_v, tilt or seed");
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return bad(f, "path", name, "a whole number of at least 0");
    t->seed = (uint64_t)json_integer_value(value);
    return MOTET_OK;
}

static motet_status take_path(const paths_file *f, json_t *path, motet_ct_views *out)
{
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    double *angles = NULL;
    motet_status st = MOTET_OK;
    const char *name;
    json_t *value;
    if (!json_is_object(path)) return bad(f, "", "path", "an object");
    json_object_foreach(path, name, value)
    {
        TRY_GOTO(path_member(f, name, value, &t, &out->views, &angles));
    }
    if (angles) {
        const int64_t count = (int64_t)json_array_size(json_object_get(path, "angles"));
        if (json_object_get(path, "arc") || json_object_get(path, "start"))
            TRY_GOTO(bad(f, "path", "angles", "either angles or start and arc"));
        if (out->views && out->views != count)
            TRY_GOTO(bad(f, "path", "views", "as many as there are angles"));
        out->views = count;
        t.angles = angles;
    }
    if (!out->views) TRY_GOTO(bad(f, "path", "views", "a number of views"));
    motet_ct_view *view;
    TRY_GOTO(paths_room(f, out->views, out, &view));
    st = motet_ct_trajectory_views(f->context, &t, out, view);
    if (st == MOTET_BAD_ARGUMENT) {
        motet_error error;
        motet_context_error(f->context, &error);
        st = fail(f->context, MOTET_BAD_DATA, "%s: path: %s", f->path, error.message);
    }
out:
    mem_free(f->context, angles);
    return st;
}

/* ---- The whole ---- */

static motet_status member(const paths_file *f, const char *name, const json_t *value,
                           motet_ct_views *out)
{
    double two[2];
    if (!strcmp(name, "motet")) {
        if (json_is_string(value) && !strcmp(json_string_value(value), "geometry")) return MOTET_OK;
        return bad(f, "", name, "\"geometry\"");
    }
    if (!strcmp(name, "version")) {
        if (json_is_integer(value) && json_integer_value(value) == 1) return MOTET_OK;
        return fail(f->context, MOTET_UNSUPPORTED, "%s: version, expected 1", f->path);
    }
    if (!strcmp(name, "beam")) return take_beam(f, value, &out->beam);
    if (!strcmp(name, "columns")) return take_count(f, "", name, value, &out->columns);
    if (!strcmp(name, "rows")) return take_count(f, "", name, value, &out->rows);
    if (!strcmp(name, "voxel")) return take_numbers(f, "", name, value, 3, out->voxel);
    if (!strcmp(name, "centre")) return take_numbers(f, "", name, value, 3, out->centre);
    if (!strcmp(name, "pitch")) {
        TRY(take_numbers(f, "", name, value, 2, two));
        out->pitch_u = two[0];
        out->pitch_v = two[1];
        return MOTET_OK;
    }
    if (!strcmp(name, "size")) {
        int64_t *const to[3] = {&out->nx, &out->ny, &out->nz};
        if (!json_is_array(value) || json_array_size(value) != 3)
            return bad(f, "", name, "a list of three whole numbers");
        for (size_t i = 0; i < 3; i++)
            TRY(take_count(f, "", name, json_array_get(value, i), to[i]));
        return MOTET_OK;
    }
    if (!strcmp(name, "views") || !strcmp(name, "path")) return MOTET_OK; /* later */
    return bad(f, "", name,
               "motet, version, beam, columns, rows, pitch, size, voxel, centre, views or path");
}

static motet_status take_all(const paths_file *f, json_t *root, motet_ct_views *out)
{
    const char *name;
    json_t *value;
    if (!json_is_object(root)) return bad(f, "", "the text", "an object");
    json_object_foreach(root, name, value) { TRY(member(f, name, value, out)); }
    if (!json_object_get(root, "motet")) return bad(f, "", "motet", "\"geometry\"");
    if (!json_object_get(root, "beam")) return bad(f, "", "beam", "\"parallel\" or \"cone\"");
    json_t *views = json_object_get(root, "views"), *path = json_object_get(root, "path");
    if (!views == !path) return bad(f, "", "views", "either a list of views or a path");
    return views ? take_views(f, views, out) : take_path(f, path, out);
}

motet_status paths_read_json(const paths_file *f, motet_ct_views *out)
{
    json_error_t error;
    json_t *root = json_loadb(f->text, f->bytes, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return fail(f->context, MOTET_NO_MEMORY, "%s: no memory to read it", f->path);
    if (!root)
        return fail(f->context, MOTET_BAD_DATA, "%s: line %d: %.120s", f->path, error.line,
                    error.text);
    const motet_status st = take_all(f, root, out);
    json_decref(root);
    return st;
}
