#include "ct_views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "words.h"

static const double degree = 0.017453292519943295; /* in radians */
static const double same_length = 1e-4; /* part by which two files may round it differently */

/* Flags that a file takes the place of. */
static const char *const path_flags[] = {"path", "arc",       "angles",  "start",     "sid", "sdd",
                                         "rise", "amplitude", "periods", "path-seed", "tilt"};

/* Takes what the input says where no flag does; refuses a flag that says otherwise. */
static int take_size(const run *r, const char *flag_name, const char *what, int64_t known,
                     int64_t *size)
{
    if (known && *size && known != *size)
        return complain(r->args->command, EXIT_REFUSED, "--%s gives %lld %s, the input has %lld",
                        flag_name, (long long)*size, what, (long long)known);
    if (known) *size = known;
    return EXIT_OK;
}

static int take_sizes(const run *r, const ct_views_known *k, motet_ct_views *v)
{
    const args *a = r->args;
    const flag_value *detector = args_value(a, "detector"), *size = args_value(a, "size");
    v->views = args_whole(a, "views", 0);
    v->columns = detector->given ? detector->whole[0] : 0;
    v->rows = detector->given ? detector->whole[1] : 0;
    if (detector->given && !strchr(detector->text, 'x') && k->rows) v->rows = k->rows;
    v->nx = size->given ? size->whole[0] : 0;
    v->ny = size->given ? size->whole[1] : 0;
    v->nz = size->given ? size->whole[2] : 0;
    if (size->given && size->count == 2)
        return complain(a->command, EXIT_USAGE, "--size is \"%s\", expected NX or NXxNYxNZ",
                        size->text);
    int code = take_size(r, "views", "views", k->views, &v->views);
    if (!code) code = take_size(r, "detector", "columns", k->columns, &v->columns);
    if (!code) code = take_size(r, "detector", "rows", k->rows, &v->rows);
    if (!code) code = take_size(r, "size", "voxels along x", k->nx, &v->nx);
    if (!code) code = take_size(r, "size", "voxels along y", k->ny, &v->ny);
    if (!code) code = take_size(r, "size", "voxels along z", k->nz, &v->nz);
    return code;
}

/* 0 where neither flag nor input say. */
static int take_lengths(const run *r, const ct_views_known *k, motet_ct_views *v)
{
    const args *a = r->args;
    const flag_value *pitch = args_value(a, "pitch"), *voxel = args_value(a, "voxel");
    const flag_value *offset = args_value(a, "offset");
    if (pitch->given && pitch->count == 3)
        return complain(a->command, EXIT_USAGE, "--pitch is \"%s\", expected P or PxQ",
                        pitch->text);
    if (voxel->given && voxel->count == 2)
        return complain(a->command, EXIT_USAGE, "--voxel is \"%s\", expected V or VxVxV",
                        voxel->text);
    if (offset->given && offset->count != 3)
        return complain(a->command, EXIT_USAGE, "--offset is \"%s\", expected X,Y,Z", offset->text);
    v->pitch_u = pitch->given ? pitch->real[0] : k->pitch_u;
    v->pitch_v = pitch->given ? pitch->real[1] : k->pitch_v;
    for (int i = 0; i < 3; i++) {
        v->voxel[i] = voxel->given ? voxel->real[i] : k->voxel[i];
        v->centre[i] = offset->given ? offset->real[i] : 0;
    }
    return EXIT_OK;
}

/* A voxel seen from the source is as large as a pixel, where only one of them is told. */
static void fill_lengths(double magnification, motet_ct_views *v)
{
    if (!(v->pitch_v > 0)) v->pitch_v = v->pitch_u;
    if (!(v->pitch_u > 0) && v->voxel[0] > 0) v->pitch_u = v->voxel[0] * magnification;
    if (!(v->pitch_u > 0)) v->pitch_u = 1;
    if (!(v->pitch_v > 0)) v->pitch_v = v->voxel[2] > 0 ? v->voxel[2] * magnification : v->pitch_u;
    for (int i = 0; i < 3; i++)
        if (!(v->voxel[i] > 0)) v->voxel[i] = (i == 2 ? v->pitch_v : v->pitch_u) / magnification;
}

static int fill_sizes(const run *r, motet_ct_views *v)
{
    const command *c = r->args->command;
    if (!v->views) return complain(c, EXIT_USAGE, "--views is missing: a number of views");
    if (!v->columns)
        return complain(c, EXIT_USAGE, "--detector is missing: a number of pixels NU or NUxNV");
    if (!v->nx) v->nx = v->columns;
    if (!v->ny) v->ny = v->columns;
    if (!v->nz) v->nz = v->rows;
    return EXIT_OK;
}

