/* Filtered back-projection in three dimensions: a ball is found where it is, as heavy and as dense
 * as it is, whatever the detector's pose, the pitches and the voxels are; and what is refused. */
#include "ct/solid.h"
#include "support/ct_views.h"

enum { VIEWS = 120, COLUMNS = 72, ROWS = 60, N = 36 };

static const double pi = 3.14159265358979323846;
static const double radius = 6.0;

typedef struct pose {
    const char *name;
    double roll, tilt;       /* of the detector about its normal and about u, degrees */
    double shift_u, shift_v; /* lengths */
    double pitch_u, pitch_v;
    double voxel[3], centre[3];
    int parallel, v_down, about_x;
    double arc; /* of a turn */
} pose;

static const pose plain = {.pitch_u = 1.0, .pitch_v = 1.0, .voxel = {1, 1, 1}, .arc = 1.0};

static void turn(double a[3], double b[3], double degrees)
{
    const double c = cos(degrees * pi / 180), s = sin(degrees * pi / 180);
    for (int i = 0; i < 3; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

static motet_ct_views pose_views(const pose *p, motet_ct_view *view)
{
    motet_ct_views g = ct_circular(VIEWS, view, 200.0, 300.0, COLUMNS, ROWS, 1.0, N, N, N);
    g.pitch_u = p->pitch_u;
    g.pitch_v = p->pitch_v;
    for (int i = 0; i < 3; i++) {
        g.voxel[i] = p->voxel[i];
        g.centre[i] = p->centre[i];
    }
    for (int k = 0; k < VIEWS; k++) {
        motet_ct_view *w = &view[k];
        *w = ct_circular_view(2 * pi * p->arc * k / VIEWS + 0.3, 200.0, 300.0);
        double normal[3] = {w->source[0] / 200, w->source[1] / 200, 0.0};
        turn(w->u, w->v, p->roll);
        turn(w->v, normal, p->tilt);
        for (int i = 0; i < 3; i++) {
            w->detector[i] += p->shift_u * w->u[i] + p->shift_v * w->v[i];
            if (p->v_down) w->v[i] = -w->v[i];
        }
    }
    if (p->parallel)
        for (int k = 0; k < VIEWS; k++)
            for (int i = 0; i < 3; i++) view[k].source[i] = -view[k].source[i];
    if (p->parallel) g.beam = MOTET_CT_BEAM_PARALLEL;
    for (int k = 0; p->about_x && k < VIEWS; k++) {
        double *const vectors[] = {view[k].source, view[k].detector, view[k].u, view[k].v};
        for (int n = 0; n < 4; n++) {
            double *a = vectors[n], z = a[2];
            a[2] = a[1];
            a[1] = a[0];
            a[0] = z;
        }
    }
    return g;
}

static void fill(const motet_ct_views *g, const solid *body, float *out)
{
    for (int64_t i = 0; i < g->views * g->columns * g->rows; i++) {
        const motet_ct_view *w = &g->view[i / g->rows / g->columns];
        const double a = (double)(i / g->rows % g->columns) - 0.5 * (double)(g->columns - 1);
        const double b = (double)(i % g->rows) - 0.5 * (double)(g->rows - 1);
        double at[3], along[3];
        for (int j = 0; j < 3; j++) {
            at[j] = w->detector[j] + a * g->pitch_u * w->u[j] + b * g->pitch_v * w->v[j];
            along[j] = g->beam == MOTET_CT_BEAM_CONE ? at[j] - w->source[j] : w->source[j];
        }
        out[i] =
            (float)(g->beam == MOTET_CT_BEAM_CONE ? solid_line(body, w->source, along, 0.0, 1.0)
                                                  : solid_line(body, at, along, -1e9, 1e9));
    }
}

/* How far off the middle of mass is (lengths), and relative errors of mass and inner density. */
typedef struct found {
    double place, mass, density;
} found;

static found look(const motet_ct_views *g, const solid *body, const float *volume)
{
    const solid_ellipsoid *e = &body->ellipsoid[0];
    double mass = 0.0, first[3] = {0}, inner = 0.0, count = 0.0;
    for (int64_t i = 0; i < N * N * N; i++) {
        const double cell[] = {(double)(i % N), (double)(i / N % N), (double)(i / N / N)};
        double d[3], size = 0.0;
        for (int j = 0; j < 3; j++) {
            d[j] = (cell[j] - 0.5 * (N - 1)) * g->voxel[j] + g->centre[j] - e->centre[j];
            size += d[j] * d[j];
        }
        if (size > 49.0) continue; /* beyond, ripples only */
        const double value = (double)volume[i];
        mass += value;
        for (int j = 0; j < 3; j++) first[j] += value * d[j];
        if (size < 12.0) {
            inner += value;
            count += 1.0;
        }
    }
    double place = 0.0;
    for (int j = 0; j < 3; j++) place += first[j] * first[j] / mass / mass;
    const double whole =
        4.0 / 3.0 * pi * radius * radius * radius / g->voxel[0] / g->voxel[1] / g->voxel[2];
    return (found){sqrt(place), mass / whole / e->value - 1.0, inner / count / e->value - 1.0};
}

static int ball_is_found(motet_context *c, const pose *p)
{
    motet_ct_view view[VIEWS];
    const motet_ct_views g = pose_views(p, view);
    solid body = {1, {{0.4, {radius, radius, radius}, {5.0, -4.0, 3.0}, 1.0, 0.0}}};
    for (int i = 0; i < 3; i++) body.ellipsoid[0].centre[i] += 0.9 * p->centre[i];
    motet_ct_geometry *geometry = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
    motet_array *y = ct_array(c, VIEWS, COLUMNS, ROWS), *x = ct_array(c, N, N, N);
    fill(&g, &body, ct_values(y));
    assert_ok(c, motet_ct_fdk(geometry, NULL, y, x));
    const found f = look(&g, &body, ct_values(x));
    motet_array_free(x);
    motet_array_free(y);
    motet_ct_geometry_free(geometry);
    const int right = f.place < 0.03 && fabs(f.mass) < 0.015 && fabs(f.density) < 0.015;
    if (!right)
        print_message("%s: %.4f off, mass %+.4f, density %+.4f\n", p->name, f.place, f.mass,
                      f.density);
    return right;
}

static void balls_are_found_where_they_are(void **state)
{
    (void)state;
    motet_context *c = test_context();
    int wrong = 0;
    pose p;
#define CASE(text, ...)                                                                            \
    do {                                                                                           \
        p = plain;                                                                                 \
        p.name = text;                                                                             \
        __VA_ARGS__;                                                                               \
        wrong += !ball_is_found(c, &p);                                                            \
    } while (0)
    CASE("a circle", p.arc = 1.0);
    CASE("an arc", p.arc = 0.62);
    CASE("anisotropic voxels", p.voxel[0] = 0.8; p.voxel[2] = 1.3);
    CASE("a volume off the axis", p.centre[0] = 4.0; p.centre[1] = 3.0; p.centre[2] = 2.5);
    CASE("v that counts down", p.v_down = 1);
    CASE("a detector moved along v", p.shift_v = 9.0);
    CASE("a detector moved along u", p.shift_u = 14.0);
    CASE("a detector moved along both", p.shift_u = -14.0; p.shift_v = -6.0);
    CASE("pitches that differ", p.pitch_v = 1.4; p.pitch_u = 0.9);
    CASE("a detector turned in its plane", p.roll = 7.0);
    CASE("a tilted detector", p.tilt = 12.0);
    CASE("rows and columns exchanged", p.about_x = 1);
    CASE("parallel rays", p.parallel = 1);
    CASE("parallel rays, oblique to the detector", p.parallel = 1; p.tilt = 12.0; p.roll = 5.0);
#undef CASE
    assert_int_equal(wrong, 0);
    motet_context_free(c);
}

typedef struct small {
    motet_context *context;
    motet_ct_view view[6];
    motet_ct_views g;
    motet_ct_geometry *geometry;
    motet_array *y, *x;
} small;

static void small_begin(small *s, motet_context *c, double arc)
{
    s->context = c;
    s->g = ct_circular(6, s->view, 30.0, 50.0, 5, 4, 1.5, 4, 3, 2);
    for (int k = 0; k < 6; k++) s->view[k] = ct_circular_view(arc * k / 6, 30.0, 50.0);
    assert_ok(c, motet_ct_geometry_create(c, &s->g, &s->geometry));
    s->y = ct_array(c, 6, 5, 4);
    s->x = ct_array(c, 2, 3, 4);
    for (int i = 0; i < 120; i++) ct_values(s->y)[i] = 1.0f;
    ct_values(s->x)[3] = 9.0f;
}

static void small_end(small *s)
{
    motet_array_free(s->x);
    motet_array_free(s->y);
    motet_ct_geometry_free(s->geometry);
}

/* By field, value and what was expected; the volume stays as it was. */
static void refuses_nonsense(void **state)
{
    (void)state;
    motet_context *c = test_context();
    small s;
    small_begin(&s, c, 2 * pi);
    motet_ct_fdk_options o;
    motet_ct_fdk_options_init(&o);
    o.weights = (motet_ct_weights)7;
    assert_status(c, motet_ct_fdk(s.geometry, &o, s.y, s.x), MOTET_BAD_ARGUMENT);
    assert_message(c, "weights", "7", NULL);
    motet_ct_fdk_options_init(&o);
    o.filter.cutoff = 0.0;
    assert_status(c, motet_ct_fdk(s.geometry, &o, s.y, s.x), MOTET_BAD_ARGUMENT);
    assert_message(c, "cutoff", NULL);
    o.size = 1;
    assert_status(c, motet_ct_fdk(s.geometry, &o, s.y, s.x), MOTET_BAD_ARGUMENT);
    assert_message(c, "motet_ct_fdk_options_init", NULL);
    assert_status(c, motet_ct_fdk(s.geometry, NULL, s.x, s.x), MOTET_BAD_SHAPE);
    assert_status(c, motet_ct_fdk(s.geometry, NULL, s.y, s.y), MOTET_BAD_SHAPE);
    motet_ct_geometry_free(s.geometry);
    /* v along each axis in turn, seen along the next. */
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++) {
            s.view[k].v[i] = i == k % 3 ? (k == 1 || k == 4 ? -1.0 : 1.0) : 0.0;
            s.view[k].u[i] = i == (k + 1) % 3 ? 1.0 : 0.0;
            s.view[k].source[i] = i == (k + 2) % 3 ? 30.0 : 0.0;
            s.view[k].detector[i] = i == (k + 2) % 3 ? -20.0 : 0.0;
        }
    assert_ok(c, motet_ct_geometry_create(c, &s.g, &s.geometry));
    assert_status(c, motet_ct_fdk(s.geometry, NULL, s.y, s.x), MOTET_UNSUPPORTED);
    assert_message(c, "v axes", "0.58", NULL);
    assert_true(ct_values(s.x)[3] == 9.0f);
    small_end(&s);
    /* Columns along the axis, where rows should be: a whole turn, and a part of one. */
    const double arc[] = {2 * pi, 1.0};
    for (int i = 0; i < 2; i++) {
        small_begin(&s, c, arc[i]);
        motet_ct_geometry_free(s.geometry);
        for (int k = 0; k < 6; k++)
            for (int j = 0; j < 3; j++) {
                const double u = s.view[k].u[j];
                s.view[k].u[j] = s.view[k].v[j];
                s.view[k].v[j] = u;
            }
        assert_ok(c, motet_ct_geometry_create(c, &s.g, &s.geometry));
        assert_status(c, motet_ct_fdk(s.geometry, NULL, s.y, s.x), MOTET_UNSUPPORTED);
        assert_message(c, "u axes", "1.000", "exchange", NULL);
        assert_true(ct_values(s.x)[3] == 9.0f);
        small_end(&s);
    }
    motet_context_free(c);
}

/* An arc that is too short is said to be, with what is there and what is needed (none is silent).
 */
static void warns_of_a_short_arc(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        motet_context *c = test_context();
        small s;
        small_begin(&s, c, wrong ? 2.0 : 2 * pi);
        assert_ok(c, motet_ct_fdk(s.geometry, NULL, s.y, s.x));
        char *report = NULL;
        assert_ok(c, motet_context_report(c, &report));
        assert_true((strstr(report, "degrees that a complete scan needs") != NULL) == wrong);
        motet_text_free(c, report);
        small_end(&s);
        motet_context_free(c);
    }
}

