/* motet ct check-geometry: whether a scan makes sense before it is run. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ct_draw.h"
#include "ct_views.h"
#include "words.h"

static const double degrees = 57.29577951308232; /* of a radian */

static json_t *three(const double a[3])
{
    json_t *list = json_array();
    for (int i = 0; i < 3; i++) json_array_append_new(list, json_finite(a[i]));
    return list;
}

static void report(run *r, const motet_ct_check *c, const char *texts)
{
    json_t *o = r->result, *list = json_array();
    json_object_set_new(o, "magnification", json_finite(c->magnification));
    json_object_set_new(o, "truncated_u", json_finite(c->truncated_u));
    json_object_set_new(o, "truncated_v", json_finite(c->truncated_v));
    json_object_set_new(o, "arc", json_finite(c->arc * degrees));
    json_object_set_new(o, "arc_needed", json_finite(c->needed * degrees));
    json_object_set_new(o, "largest_gap", json_finite(c->largest_gap * degrees));
    json_object_set_new(o, "axis", three(c->axis));
    json_object_set_new(o, "isocentre", three(c->isocentre));
    json_object_set_new(o, "isocentre_spread", json_finite(c->isocentre_spread));
    json_object_set_new(o, "shift_u", json_finite(c->shift_u));
    json_object_set_new(o, "shift_v", json_finite(c->shift_v));
    json_object_set_new(o, "pitch", json_finite(c->pitch));
    json_object_set_new(o, "largest_pitch", json_finite(c->largest_pitch));
    json_object_set_new(o, "mirrored",
                        json_string(c->mirrored < 0 ? "some"
                                    : c->mirrored   ? "all"
                                                    : "none"));
    json_object_set_new(o, "sources_inside", json_integer(c->inside));
    json_object_set_new(o, "steepest", json_finite(c->steepest));
    json_object_set_new(o, "form", json_string(c->columns ? "columns" : "rays"));
    for (const char *at = texts; *at;) {
        const size_t n = strcspn(at, "\n");
        json_array_append_new(list, json_stringn(at, n));
        at += n + (at[n] == '\n');
    }
    json_object_set_new(o, "findings", list);
}

/* For people: what is 0 but for rounding is 0. */
static const char *real(double value, int digits, char out[WORDS])
{
    return words_real(value > -1e-9 && value < 1e-9 ? 0 : value, digits, out);
}

static void line(const char *name, const char *format, const char *a, const char *b, const char *c)
{
    printf("  %-15s", name);
    printf(format, a, b, c);
    putchar('\n');
}

static void tell(const run *r, const motet_ct_check *c, const char *texts)
{
    char a[WORDS], b[WORDS], d[WORDS];
    if (!r->talks) return;
    if (c->arc == c->arc) {
        line("arc", "%s degrees, of %s that every ray takes; largest gap %s",
             real(c->arc * degrees, 6, a), real(c->needed * degrees, 6, b),
             real(c->largest_gap * degrees, 4, d));
        line("axis", "(%s, %s, %s)", real(c->axis[0], 4, a), real(c->axis[1], 4, b),
             real(c->axis[2], 4, d));
    } else {
        line("arc", "the views share no axis%s%s%s", "", "", "");
    }
    line("isocentre", "(%s, %s, %s) mm", real(c->isocentre[0], 5, a), real(c->isocentre[1], 5, b),
         real(c->isocentre[2], 5, d));
    line("", "central rays pass it within %s mm%s%s", real(c->isocentre_spread, 3, a), "", "");
    line("magnification", "%s%s%s", real(c->magnification, 5, a), "", "");
    line("shift", "%s columns, %s rows from the detector's middle to the isocentre%s",
         real(c->shift_u, 4, a), real(c->shift_v, 4, b), "");
    line("cut off", "%s %% of the width, %s %% of the height of the volume's outline, at most%s",
         real(100 * c->truncated_u, 3, a), real(100 * c->truncated_v, 3, b), "");
    if (c->pitch == c->pitch)
        line("helix", "rises by %s mm in a turn, of %s that the detector allows%s",
             real(c->pitch, 6, a), real(c->largest_pitch, 6, b), "");
    if (c->columns)
        line("projector",
             "by columns: the detector's v follows an axis of the volume; steepest "
             "ray %s%s%s",
             real(c->steepest, 3, a), "", "");
    else
        line("projector", "ray by ray, the general form%s%s%s", "", "", "");
    for (const char *at = texts; *at;) {
        const size_t n = strcspn(at, "\n");
        printf("warning: %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    if (!c->warnings) puts("nothing looks wrong");
}

/* Draws into a file beside its place, which `out` commits. */
static int draw(run *r, const char *path, const motet_ct_views *v, const motet_ct_check *c,
                motet_store **out)
{
    const size_t n = strlen(path);
    canvas picture;
    if (n < 5 || strcasecmp(path + n - 4, ".png"))
        return complain(r->args->command, EXIT_USAGE,
                        "--png is \"%s\", expected a path ending in .png", path);
    if (!ct_draw(v, c, &picture))
        return complain(r->args->command, EXIT_DEVICE, "no memory for the picture");
    const motet_store_info info = {
        .type = MOTET_U8, .axes = 3, .shape = {picture.height, picture.width, 3}};
    motet_status st =
        motet_store_create(r->context, path, NULL, &info, args_given(r->args, "overwrite"), out);
    if (st == MOTET_OK) st = motet_store_write(*out, 0, picture.height, picture.pixel);
    if (st == MOTET_OK) st = motet_store_prepare(*out);
    canvas_free(&picture);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

static int check_geometry(run *r, const motet_ct_views *v)
{
    const args *a = r->args;
    const char *png = args_text(a, "png"), *save = args_text(a, "save");
    motet_ct_geometry *geometry = NULL;
    motet_ct_check check;
    char *texts = NULL;
    motet_store *picture = NULL;
    run_output(r, png);
    run_output(r, save);
    int code = run_check_distinct(r);
    if (code) return code;
    motet_status st = motet_ct_geometry_create(r->context, v, &geometry);
    if (st == MOTET_OK) st = motet_ct_geometry_check(geometry, &check, &texts);
    if (st != MOTET_OK) code = run_fail(r, r->context, st);
    if (!code && png) code = draw(r, png, v, &check, &picture);
    /* The picture is whole: left are the views and its renaming. */
    if (!code && save) st = motet_ct_views_write(r->context, v, save, args_given(a, "overwrite"));
    if (!code && st == MOTET_OK && picture) st = motet_store_commit(picture);
    if (!code && st != MOTET_OK) code = run_fail(r, r->context, st);
    motet_store_free(picture);
    if (!code) {
        ct_views_tell(r, v);
        report(r, &check, texts);
        tell(r, &check, texts);
    }
    if (texts) motet_text_free(r->context, texts);
    motet_ct_geometry_free(geometry);
    return code;
}

int run_ct_check_geometry(const args *a)
{
    run r;
    motet_ct_views v;
    int code = run_begin(&r, a);
    if (code) return code;
    code = ct_views_take(&r, NULL, &v);
    if (!code) {
        code = check_geometry(&r, &v);
        motet_ct_views_release(r.context, &v);
    }
    return run_end(&r, code);
}