/* Angles of --angles, or of the input where no flag gives others; *own is to be freed. */
static int take_angles(run *r, const ct_views_known *k, const motet_ct_views *v,
                       motet_ct_trajectory *t, double **own)
{
    const args *a = r->args;
    const char *text = args_text(a, "angles");
    const int arc = args_given(a, "arc") || args_given(a, "start");
    if (text && arc)
        return complain(a->command, EXIT_USAGE, "--angles and --%s contradict each other",
                        args_given(a, "arc") ? "arc" : "start");
    if (!text) {
        if (!arc) t->angles = k->angles;
        return EXIT_OK;
    }
    *own = malloc((size_t)v->views * sizeof **own);
    if (!*own) return complain(a->command, EXIT_DEVICE, "no memory for angles");
    if (!access(text, F_OK)) run_input(r, text);
    const motet_status st = motet_ct_angles_read(r->context, text, v->views, *own);
    t->angles = *own;
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

static int from_path(run *r, const ct_views_known *k, motet_ct_views *v)
{
    const args *a = r->args;
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    const int choice = args_value(a, "path")->choice, beam = args_value(a, "beam")->choice;
    t.path = choice < 0 ? MOTET_CT_PATH_CIRCULAR : (motet_ct_path)choice;
    v->beam = beam == 1 ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    const int cone = v->beam == MOTET_CT_BEAM_CONE;
    if (cone && !args_given(a, "sid"))
        return complain(a->command, EXIT_USAGE, "--sid is missing: source to axis, in mm");
    if (cone && !args_given(a, "sdd"))
        return complain(a->command, EXIT_USAGE, "--sdd is missing: source to detector, in mm");
    t.start = args_real(a, "start", 0) * degree;
    t.arc = args_real(a, "arc", cone ? 360 : 180) * degree;
    t.sid = args_real(a, "sid", 0);
    t.sdd = args_real(a, "sdd", 0);
    t.rise = args_real(a, "rise", 0);
    t.amplitude = args_real(a, "amplitude", 0);
    t.periods = args_real(a, "periods", 1);
    t.shift_u = args_real(a, "shift-u", 0);
    t.shift_v = args_real(a, "shift-v", 0);
    t.tilt = args_real(a, "tilt", 0) * degree;
    t.seed = (uint64_t)args_whole(a, "path-seed", 0);
    int code = fill_sizes(r, v);
    if (code) return code;
    fill_lengths(cone ? t.sdd / t.sid : 1, v);
    double *own = NULL;
    code = take_angles(r, k, v, &t, &own);
    if (!code) {
        const motet_ct_views given = *v;
        const motet_status st = motet_ct_trajectory_make(r->context, &t, &given, v);
        if (st != MOTET_OK) code = run_fail(r, r->context, st);
    }
    free(own);
    return code;
}

/* The file says what it likes where no flag does; the input stands in for what it omits. */
static motet_ct_views asked_of_file(const run *r, const ct_views_known *k, const motet_ct_views *v)
{
    const args *a = r->args;
    motet_ct_views g = *v;
    g.beam = args_value(a, "beam")->choice == 1 ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    if (!args_given(a, "views")) g.views = -k->views;
    if (!args_given(a, "detector")) {
        g.columns = -k->columns;
        g.rows = -k->rows;
    }
    if (!args_given(a, "size")) {
        g.nx = -k->nx;
        g.ny = -k->ny;
        g.nz = -k->nz;
    }
    if (!args_given(a, "pitch")) {
        g.pitch_u = -k->pitch_u;
        g.pitch_v = -k->pitch_v;
    }
    for (int i = 0; i < 3 && !args_given(a, "voxel"); i++) g.voxel[i] = -k->voxel[i];
    return g;
}

/* The file and the input must not contradict each other: which of them is right is not ours to say.
 */
static int check_agree(const run *r, const ct_views_known *k, const char *path,
                       const motet_ct_views *v)
{
    const args *a = r->args;
    const struct {
        int64_t known, read;
        const char *what;
    } counts[] = {{k->views, v->views, "views"},    {k->columns, v->columns, "columns"},
                  {k->rows, v->rows, "rows"},       {k->nx, v->nx, "voxels along x"},
                  {k->ny, v->ny, "voxels along y"}, {k->nz, v->nz, "voxels along z"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].known && counts[i].known != counts[i].read)
            return complain(a->command, EXIT_REFUSED, "%s has %lld %s, %s has %lld%s", k->input,
                            (long long)counts[i].known, counts[i].what, path,
                            (long long)counts[i].read,
                            i < 3 ? "" : "; --size takes the place of the latter");
    const struct {
        double known, read;
        const char *what, *flag;
    } lengths[] = {{k->pitch_u, v->pitch_u, "pitch", "pitch"},
                   {k->pitch_v, v->pitch_v, "pitch", "pitch"},
                   {k->voxel[0], v->voxel[0], "voxel", "voxel"},
                   {k->voxel[1], v->voxel[1], "voxel", "voxel"},
                   {k->voxel[2], v->voxel[2], "voxel", "voxel"}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const double off = lengths[i].known - lengths[i].read, most = same_length * lengths[i].read;
        char known[WORDS], read[WORDS];
        if (!(lengths[i].known > 0) || (off <= most && off >= -most) ||
            args_given(a, lengths[i].flag))
            continue;
        return complain(a->command, EXIT_REFUSED,
                        "%s has a %s of %s mm, %s of %s mm: --%s says which it is", k->input,
                        lengths[i].what, words_real(lengths[i].known, 6, known), path,
                        words_real(lengths[i].read, 6, read), lengths[i].flag);
    }
    return EXIT_OK;
}

static int from_file(run *r, const ct_views_known *k, const char *path, motet_ct_views *v)
{
    const args *a = r->args;
    for (size_t i = 0; i < sizeof path_flags / sizeof *path_flags; i++)
        if (args_given(a, path_flags[i]))
            return complain(a->command, EXIT_USAGE, "--%s and --geometry contradict each other",
                            path_flags[i]);
    const int choice = args_value(a, "geometry-format")->choice;
    const motet_ct_views given = asked_of_file(r, k, v);
    run_input(r, path);
    const motet_status st = motet_ct_views_read(
        r->context, path, choice < 0 ? MOTET_CT_GEOMETRY_AUTO : (motet_ct_geometry_format)choice,
        &given, v);
    if (st != MOTET_OK) {
        v->view = NULL;
        return run_fail(r, r->context, st);
    }
    const int code = check_agree(r, k, path, v);
    if (code) return code;
    if (args_given(a, "offset")) memcpy(v->centre, given.centre, sizeof v->centre);
    const double shift_u = args_real(a, "shift-u", 0), shift_v = args_real(a, "shift-v", 0);
    motet_ct_view *view = (motet_ct_view *)(uintptr_t)v->view;
    for (int64_t i = 0; i < v->views; i++)
        for (int j = 0; j < 3; j++)
            view[i].detector[j] += shift_u * view[i].u[j] + shift_v * view[i].v[j];
    return EXIT_OK;
}

int ct_views_take(run *r, const ct_views_known *known, motet_ct_views *out)
{
    static const ct_views_known nothing = {0};
    const ct_views_known *k = known ? known : &nothing;
    const char *path = args_text(r->args, "geometry");
    motet_ct_views v;
    motet_ct_views_init(&v);
    if (!path && args_given(r->args, "geometry-format"))
        return complain(r->args->command, EXIT_USAGE, "--geometry-format needs --geometry");
    int code = take_sizes(r, k, &v);
    if (!code) code = take_lengths(r, k, &v);
    if (!code) code = path ? from_file(r, k, path, &v) : from_path(r, k, &v);
    if (code)
        motet_ct_views_release(r->context, &v);
    else
        *out = v;
    return code;
}

static json_t *three(double x, double y, double z)
{
    json_t *list = json_array();
    json_array_append_new(list, json_finite(x));
    json_array_append_new(list, json_finite(y));
    json_array_append_new(list, json_finite(z));
    return list;
}

void ct_views_tell(run *r, const motet_ct_views *v)
{
    static const char *const beams[] = {"parallel", "cone"};
    json_t *o = json_object();
    json_object_set_new(o, "beam", json_string(beams[v->beam == MOTET_CT_BEAM_CONE]));
    json_object_set_new(o, "views", json_integer(v->views));
    json_object_set_new(o, "columns", json_integer(v->columns));
    json_object_set_new(o, "rows", json_integer(v->rows));
    json_object_set_new(o, "pitch_u", json_finite(v->pitch_u));
    json_object_set_new(o, "pitch_v", json_finite(v->pitch_v));
    json_object_set_new(
        o, "size", json_pack("[I, I, I]", (json_int_t)v->nx, (json_int_t)v->ny, (json_int_t)v->nz));
    json_object_set_new(o, "voxel", three(v->voxel[0], v->voxel[1], v->voxel[2]));
    json_object_set_new(o, "centre", three(v->centre[0], v->centre[1], v->centre[2]));
    json_object_set_new(r->result, "geometry", o);
    if (!r->talks) return;
    char pitch[2][WORDS], voxel[3][WORDS];
    printf("geometry  %s beam, %lld views of %lld x %lld pixels of %s x %s mm; %lld x %lld x %lld "
           "voxels of "
           "%s x %s x %s mm\n",
           beams[v->beam == MOTET_CT_BEAM_CONE], (long long)v->views, (long long)v->columns,
           (long long)v->rows, words_real(v->pitch_u, 6, pitch[0]),
           words_real(v->pitch_v, 6, pitch[1]), (long long)v->nx, (long long)v->ny,
           (long long)v->nz, words_real(v->voxel[0], 6, voxel[0]),
           words_real(v->voxel[1], 6, voxel[1]), words_real(v->voxel[2], 6, voxel[2]));
}
