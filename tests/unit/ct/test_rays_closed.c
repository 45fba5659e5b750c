/* Both forms of the pair against closed forms: boxes, ellipsoids, blobs; symmetries. */
#include "support/ct_kinds.h"

typedef struct line {
    double from[3], along[3], size; /* from + t along, 0 <= t <= 1; parallel: any t */
    int whole;
} line;

static line line_of(const motet_ct_views *g, int64_t k, int64_t u, int64_t v)
{
    const motet_ct_view *w = &g->view[k];
    const double a = ((double)u - 0.5 * (double)(g->columns - 1)) * g->pitch_u;
    const double b = ((double)v - 0.5 * (double)(g->rows - 1)) * g->pitch_v;
    line l = {.whole = g->beam == MOTET_CT_BEAM_PARALLEL};
    for (int i = 0; i < 3; i++) {
        const double pixel = w->detector[i] + a * w->u[i] + b * w->v[i];
        l.from[i] = l.whole ? pixel : w->source[i];
        l.along[i] = l.whole ? w->source[i] : pixel - w->source[i];
        l.size += l.along[i] * l.along[i];
    }
    l.size = sqrt(l.size);
    return l;
}

/* The line's length within low..high. */
static double box_chord(const line *l, const double low[3], const double high[3])
{
    double t0 = l->whole ? -HUGE_VAL : 0.0, t1 = l->whole ? HUGE_VAL : 1.0;
    for (int i = 0; i < 3; i++) {
        const double p = (low[i] - l->from[i]) / l->along[i];
        const double q = (high[i] - l->from[i]) / l->along[i];
        t0 = fmax(t0, fmin(p, q));
        t1 = fmin(t1, fmax(p, q));
    }
    return t1 > t0 ? (t1 - t0) * l->size : 0.0;
}

static double ellipsoid_chord(const line *l, const double centre[3], const double axis[3])
{
    double ee = 0.0, qe = 0.0, qq = 0.0;
    for (int i = 0; i < 3; i++) {
        const double q = (l->from[i] - centre[i]) / axis[i], e = l->along[i] / axis[i];
        ee += e * e;
        qe += q * e;
        qq += q * q;
    }
    const double under = qe * qe - ee * (qq - 1.0);
    if (under <= 0.0) return 0.0;
    double t0 = (-qe - sqrt(under)) / ee, t1 = (-qe + sqrt(under)) / ee;
    if (!l->whole) t0 = fmax(t0, 0.0), t1 = fmin(t1, 1.0);
    return t1 > t0 ? (t1 - t0) * l->size : 0.0;
}

/* The integral of exp(-|P - centre|^2 / (2 sigma^2)) along the line. */
static double blob(const line *l, const double centre[3], double sigma)
{
    double closest = 0.0, away = 0.0;
    for (int i = 0; i < 3; i++) closest -= (l->from[i] - centre[i]) * l->along[i];
    closest /= l->size * l->size;
    for (int i = 0; i < 3; i++) {
        const double d = l->from[i] + closest * l->along[i] - centre[i];
        away += d * d;
    }
    const double scale = l->size / (sqrt(2.0) * sigma);
    const double ends =
        l->whole ? 2.0 : erf((1.0 - closest) * scale) - erf((0.0 - closest) * scale);
    return sqrt(0.5 * M_PI) * sigma * exp(-away / (2.0 * sigma * sigma)) * ends;
}

static const ct_form forms[] = {CT_FORM_COLUMNS, CT_FORM_RAYS};

/* Creates it in this form, or answers NULL. */
static motet_ct_geometry *create(motet_context *context, ct_kinds_case *c, ct_form form)
{
    motet_ct_geometry *g = ct_kinds_create(context, c);
    if (form == CT_FORM_RAYS) ct_beam_use_rays(g->beam);
    if (g->beam->form == form) return g;
    motet_ct_geometry_free(g);
    return NULL;
}

