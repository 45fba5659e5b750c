/* Paths of source and detector, written as one view each. */
#include <string.h>

#include <motet/ct_paths.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/threads.h"
#include "ct/directions.h"
#include "ct/geometry.h"
#include "kern/random.h"

static const double greatest_angle = 1e6;
static const uint32_t directions_stream = 0x70617468; /* of random numbers: only for these */

void motet_ct_trajectory_init(motet_ct_trajectory *trajectory)
{
    memset(trajectory, 0, sizeof *trajectory);
    trajectory->size = sizeof *trajectory;
    trajectory->arc = CT_TURN;
    trajectory->periods = 1.0;
}

static motet_status check_number(motet_context *c, const char *name, double value)
{
    char text[NUMBER_TEXT];
    if (k_is_finite(value)) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s is %s, expected a finite number", name,
                number_text(value, text));
}

static motet_status check(motet_context *c, const motet_ct_trajectory *t, const motet_ct_views *g)
{
    char text[NUMBER_TEXT];
    if (t->size != sizeof *t)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "size is %u, expected %zu: call motet_ct_trajectory_init", t->size, sizeof *t);
    if (g->size != sizeof *g)
        return fail(c, MOTET_BAD_ARGUMENT, "size is %u, expected %zu: call motet_ct_views_init",
                    g->size, sizeof *g);
    if (g->beam != MOTET_CT_BEAM_PARALLEL && g->beam != MOTET_CT_BEAM_CONE)
        return fail(c, MOTET_BAD_ARGUMENT, "beam is %d, expected parallel or cone", (int)g->beam);
    if (g->views < 1 || g->views > 1 << 30)
        return fail(c, MOTET_BAD_ARGUMENT, "views is %lld, expected 1 to %d", (long long)g->views,
                    1 << 30);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"sid", t->sid},         {"sdd", t->sdd},
                   {"rise", t->rise},       {"amplitude", t->amplitude},
                   {"periods", t->periods}, {"shift_u", t->shift_u},
                   {"shift_v", t->shift_v}, {"tilt", t->tilt}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(check_number(c, numbers[i].name, numbers[i].value));
    if (!(k_abs(t->tilt) <= greatest_angle))
        return fail(c, MOTET_BAD_ARGUMENT, "tilt is %s, expected radians within 1e6",
                    number_text(t->tilt, text));
    if (!(k_abs(t->periods) <= 100.0))
        return fail(c, MOTET_BAD_ARGUMENT, "periods is %s, expected at most 100",
                    number_text(t->periods, text));
    if (g->beam == MOTET_CT_BEAM_CONE && !(t->sid >= 0.0))
        return fail(c, MOTET_BAD_ARGUMENT, "sid is %s, expected a length of at least 0",
                    number_text(t->sid, text));
    if (g->beam == MOTET_CT_BEAM_CONE && !(t->sdd > 0.0))
        return fail(c, MOTET_BAD_ARGUMENT, "sdd is %s, expected a positive length",
                    number_text(t->sdd, text));
    switch (t->path) {
    case MOTET_CT_PATH_CIRCULAR:
    case MOTET_CT_PATH_HELICAL:
    case MOTET_CT_PATH_SADDLE:
    case MOTET_CT_PATH_SINUSOIDAL:
    case MOTET_CT_PATH_RANDOM: return MOTET_OK;
    }
    return fail(c, MOTET_BAD_ARGUMENT, "path is %d, expected one of MOTET_CT_PATH_LIST",
                (int)t->path);
}

/* Angles as given or evenly spaced. */
static motet_status angles_of(motet_context *c, const motet_ct_trajectory *t, int64_t views,
                              double *angles)
{
    char text[NUMBER_TEXT];
    double least, most;
    for (int64_t k = 0; k < views; k++) {
        angles[k] = t->angles ? t->angles[k] : t->start + t->arc * ((double)k / (double)views);
        if (k_abs(angles[k]) <= greatest_angle) continue;
        if (t->angles)
            return fail(c, MOTET_BAD_ARGUMENT, "angle %lld is %s, expected radians within 1e6",
                        (long long)k, number_text(angles[k], text));
        TRY(check_number(c, "start", t->start));
        TRY(check_number(c, "arc", t->arc));
        return fail(c, MOTET_BAD_ARGUMENT, "arc is %s, expected start and arc within 1e6 radians",
                    number_text(t->arc, text));
    }
    /* A helix does make many turns; a multiple of the number of degrees in a turn is suspect. */
    const double span = k_abs(angles[views - 1] - angles[0]);
    const int winds = t->path == MOTET_CT_PATH_HELICAL && span < 170.0;
    if (!winds && directions_look_like_degrees(angles, views, &least, &most)) {
        char from[NUMBER_TEXT], to[NUMBER_TEXT];
        log_warning(
            c, "ct.paths",
            "the angles run from %s to %s radians, more than three turns: are they degrees?",
            number_text(least, from), number_text(most, to));
    }
    return MOTET_OK;
}

