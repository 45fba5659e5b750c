#include "ct_draw.h"

#include <math.h>
#include <string.h>

enum { PANEL = 720, MARGIN = 24, DRAWN = 720, CIRCLE = 96 };

static const colour grey = {150, 150, 150, 1}, pale = {226, 226, 226, 1}, red = {205, 30, 30, 1};
static const colour blue = {60, 110, 190, 0.25}, dark_blue = {20, 60, 150, 1};
static const colour orange = {240, 150, 30, 0.9}, black = {0, 0, 0, 1};

typedef struct drawing {
    const motet_ct_views *views;
    const motet_ct_check *check;
    double reach; /* of what is drawn, from the volume's middle */
    double along[3], across[3], up[3];
    canvas *to;
    frame part;
    const double *x, *y; /* the panel's axes in space */
    double middle[2], scale;
} drawing;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit(double a[3], const double otherwise[3])
{
    const double length = sqrt(dot(a, a));
    for (int i = 0; i < 3; i++) a[i] = length > 1e-9 ? a[i] / length : otherwise[i];
}

/* The first view's rays run to the right in both panels. */
static void set_axes(drawing *d)
{
    const motet_ct_view *w = &d->views->view[0];
    double normal[3];
    memcpy(d->up, d->check->axis, sizeof d->up);
    for (int i = 0; i < 3; i++) {
        d->along[i] =
            d->views->beam == MOTET_CT_BEAM_CONE ? w->detector[i] - w->source[i] : w->source[i];
        normal[i] = w->u[i];
    }
    const double rise = dot(d->along, d->up);
    for (int i = 0; i < 3; i++) d->along[i] -= rise * d->up[i];
    unit(d->along, normal);
    for (int i = 0; i < 3; i++)
        d->across[i] =
            d->up[(i + 1) % 3] * d->along[(i + 2) % 3] - d->up[(i + 2) % 3] * d->along[(i + 1) % 3];
}

/* Where a source is drawn: that of parallel rays as far before the volume as the drawing reaches.
 */
static void source_of(const drawing *d, const motet_ct_view *w, double at[3])
{
    memcpy(at, w->source, 3 * sizeof *at);
    if (d->views->beam == MOTET_CT_BEAM_CONE) return;
    const double length = sqrt(dot(w->source, w->source));
    for (int i = 0; i < 3; i++) at[i] = w->detector[i] - 1.5 * d->reach * w->source[i] / length;
}

static void on_detector(const drawing *d, const motet_ct_view *w, double u, double v, double at[3])
{
    const motet_ct_views *g = d->views;
    for (int i = 0; i < 3; i++)
        at[i] = w->detector[i] + u * 0.5 * (double)g->columns * g->pitch_u * w->u[i] +
                v * 0.5 * (double)g->rows * g->pitch_v * w->v[i];
}

static void corner(const drawing *d, int which, double at[3])
{
    const motet_ct_views *g = d->views;
    const int64_t n[] = {g->nx, g->ny, g->nz};
    for (int i = 0; i < 3; i++)
        at[i] = g->centre[i] + (which >> i & 1 ? 0.5 : -0.5) * (double)n[i] * g->voxel[i];
}

static void grow(const drawing *d, const double at[3], double low[2], double high[2])
{
    double off[3];
    for (int i = 0; i < 3; i++) off[i] = at[i] - d->views->centre[i];
    if (sqrt(dot(off, off)) > d->reach) return;
    const double place[2] = {dot(off, d->x), dot(off, d->y)};
    for (int i = 0; i < 2; i++) {
        low[i] = fmin(low[i], place[i]);
        high[i] = fmax(high[i], place[i]);
    }
}

static int64_t stride_of(const motet_ct_views *g) { return (g->views + DRAWN - 1) / DRAWN; }

/* What a panel has to hold; its size is answered. */
static double extent(drawing *d, const double *x, const double *y)
{
    double low[2] = {0, 0}, high[2] = {0, 0}, at[3];
    d->x = x;
    d->y = y;
    for (int i = 0; i < 8; i++) {
        corner(d, i, at);
        grow(d, at, low, high);
    }
    for (int64_t k = 0; k < d->views->views; k += stride_of(d->views)) {
        const motet_ct_view *w = &d->views->view[k];
        if (d->views->beam == MOTET_CT_BEAM_CONE) grow(d, w->source, low, high);
        for (int i = 0; i < 4; i++) {
            on_detector(d, w, i & 1 ? 1 : -1, i & 2 ? 1 : -1, at);
            grow(d, at, low, high);
        }
    }
    for (int i = 0; i < 2; i++) d->middle[i] = 0.5 * (low[i] + high[i]);
    return fmax(high[0] - low[0], high[1] - low[1]);
}

static void place(const drawing *d, const double at[3], double *x, double *y)
{
    double off[3];
    for (int i = 0; i < 3; i++) off[i] = at[i] - d->views->centre[i];
    *x = 0.5 * (d->part.left + d->part.right) + d->scale * (dot(off, d->x) - d->middle[0]);
    *y = 0.5 * (d->part.top + d->part.bottom) - d->scale * (dot(off, d->y) - d->middle[1]);
}

