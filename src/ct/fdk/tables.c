#include "ct/fdk/fdk.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "ct/beam/beam.h"
#include "ct/directions.h"
#include "ct/filter.h"
#include "ct/operations.h"
#include "kern/exact.h"

static const double degrees = 180.0 / CT_HALF_TURN;
static const double widest_mean = 4096.0; /* rows or columns that one voxel may cover */

void motet_ct_fdk_options_init(motet_ct_fdk_options *options)
{
    *options = (motet_ct_fdk_options){.size = sizeof *options, .weights = MOTET_CT_WEIGHTS_AUTO};
    motet_ct_filter_options_init(&options->filter);
}

static motet_status check(const motet_ct_geometry *g, const motet_ct_fdk_options *o)
{
    if (o->size != sizeof *o)
        return fail(g->context, MOTET_BAD_ARGUMENT,
                    "size is %u, expected %zu: call motet_ct_fdk_options_init", o->size, sizeof *o);
    switch (o->weights) {
#define KNOWN(name, number, text) case MOTET_CT_WEIGHTS_##name:
        MOTET_CT_WEIGHTS_LIST(KNOWN)
#undef KNOWN
        break;
    default:
        return fail(g->context, MOTET_BAD_ARGUMENT,
                    "weights is %d, expected one of motet_ct_weights", (int)o->weights);
    }
    return ct_filter_check(g->context, g, &o->filter);
}

/* Pixels over which a voxel's mean is taken, along u and v: what its image is wide beyond the one
 * that a pixel has measured. 0: none. */
static void mean_width(const motet_ct_views *g, double out[2])
{
    double sum[2] = {0.0, 0.0};
    for (int64_t k = 0; k < g->views; k++) {
        const motet_ct_view *w = &g->view[k];
        double larger = 1.0;
        if (g->beam == MOTET_CT_BEAM_CONE) {
            double whole = 0.0, part = 0.0;
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                const double n = w->u[j] * w->v[l] - w->u[l] * w->v[j];
                whole += (w->detector[i] - w->source[i]) * n;
                part += (g->centre[i] - w->source[i]) * n;
            }
            larger = part != 0.0 ? k_abs(whole / part) : 1.0;
        }
        for (int i = 0; i < 3; i++) {
            const double u = g->voxel[i] * w->u[i] * larger, v = g->voxel[i] * w->v[i] * larger;
            sum[0] += u * u / (double)g->views;
            sum[1] += v * v / (double)g->views;
        }
    }
    const double width[] = {k_sqrt(sum[0]) / g->pitch_u, k_sqrt(sum[1]) / g->pitch_v};
    for (int i = 0; i < 2; i++) {
        const double beyond = k_min(width[i], widest_mean) - 1.0;
        out[i] = beyond > 0.0 ? beyond : 0.0;
    }
}

/* Rows on each side that a mean over so many touches. */
static int64_t reach_of(double width)
{
    return width > 1.0 ? (int64_t)k_floor(0.5 * width + 0.5) : 0;
}

/* The response of the filter with the mean along u in it, and the mean along v after it. */
static motet_status make_response(const motet_ct_geometry *g, const motet_ct_fdk_options *o,
                                  fdk_tables *t)
{
    double width[2];
    motet_array *plain = NULL;
    mean_width(&g->beam->given, width);
    t->reach = reach_of(width[1]);
    TRY(ct_filter_table(g->context, &o->filter, t->bits, g->pitch, &plain));
    const int64_t half = (int64_t)1 << t->bits, size = motet_array_elements(plain);
    const int64_t shape[] = {size + 2 * t->reach + 1};
    const motet_status st = motet_array_create(g->context, MOTET_F32, 1, shape, &t->response);
    if (!st) {
        float *response = motet_array_data(t->response), *mean = response + size;
        memcpy(response, motet_array_data(plain), sizeof(float) * (size_t)size);
        for (int64_t k = 1; k <= half && width[0] > 0.0; k++) {
            const double x = 0.5 * width[0] * (double)k / (double)half;
            response[k] *= (float)(k_sinpi(x) / (0.5 * CT_TURN * x));
        }
        const double side = k_max(0.5 * width[1], 0.5);
        for (int64_t j = -t->reach; j <= t->reach; j++) {
            const double low = k_max((double)j - 0.5, -side), high = k_min((double)j + 0.5, side);
            mean[j + t->reach] = (float)(k_max(high - low, 0.0) / (2.0 * side));
        }
    }
    motet_array_free(plain);
    return st;
}

static void warn(motet_context *c, const fdk_lacks *l)
{
    if (l->short_arc)
        log_warning(c, "ct.fdk",
                    "the views cover %.4g of %.4g degrees that a complete scan needs (%s): the "
                    "volume will be distorted along the missing directions",
                    l->covered * degrees, l->needed * degrees,
                    l->whole_turn ? "a turn, as the detector is off the axis"
                                  : "180 and the fan of the volume");
    if (l->one_side)
        log_warning(c, "ct.fdk",
                    "the detector sees one side of the axis only: no ray meets the middle");
    if (l->rises)
        log_warning(c, "ct.fdk",
                    "the path rises by %.4g, the detector is %.4g high as seen at the axis: no "
                    "place is in all views; filtered back-projection is for circles, cgls and sirt "
                    "take any path",
                    l->rise, l->height);
}

motet_status fdk_tables_make(const motet_ct_geometry *g, const motet_ct_fdk_options *o, int warns,
                             fdk_tables *out)
{
    motet_status st = MOTET_OK;
    motet_context *c = g->context;
    const motet_ct_views *v = &g->beam->given;
    orbit path;
    fdk_tables t = {.views = NULL};
    TRY(check(g, o));
    TRY(orbit_make(c, v, &path));
    const fdk_extent extent = fdk_extent_of(v, &path, o->weights);
    t.beyond = extent.beyond;
    t.pad = o->filter.pad;
    t.bits = ct_filter_bits((t.beyond ? 2 : 1) * v->columns, t.pad);
    const int64_t views[] = {v->views, (int64_t)sizeof(ct_fdk_view)};
    const int64_t shares[] = {v->views, v->columns};
    TRY_GOTO(motet_array_create(c, MOTET_U8, 2, views, &t.views));
    TRY_GOTO(motet_array_create(c, MOTET_F32, 2, shares, &t.shares));
    TRY_GOTO(make_response(g, o, &t));
    static const char *const text[] = {
#define TEXT(name, number, text) text,
        MOTET_CT_WEIGHTS_LIST(TEXT)
#undef TEXT
    };
    const fdk_lacks lacks = fdk_lacks_of(v, &path, &extent);
    log_text(c, MOTET_LOG_INFO, "ct.fdk", "weights: %s; views cover %.1f degrees",
             text[extent.chosen], lacks.covered * degrees);
    if (warns) warn(c, &lacks);
    fdk_views(v, &path, motet_array_data(t.views));
    fdk_shares(v, &path, &extent, motet_array_data(t.shares));
    *out = t;
    orbit_free(&path);
    return MOTET_OK;
out:
    orbit_free(&path);
    fdk_tables_free(&t);
    return st;
}

void fdk_tables_free(fdk_tables *t)
{
    motet_array_free(t->views);
    motet_array_free(t->shares);
    motet_array_free(t->response);
}