/* A box of whole voxels is a box: to rounding, from every kind of geometry. */
static void boxes_are_exact(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 31;
    int64_t checked[2] = {0, 0};
    for (int trial = 0; trial < 20 * CT_KIND_COUNT; trial++) {
        ct_kinds_case c = ct_kinds_random(&seed, (ct_kind)(trial % CT_KIND_COUNT), 20);
        const int64_t n[] = {c.g.nx, c.g.ny, c.g.nz};
        int64_t first[3], end[3];
        double low[3], high[3];
        for (int i = 0; i < 3; i++) {
            first[i] = (int64_t)(test_random(&seed) % (uint64_t)n[i]);
            end[i] = first[i] + ct_kinds_count(&seed, n[i] - first[i]);
            const double corner = c.g.centre[i] - 0.5 * (double)n[i] * c.g.voxel[i];
            low[i] = corner + (double)first[i] * c.g.voxel[i];
            high[i] = corner + (double)end[i] * c.g.voxel[i];
        }
        const size_t rays = ct_oracle_rays(&c.g);
        float *volume = calloc(ct_oracle_voxels(&c.g), sizeof(float));
        float *out = malloc(sizeof(float) * rays);
        for (int64_t z = first[2]; z < end[2]; z++)
            for (int64_t y = first[1]; y < end[1]; y++)
                for (int64_t x = first[0]; x < end[0]; x++)
                    volume[(z * n[1] + y) * n[0] + x] = 1.0f;
        for (int f = 0; f < 2; f++) {
            motet_ct_geometry *g = create(context, &c, forms[f]);
            if (!g) continue;
            ct_kinds_project(context, g, &c.g, volume, out);
            for (size_t i = 0; i < rays; i++) {
                const int64_t row = (int64_t)i % c.g.rows, ray = (int64_t)i / c.g.rows;
                const line l = line_of(&c.g, ray / c.g.columns, ray % c.g.columns, row);
                const double want = box_chord(&l, low, high);
                if (!(fabs(want - (double)out[i]) <= 2e-6 * want + 1e-6 * high[0] - 1e-6 * low[0]))
                    fail_msg("trial %d, form %d, ray %zu: %.9g, expected %.9g", trial, f, i,
                             (double)out[i], want);
                checked[f] += want > 0.0;
            }
            motet_ct_geometry_free(g);
        }
        free(volume);
        free(out);
    }
    assert_true(checked[0] > 2000 && checked[1] > 5000);
    motet_context_free(context);
}

/* A volume of n cells an axis, 16 units wide, seen from around; tilted or not. */
static ct_kinds_case scan(motet_ct_beam beam, int64_t n, int tilted)
{
    ct_kinds_case c;
    motet_ct_views_init(&c.g);
    c.g.beam = beam;
    c.g.views = CT_KINDS_MOST;
    c.g.columns = c.g.rows = 33;
    c.g.pitch_u = c.g.pitch_v = beam == MOTET_CT_BEAM_CONE ? 0.9 : 0.45;
    c.g.nx = c.g.ny = c.g.nz = n;
    for (int i = 0; i < 3; i++) c.g.voxel[i] = 16.0 / (double)n;
    for (int k = 0; k < CT_KINDS_MOST; k++) {
        c.view[k] = ct_oracle_circular(beam, 0.31 + 1.3 * k, 40.0, 80.0);
        if (!tilted) continue;
        motet_ct_view *w = &c.view[k];
        for (int i = 0; i < 3; i++) { /* turned about the rays by 0.3 */
            const double u = w->u[i], v = w->v[i];
            w->u[i] = cos(0.3) * u + sin(0.3) * v;
            w->v[i] = cos(0.3) * v - sin(0.3) * u;
        }
    }
    c.g.view = c.view;
    return c;
}

enum { BLOB, ELLIPSOID };
static const double middle[] = {0.7, -0.4, 0.3}, axes[] = {5.1, 3.3, 4.2};

/* Root of the mean square error of the projection of what n cells make of the object, by its
 * values in their middles. */
static double error_of(motet_context *context, motet_ct_beam beam, int64_t n, ct_form form,
                       int object)
{
    ct_kinds_case c = scan(beam, n, form == CT_FORM_RAYS);
    motet_ct_geometry *g = ct_kinds_create(context, &c);
    assert_int_equal(g->beam->form, form);
    const size_t rays = ct_oracle_rays(&c.g);
    float *volume = malloc(sizeof(float) * ct_oracle_voxels(&c.g)), *at = volume;
    float *out = malloc(sizeof(float) * rays);
    for (int64_t z = 0; z < n; z++)
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++) {
                const int64_t cell[] = {x, y, z};
                double r = 0.0;
                for (int i = 0; i < 3; i++) {
                    const double p = ((double)cell[i] + 0.5) * 16.0 / (double)n - 8.0 - middle[i];
                    r += object == BLOB ? p * p / (1.5 * 1.5) : p * p / (axes[i] * axes[i]);
                }
                *at++ = object == BLOB ? (float)exp(-0.5 * r) : r <= 1.0 ? 1.0f : 0.0f;
            }
    ct_kinds_project(context, g, &c.g, volume, out);
    double sum = 0.0;
    for (size_t i = 0; i < rays; i++) {
        const int64_t row = (int64_t)i % c.g.rows, ray = (int64_t)i / c.g.rows;
        const line l = line_of(&c.g, ray / c.g.columns, ray % c.g.columns, row);
        const double want =
            object == BLOB ? blob(&l, middle, 1.5) : ellipsoid_chord(&l, middle, axes);
        sum += (want - (double)out[i]) * (want - (double)out[i]);
    }
    free(volume);
    free(out);
    motet_ct_geometry_free(g);
    return sqrt(sum / (double)rays);
}

/* Errors fall with the voxel: cells are constant and a ray is off their middles, also where the
 * object is smooth. Rays that meet cells in all their parts do better (cone). */