static void line(const drawing *d, const double a[3], const double b[3], double width, colour paint)
{
    double x[2], y[2];
    place(d, a, &x[0], &y[0]);
    place(d, b, &x[1], &y[1]);
    canvas_line(d->to, &d->part, x[0], y[0], x[1], y[1], width, paint);
}

static void draw_volume(const drawing *d)
{
    double a[3], b[3], lowest[3], highest[3];
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) {
            if (i >> axis & 1) continue;
            corner(d, i, a);
            corner(d, i | 1 << axis, b);
            line(d, a, b, 2, grey);
        }
    int up = 2; /* as the check takes it */
    for (int i = 0; i < 2; i++)
        if (fabs(d->up[i]) > fabs(d->up[up]) + 1e-9) up = i;
    corner(d, 0, lowest);
    corner(d, 7, highest);
    for (int i = 0; i < CIRCLE; i++)
        for (int end = 0; end < 2; end++)
            for (int j = 0; j < 2; j++) {
                const double angle = 6.283185307179586 * (i + j) / CIRCLE;
                double *at = j ? b : a;
                for (int k = 0; k < 3; k++) {
                    const double turn = k == (up + 1) % 3 ? cos(angle) : sin(angle);
                    at[k] = 0.5 * (lowest[k] + highest[k]) +
                            0.5 * (highest[k] - lowest[k]) * (k == up ? 2 * end - 1 : turn);
                }
                if (j) line(d, a, b, 1, grey);
            }
}

static void draw_detector(const drawing *d, const motet_ct_view *w, double width, colour paint)
{
    static const double corners[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    double a[3], b[3];
    for (int i = 0; i < 4; i++) {
        on_detector(d, w, corners[i][0], corners[i][1], a);
        on_detector(d, w, corners[i + 1][0], corners[i + 1][1], b);
        line(d, a, b, width, paint);
    }
}

static void draw_source(const drawing *d, const motet_ct_view *w, double radius)
{
    double x, y;
    if (d->views->beam != MOTET_CT_BEAM_CONE) return;
    place(d, w->source, &x, &y);
    canvas_disc(d->to, &d->part, x, y, radius, red);
}

static void draw_rays(const drawing *d, const motet_ct_view *w)
{
    double from[3], to[3], middle[3];
    on_detector(d, w, 0, 0, middle);
    for (int i = 0; i < 5; i++) {
        on_detector(d, w, i == 4 ? 0 : i & 1 ? 1 : -1, i == 4 ? 0 : i & 2 ? 1 : -1, to);
        source_of(d, w, from);
        for (int j = 0; j < 3 && d->views->beam != MOTET_CT_BEAM_CONE; j++) {
            const double back = middle[j] - from[j]; /* a parallel ray is a whole line */
            from[j] += to[j] - middle[j];
            to[j] += back;
        }
        line(d, from, to, 1.5, orange);
    }
}

static void draw_axis(const drawing *d)
{
    double a[3], b[3], x, y;
    const double *at = d->check->isocentre;
    for (int i = 0; i < 3; i++) {
        a[i] = at[i] - 0.08 * PANEL / d->scale * d->up[i];
        b[i] = at[i] + 0.08 * PANEL / d->scale * d->up[i];
    }
    if (d->check->arc == d->check->arc) line(d, a, b, 1.5, black);
    place(d, at, &x, &y);
    canvas_line(d->to, &d->part, x - 7, y, x + 7, y, 1.5, black);
    canvas_line(d->to, &d->part, x, y - 7, x, y + 7, 1.5, black);
}

static void draw_panel(drawing *d, const frame *part, const double *x, const double *y)
{
    const motet_ct_views *g = d->views;
    d->part = *part;
    extent(d, x, y);
    for (int64_t k = 0; k < g->views; k += stride_of(g)) draw_detector(d, &g->view[k], 1, blue);
    draw_volume(d);
    draw_rays(d, &g->view[0]);
    for (int64_t k = 0; k < g->views; k += stride_of(g)) draw_source(d, &g->view[k], 1.5);
    draw_detector(d, &g->view[0], 2.5, dark_blue);
    draw_source(d, &g->view[0], 5);
    draw_axis(d);
}

int ct_draw(const motet_ct_views *views, const motet_ct_check *check, canvas *out)
{
    if (!canvas_create(out, 2 * PANEL, PANEL)) return 0;
    drawing d = {.views = views, .check = check, .to = out};
    double a[3], b[3], size[3];
    corner(&d, 0, a);
    corner(&d, 7, b);
    for (int i = 0; i < 3; i++) size[i] = b[i] - a[i];
    d.reach = 40 * sqrt(dot(size, size));
    set_axes(&d);
    const double widest = fmax(extent(&d, d.along, d.across), extent(&d, d.along, d.up));
    d.scale = (PANEL - 2 * MARGIN) / widest;
    draw_panel(&d, &(frame){0, 0, PANEL - 1, PANEL}, d.along, d.across);
    draw_panel(&d, &(frame){PANEL + 1, 0, 2 * PANEL, PANEL}, d.along, d.up);
    canvas_line(out, &(frame){0, 0, 2 * PANEL, PANEL}, PANEL, 0, PANEL, PANEL, 2, pale);
    return 1;
}