/* Sizes of 1: finite, and the density of what fills the only voxel. */
static void one_of_anything(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int which = 0; which < 16; which++) {
        const int64_t views = which & 1 ? 1 : 5, columns = which & 2 ? 1 : 4;
        const int64_t rows = which & 4 ? 1 : 3, n = which & 8 ? 1 : 2;
        motet_ct_view view[5];
        const motet_ct_views g = ct_circular(views, view, 30.0, 50.0, columns, rows, 1.5, n, n, n);
        motet_ct_geometry *geometry = NULL;
        assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
        motet_array *y = ct_array(c, views, columns, rows), *x = ct_array(c, n, n, n);
        for (int64_t i = 0; i < views * columns * rows; i++) ct_values(y)[i] = 1.0f;
        assert_ok(c, motet_ct_fdk(geometry, NULL, y, x));
        for (int64_t i = 0; i < n * n * n; i++)
            assert_true(isfinite(ct_values(x)[i]) && ct_values(x)[i] >= 0.0f);
        motet_array_free(y);
        motet_array_free(x);
        motet_ct_geometry_free(geometry);
    }
    motet_context_free(c);
}

/* Every failing allocation: NO_MEMORY, the volume untouched, nothing kept. */
static void survives_every_failing_allocation(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    small s;
    small_begin(&s, c, 2 * pi);
    for (int64_t nth = 1;; nth++) {
        motet_memory before, after;
        motet_context_memory(c, &before);
        test_context_fail_at(c, nth, 0);
        const motet_status st = motet_ct_fdk(s.geometry, NULL, s.y, s.x);
        const int failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        motet_context_memory(c, &after);
        if (!failed) {
            assert_int_equal(st, MOTET_OK);
            assert_true(ct_values(s.x)[3] != 9.0f && nth > 15);
            break;
        }
        assert_int_equal(st, MOTET_NO_MEMORY);
        assert_true(ct_values(s.x)[3] == 9.0f);
        if (nth > 1) assert_true(after.blocks <= before.blocks + 4); /* the device keeps scratch */
    }
    small_end(&s);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_are_found_where_they_are), cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(warns_of_a_short_arc), cmocka_unit_test(one_of_anything),
        cmocka_unit_test(survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
