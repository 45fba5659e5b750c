/* The Shepp-Logan head: Shepp and Logan, IEEE Trans. Nucl. Sci. 21(3):21, 1974, with the contrast
 * of Toft (The Radon Transform, 1996, table B.3), which eyes can see.
 *
 * A ray at distance s from the origin along (cos t, sin t) crosses an ellipse in a chord of
 * 2 a b sqrt(q - d^2) / q with q = a^2 cos^2 g + b^2 sin^2 g, g the ray normal's angle against axis
 * a and d the distance of the ray from the ellipse's centre. */
#include "ct/phantom.h"

#include "kern/exact.h"

/* value, a, b, x, y, angle in degrees */
static const double head[PHANTOM_ELLIPSES][6] = {
    {1.0, 0.69, 0.92, 0.0, 0.0, 0.0},      {-0.8, 0.6624, 0.874, 0.0, -0.0184, 0.0},
    {-0.2, 0.11, 0.31, 0.22, 0.0, -18.0},  {-0.2, 0.16, 0.41, -0.22, 0.0, 18.0},
    {0.1, 0.21, 0.25, 0.0, 0.35, 0.0},     {0.1, 0.046, 0.046, 0.0, 0.1, 0.0},
    {0.1, 0.046, 0.046, 0.0, -0.1, 0.0},   {0.1, 0.046, 0.023, -0.08, -0.605, 0.0},
    {0.1, 0.023, 0.023, 0.0, -0.606, 0.0}, {0.1, 0.023, 0.046, 0.06, -0.605, 0.0},
};

phantom phantom_head(double radius, double scale, double value)
{
    phantom p;
    const double size = radius * scale;
    for (int i = 0; i < PHANTOM_ELLIPSES; i++) {
        const double *row = head[i];
        phantom_ellipse *e = &p.ellipse[i];
        e->value = row[0] * value;
        e->a = row[1] * size;
        e->b = row[2] * size;
        e->x = row[3] * size;
        e->y = row[4] * size;
        k_sincospi(row[5] / 180.0, &e->sine, &e->cosine);
    }
    return p;
}

double phantom_line(const phantom *p, double s, double cosine, double sine)
{
    double sum = 0.0;
    for (int i = 0; i < PHANTOM_ELLIPSES; i++) {
        const phantom_ellipse *e = &p->ellipse[i];
        const double along = cosine * e->cosine + sine * e->sine;
        const double across = sine * e->cosine - cosine * e->sine;
        const double q = e->a * e->a * along * along + e->b * e->b * across * across;
        const double d = s - (e->x * cosine + e->y * sine);
        const double rest = q - d * d;
        if (rest > 0.0) sum += e->value * (2.0 * e->a * e->b * k_sqrt(rest) / q);
    }
    return sum;
}

double phantom_point(const phantom *p, double x, double y)
{
    double sum = 0.0;
    for (int i = 0; i < PHANTOM_ELLIPSES; i++) {
        const phantom_ellipse *e = &p->ellipse[i];
        const double dx = x - e->x, dy = y - e->y;
        const double u = (dx * e->cosine + dy * e->sine) / e->a;
        const double v = (dy * e->cosine - dx * e->sine) / e->b;
        if (u * u + v * v <= 1.0) sum += e->value;
    }
    return sum;
}