static void objects_converge(void **state)
{
    (void)state;
    motet_context *context = test_context();
    for (int object = BLOB; object <= ELLIPSOID; object++)
        for (int f = 0; f < 2; f++)
            for (int b = 0; b < 2; b++) {
                const motet_ct_beam beam = b ? MOTET_CT_BEAM_CONE : MOTET_CT_BEAM_PARALLEL;
                const double coarse = error_of(context, beam, 12, forms[f], object);
                const double fine = error_of(context, beam, 48, forms[f], object);
                const double order = log2(coarse / fine) / 2.0;
                const double least = object == BLOB ? 1.0 : 0.85;
                if (!(order >= least))
                    fail_msg("object %d, form %d, beam %d: %g, then %g, order %.2f", object, f, b,
                             coarse, fine, order);
            }
    motet_context_free(context);
}

/* Turns the world by 90 degrees about z, or mirrors it in x = 0. */
static void move(double a[3], int mirror)
{
    const double x = a[0];
    a[0] = mirror ? -x : -a[1];
    a[1] = mirror ? a[1] : x;
}

/* A world turned by 90 degrees, or mirrored, has the same projections and is given the same back.
 */
static void symmetric(int mirror, uint64_t *seed)
{
    motet_context *context = test_context();
    for (int trial = 0; trial < 4 * CT_KIND_COUNT; trial++) {
        ct_kinds_case c = ct_kinds_random(seed, (ct_kind)(trial % CT_KIND_COUNT), 12), d = c;
        move(d.g.centre, mirror);
        for (int64_t k = 0; k < c.g.views; k++) {
            move(d.view[k].source, mirror);
            move(d.view[k].detector, mirror);
            move(d.view[k].u, mirror);
            move(d.view[k].v, mirror);
        }
        if (!mirror) {
            d.g.nx = c.g.ny;
            d.g.ny = c.g.nx;
            d.g.voxel[0] = c.g.voxel[1];
            d.g.voxel[1] = c.g.voxel[0];
        }
        const size_t rays = ct_oracle_rays(&c.g), voxels = ct_oracle_voxels(&c.g);
        float *x = malloc(sizeof(float) * 4 * voxels), *moved = x + voxels;
        float *back = moved + voxels, *back2 = back + voxels;
        float *y = malloc(sizeof(float) * 3 * rays), *forth = y + rays, *forth2 = forth + rays;
        size_t *place = malloc(sizeof *place * voxels); /* of each voxel when moved */
        for (int64_t k = 0; k < (int64_t)voxels; k++) {
            const int64_t i = k % c.g.nx, j = k / c.g.nx % c.g.ny, z = k / c.g.nx / c.g.ny;
            const int64_t i2 = mirror ? c.g.nx - 1 - i : c.g.ny - 1 - j, j2 = mirror ? j : i;
            place[k] = (size_t)((z * d.g.ny + j2) * d.g.nx + i2);
        }
        ct_oracle_fill(x, voxels, seed);
        ct_oracle_fill(y, rays, seed);
        for (size_t k = 0; k < voxels; k++) moved[place[k]] = x[k];
        for (int f = 0; f < 2; f++) {
            motet_ct_geometry *g = create(context, &c, forms[f]);
            motet_ct_geometry *h = create(context, &d, forms[f]);
            assert_true(!g == !h);
            if (!g) continue;
            ct_kinds_project(context, g, &c.g, x, forth);
            ct_kinds_project(context, h, &d.g, moved, forth2);
            const double unit = c.g.voxel[0] + c.g.voxel[1] + c.g.voxel[2];
            for (size_t i = 0; i < rays; i++)
                if (!(fabsf(forth[i] - forth2[i]) <= 3e-6 * fmax(fabs((double)forth[i]), unit)))
                    fail_msg("trial %d, form %d: %.9g and %.9g", trial, f, (double)forth[i],
                             (double)forth2[i]);
            if (forms[f] == CT_FORM_RAYS) {
                ct_kinds_backproject(context, g, &c.g, y, back);
                ct_kinds_backproject(context, h, &d.g, y, back2);
                for (size_t k = 0; k < voxels; k++)
                    if (!(fabsf(back[k] - back2[place[k]]) <=
                          3e-6 * fmax(fabs((double)back[k]), unit)))
                        fail_msg("trial %d: %.9g and %.9g back", trial, (double)back[k],
                                 (double)back2[place[k]]);
            }
            motet_ct_geometry_free(g);
            motet_ct_geometry_free(h);
        }
        free(x);
        free(y);
        free(place);
    }
    motet_context_free(context);
}

static void turning_by_90_degrees_changes_nothing(void **state)
{
    (void)state;
    uint64_t seed = 41;
    symmetric(0, &seed);
}

static void mirroring_changes_nothing(void **state)
{
    (void)state;
    uint64_t seed = 42;
    symmetric(1, &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_exact),
        cmocka_unit_test(objects_converge),
        cmocka_unit_test(turning_by_90_degrees_changes_nothing),
        cmocka_unit_test(mirroring_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
