#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int canvas_create(canvas *c, int width, int height)
{
    const size_t bytes = 3 * (size_t)width * (size_t)height;
    c->width = width;
    c->height = height;
    c->pixel = malloc(bytes);
    if (c->pixel) memset(c->pixel, 255, bytes);
    return c->pixel != NULL;
}

void canvas_free(canvas *c)
{
    free(c->pixel);
    c->pixel = NULL;
}

/* `cover`: part of the pixel that is painted. */
static void blend(canvas *c, const frame *f, int x, int y, double cover, colour paint)
{
    if (x < f->left || x >= f->right || y < f->top || y >= f->bottom || cover <= 0) return;
    const double a = paint.opacity * (cover < 1 ? cover : 1);
    const uint8_t ink[3] = {paint.r, paint.g, paint.b};
    uint8_t *p = c->pixel + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
    for (int i = 0; i < 3; i++) p[i] = (uint8_t)((1 - a) * p[i] + a * ink[i] + 0.5);
}

/* The part t of [0, 1] of a line from a to b that lies in [low, high]. */
static void clip(double a, double b, double low, double high, double *first, double *last)
{
    const double d = b - a;
    if (fabs(d) < 1e-12) {
        if (a < low || a > high) *last = -1;
        return;
    }
    const double t0 = (low - a) / d, t1 = (high - a) / d;
    *first = fmax(*first, fmin(t0, t1));
    *last = fmin(*last, fmax(t0, t1));
}

static double distance(double x, double y, double x0, double y0, double dx, double dy)
{
    const double square = dx * dx + dy * dy;
    double t = square > 0 ? ((x - x0) * dx + (y - y0) * dy) / square : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(x - x0 - t * dx, y - y0 - t * dy);
}

void canvas_line(canvas *c, const frame *f, double x0, double y0, double x1, double y1,
                 double width, colour paint)
{
    const double room = width + 2;
    double first = 0, last = 1;
    clip(x0, x1, f->left - room, f->right + room, &first, &last);
    clip(y0, y1, f->top - room, f->bottom + room, &first, &last);
    if (first > last) return;
    const double ax = x0 + first * (x1 - x0), ay = y0 + first * (y1 - y0);
    const double dx = (last - first) * (x1 - x0), dy = (last - first) * (y1 - y0);
    const int steep = fabs(dy) > fabs(dx);
    const double from = steep ? fmin(ay, ay + dy) : fmin(ax, ax + dx);
    const double to = steep ? fmax(ay, ay + dy) : fmax(ax, ax + dx);
    const double slope = steep ? (dy != 0 ? dx / dy : 0) : (dx != 0 ? dy / dx : 0);
    const int reach = (int)(room * 1.5) + 1;
    for (int i = (int)floor(from - room); i <= (int)ceil(to + room); i++) {
        const double at = i + 0.5;
        const double middle = steep ? ax + slope * (at - ay) : ay + slope * (at - ax);
        for (int j = (int)middle - reach; j <= (int)middle + reach; j++) {
            const int x = steep ? j : i, y = steep ? i : j;
            const double off = distance(x + 0.5, y + 0.5, ax, ay, dx, dy);
            blend(c, f, x, y, width / 2 + 0.5 - off, paint);
        }
    }
}

void canvas_disc(canvas *c, const frame *f, double x, double y, double radius, colour paint)
{
    if (!(x > f->left - radius - 1 && x < f->right + radius + 1 && y > f->top - radius - 1 &&
          y < f->bottom + radius + 1))
        return;
    for (int j = (int)floor(y - radius - 1); j <= (int)ceil(y + radius); j++)
        for (int i = (int)floor(x - radius - 1); i <= (int)ceil(x + radius); i++)
            blend(c, f, i, j, radius + 0.5 - hypot(i + 0.5 - x, j + 0.5 - y), paint);
}