/* u and v turned about the normal; the detector moved along them. */
static void place_detector(const motet_ct_trajectory *t, motet_ct_view *w)
{
    double cosine, sine;
    ct_direction(t->tilt, &cosine, &sine);
    for (int i = 0; i < 3; i++) {
        const double u = w->u[i], v = w->v[i];
        w->u[i] = k_fma(cosine, u, sine * v);
        w->v[i] = k_fma(cosine, v, -sine * u);
        w->detector[i] += k_fma(t->shift_u, w->u[i], t->shift_v * w->v[i]);
    }
}

/* `towards`: from the axis to the source. */
static void place(const motet_ct_trajectory *t, motet_ct_beam beam, const double towards[3],
                  double height, motet_ct_view *w)
{
    for (int i = 0; i < 3; i++) {
        const double up = i == 2 ? height : 0.0;
        w->source[i] =
            beam == MOTET_CT_BEAM_CONE ? k_fma(t->sid, towards[i], up) : 0.0 - towards[i];
        w->detector[i] = k_fma(t->sid - t->sdd, towards[i], up);
    }
    place_detector(t, w);
}

static void turning(const motet_ct_trajectory *t, motet_ct_beam beam, double angle, double middle,
                    motet_ct_view *w)
{
    double c, s, height = 0.0;
    ct_direction(angle, &c, &s);
    switch (t->path) {
    case MOTET_CT_PATH_HELICAL: height = t->rise * ((angle - middle) / CT_TURN); break;
    case MOTET_CT_PATH_SADDLE: height = t->amplitude * k_cos(2.0 * angle); break;
    case MOTET_CT_PATH_SINUSOIDAL: height = t->amplitude * k_sin(t->periods * angle); break;
    case MOTET_CT_PATH_CIRCULAR:
    case MOTET_CT_PATH_RANDOM: break;
    }
    const double towards[3] = {s, 0.0 - c, 0.0};
    memcpy(w->u, (double[3]){c, s, 0.0}, sizeof w->u);
    memcpy(w->v, (double[3]){0.0, 0.0, 1.0}, sizeof w->v);
    place(t, beam, towards, height, w);
}

/* A direction evenly spread over the sphere (Archimedes: heights are), the detector turned about it
 * by an angle evenly spread over the circle. */
static void random_view(const motet_ct_trajectory *t, motet_ct_beam beam, int64_t k,
                        motet_ct_view *w)
{
    const k_source source = {t->seed, directions_stream};
    const k_words a = k_random(source, (uint64_t)k, 0), b = k_random(source, (uint64_t)k, 1);
    const double z = k_fma(2.0, k_uniform(a.w[0], a.w[1]), -1.0);
    const double across = k_sqrt((1.0 - z) * (1.0 + z));
    double c, s, cr, sr;
    k_sincospi(2.0 * k_uniform(a.w[2], a.w[3]), &s, &c);
    k_sincospi(2.0 * k_uniform(b.w[0], b.w[1]), &sr, &cr);
    const double towards[3] = {across * s, -across * c, z};
    const double level[3] = {c, s, 0.0}, up[3] = {-z * s, z * c, across};
    for (int i = 0; i < 3; i++) {
        w->u[i] = k_fma(cr, level[i], sr * up[i]);
        w->v[i] = k_fma(cr, up[i], -sr * level[i]);
    }
    place(t, beam, towards, 0.0, w);
}

static motet_status make(motet_context *c, const motet_ct_trajectory *t, const motet_ct_views *g,
                         motet_ct_view *out)
{
    TRY(check(c, t, g));
    if (!out) return fail(c, MOTET_BAD_ARGUMENT, "out is NULL");
    double *angles = mem_array(c, double, g->views);
    if (!angles) return fail(c, MOTET_NO_MEMORY, "no memory for %lld angles", (long long)g->views);
    motet_status st = MOTET_OK;
    TRY_GOTO(angles_of(c, t, g->views, angles));
    const double middle = 0.5 * (angles[0] + angles[g->views - 1]);
    for (int64_t k = 0; k < g->views; k++)
        if (t->path == MOTET_CT_PATH_RANDOM)
            random_view(t, g->beam, k, &out[k]);
        else
            turning(t, g->beam, angles[k], middle, &out[k]);
out:
    mem_free(c, angles);
    return st;
}

motet_status motet_ct_trajectory_views(motet_context *context,
                                       const motet_ct_trajectory *trajectory,
                                       const motet_ct_views *views, motet_ct_view *out)
{
    const thread_float_state former = thread_float_enter();
    const motet_status st = make(context, trajectory, views, out);
    thread_float_leave(former);
    return st;
}

motet_status motet_ct_trajectory_make(motet_context *context, const motet_ct_trajectory *trajectory,
                                      const motet_ct_views *views, motet_ct_views *out)
{
    motet_ct_views made = *views;
    motet_ct_view *view = NULL;
    if (views->views > 0 && !(view = mem_array(context, motet_ct_view, views->views)))
        return fail(context, MOTET_NO_MEMORY, "no memory for %lld views", (long long)views->views);
    made.view = view;
    motet_ct_view nothing;
    const motet_status st =
        motet_ct_trajectory_views(context, trajectory, views, view ? view : &nothing);
    if (st == MOTET_OK)
        *out = made;
    else
        mem_free(context, view);
    return st;
}

void motet_ct_views_release(motet_context *context, motet_ct_views *views)
{
    mem_free(context, (void *)(uintptr_t)views->view);
    views->view = NULL;
}
