/* The head: L. A. Shepp, B. F. Logan, IEEE Trans. Nucl. Sci. 21(3):21, 1974; contrast of P. Toft
 * (The Radon Transform, 1996, table B.3); third axes as is usual (H. Yu and others, Proc. SPIE
 * 5535, 2004). Ellipsoids are turned about their own middles: others turn the middles, too.
 *
 * With q = (p - c) / half and e = d / half in the ellipsoid's axes, |q + t e| <= 1 between the two
 * roots of a quadratic in t. */
#include "ct/solid.h"

#include "kern/exact.h"

enum { HEAD = 10 };

/* value, half axes, centre, degrees */
static const double head[HEAD][8] = {
    {1.0, 0.69, 0.92, 0.81, 0.0, 0.0, 0.0, 0.0},
    {-0.8, 0.6624, 0.874, 0.78, 0.0, -0.0184, 0.0, 0.0},
    {-0.2, 0.11, 0.31, 0.22, 0.22, 0.0, 0.0, -18.0},
    {-0.2, 0.16, 0.41, 0.28, -0.22, 0.0, 0.0, 18.0},
    {0.1, 0.21, 0.25, 0.41, 0.0, 0.35, -0.15, 0.0},
    {0.1, 0.046, 0.046, 0.05, 0.0, 0.1, 0.25, 0.0},
    {0.1, 0.046, 0.046, 0.05, 0.0, -0.1, 0.25, 0.0},
    {0.1, 0.046, 0.023, 0.05, -0.08, -0.605, 0.0, 0.0},
    {0.1, 0.023, 0.023, 0.02, 0.0, -0.606, 0.0, 0.0},
    {0.1, 0.023, 0.046, 0.02, 0.06, -0.605, 0.0, 0.0},
};

solid solid_head(const double centre[3], double radius, double value)
{
    solid s = {.ellipsoids = HEAD};
    for (int k = 0; k < HEAD; k++) {
        const double *row = head[k];
        solid_ellipsoid *e = &s.ellipsoid[k];
        e->value = row[0] * value;
        for (int i = 0; i < 3; i++) {
            e->half[i] = row[1 + i] * radius;
            e->centre[i] = centre[i] + row[4 + i] * radius;
        }
        k_sincospi(row[7] / 180.0, &e->sine, &e->cosine);
    }
    return s;
}

/* A vector in the ellipsoid's axes, in half axes. */
static void inside(const solid_ellipsoid *e, const double v[3], double out[3])
{
    out[0] = (e->cosine * v[0] + e->sine * v[1]) / e->half[0];
    out[1] = (e->cosine * v[1] - e->sine * v[0]) / e->half[1];
    out[2] = v[2] / e->half[2];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double solid_point(const solid *s, const double at[3])
{
    double sum = 0.0;
    for (int k = 0; k < s->ellipsoids; k++) {
        const solid_ellipsoid *e = &s->ellipsoid[k];
        const double from[] = {at[0] - e->centre[0], at[1] - e->centre[1], at[2] - e->centre[2]};
        double q[3];
        inside(e, from, q);
        if (dot(q, q) <= 1.0) sum += e->value;
    }
    return sum;
}

double solid_line(const solid *s, const double from[3], const double along[3], double first,
                  double last)
{
    double sum = 0.0;
    const double size = dot(along, along);
    for (int k = 0; k < s->ellipsoids; k++) {
        const solid_ellipsoid *e = &s->ellipsoid[k];
        /* From the point nearest to the ellipsoid's middle, so that a start however far costs no
         * digits. */
        const double to[] = {e->centre[0] - from[0], e->centre[1] - from[1],
                             e->centre[2] - from[2]};
        const double middle = dot(to, along) / size;
        double near[3], q[3], d[3];
        for (int i = 0; i < 3; i++) near[i] = middle * along[i] - to[i];
        inside(e, near, q);
        inside(e, along, d);
        const double a = dot(d, d), b = dot(q, d);
        const double rest = b * b - a * (dot(q, q) - 1.0);
        if (!(rest > 0.0)) continue;
        const double half = k_sqrt(rest) / a, place = middle - b / a;
        const double t0 = k_max(place - half, first), t1 = k_min(place + half, last);
        if (t1 > t0) sum += e->value * (t1 - t0);
    }
    return sum * k_sqrt(size);
}
