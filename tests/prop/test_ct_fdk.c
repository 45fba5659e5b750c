/* P1, P2 and P4 of filtered back-projection on views in space: the same bits for any devices,
 * instruction sets, cuts, budgets and losses, filtered first or on the way. */
#include "ct/fdk/fdk.h"
#include "rt/run.h"
#include "support/ct_views.h"
#include "support/sim.h"

enum { VIEWS = 7, COLUMNS = 24, ROWS = 19, NX = 21, NY = 18, NZ = 37, MOST = VIEWS };
enum { SINOGRAM = VIEWS * COLUMNS * ROWS, VOLUME = NX * NY * NZ };

/* X(name, text) */
#define KINDS(X)                                                                                   \
    X(CIRCLE, "a circle")                                                                          \
    X(SHORT, "an arc, averaged over wide voxels")                                                  \
    X(OFFSET, "an offset detector")                                                                \
    X(OTHER, "an offset detector, the other side")                                                 \
    X(TILTED, "detectors that are tilted")                                                         \
    X(ABOUT_X, "a circle around x")                                                                \
    X(INSIDE, "sources in the volume")                                                             \
    X(STEEP, "rows much smaller than voxels")                                                      \
    X(PARALLEL, "parallel rays")

typedef enum kind {
#define KIND(name, text) name,
    KINDS(KIND)
#undef KIND
        KIND_COUNT
} kind;

static const char *const kind_text[] = {
#define TEXT(name, text) text,
    KINDS(TEXT)
#undef TEXT
};

static motet_ct_geometry *create(motet_context *c, kind k)
{
    motet_ct_view view[VIEWS];
    motet_ct_views g = ct_circular(VIEWS, view, k == INSIDE ? 9.0 : 60.0, k == INSIDE ? 30.0 : 90.0,
                                   COLUMNS, ROWS, 1.9, NX, NY, NZ);
    g.voxel[0] = 1.1;
    g.centre[2] = 0.7;
    if (k == SHORT) {
        g.pitch_u = g.pitch_v = 0.3;
        for (int i = 0; i < VIEWS; i++) view[i] = ct_circular_view(0.6 * i + 0.2, 60.0, 90.0);
    }
    if (k == STEEP) g.pitch_v = 0.1;
    for (int i = 0; i < VIEWS; i++) {
        motet_ct_view *w = &view[i];
        const double shift = k == OFFSET ? 14.0 : k == OTHER ? -14.0 : 0.0;
        for (int j = 0; j < 3; j++) w->detector[j] += shift * w->u[j];
        if (k == TILTED) {
            const double v[] = {w->v[0], w->v[1], w->v[2]};
            for (int j = 0; j < 3; j++) {
                w->v[j] = 0.96 * v[j] + 0.28 * w->u[j];
                w->u[j] = 0.96 * w->u[j] - 0.28 * v[j];
            }
        }
        double *const vectors[] = {w->source, w->detector, w->u, w->v};
        for (int n = 0; k == ABOUT_X && n < 4; n++) {
            const double x = vectors[n][0];
            vectors[n][0] = vectors[n][2];
            vectors[n][2] = vectors[n][1];
            vectors[n][1] = x;
        }
    }
    if (k == PARALLEL) ct_make_parallel(&g, view);
    motet_ct_geometry *out = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &out));
    return out;
}

typedef struct scan {
    motet_context *context;
    motet_ct_geometry *g;
    motet_array *y, *x;
    fdk_job job;
} scan;

static scan begin(motet_context *context, kind k)
{
    scan s = {.context = context, .g = create(context, k)};
    s.y = ct_array(context, VIEWS, COLUMNS, ROWS);
    s.x = ct_array(context, NZ, NY, NX);
    uint64_t seed = 3;
    for (int i = 0; i < SINOGRAM; i++) ct_values(s.y)[i] = (float)test_uniform(&seed, -0.2, 1.0);
    ct_values(s.y)[2 * COLUMNS * ROWS + 5 * ROWS + 4] = NAN; /* a row of a view */
    motet_ct_fdk_options options;
    motet_ct_fdk_options_init(&options);
    options.filter.pad = 3;
    s.job.geometry = s.g;
    assert_ok(context, fdk_tables_make(s.g, &options, 1, &s.job.tables));
    return s;
}

static void end(scan *s)
{
    fdk_tables_free(&s->job.tables);
    motet_array_free(s->y);
    motet_array_free(s->x);
    motet_ct_geometry_free(s->g);
    motet_context_free(s->context);
}

static motet_status run(scan *s, const rt_run_options *options)
{
    memset(motet_array_data(s->x), 0xff, sizeof(float) * VOLUME);
    const rt_op op = ct_fdk_op(&s->job, s->y, s->x);
    return rt_run_with(s->context, &op, options);
}

static void check(const scan *s, const float *expected, kind k, const char *how)
{
    if (memcmp(expected, motet_array_data(s->x), sizeof(float) * VOLUME))
        fail_msg("%s: %s differs", kind_text[k], how);
}

static void check_cuts(kind k, const float *expected, uint64_t *seed)
{
    static const char *const sets[] = {"cpu", "sim:0", "cpu,sim:0", "sim:0,sim:1,cpu"};
    for (int i = 0; i < 8; i++) {
        scan s = begin(sim_context(NULL, sets[i % 4]), k);
        rt_run_options o = {0};
        for (int axis = 0; axis < RT_AXES; axis++)
            o.cut.rows[axis] = (int64_t)(test_random(seed) % 40);
        o.cut.stream_rows = (int64_t)(1 + test_random(seed) % 4);
        assert_ok(s.context, run(&s, &o));
        check(&s, expected, k, sets[i % 4]);
        assert_clean(s.context);
        end(&s);
    }
}

static void check_budgets(kind k, const float *expected)
{
    scan s = begin(sim_context(NULL, "sim:0"), k);
    int64_t budget = 1 << 20;
    while (run(&s, &(rt_run_options){.budget = &budget}) == MOTET_OK) {
        check(&s, expected, k, "a budget");
        budget = budget * 3 / 4;
    }
    assert_true(budget < 1 << 18);
    assert_message(s.context, "at least", NULL);
    assert_clean(s.context);
    end(&s);
}

static void check_isas(kind k, const float *expected)
{
    motet_context_options options;
    motet_context_options_init(&options);
    for (int isa = MOTET_ISA_BASE; isa <= MOTET_ISA_V4; isa++) {
        if (!motet_isa_available((motet_isa)isa)) continue;
        options.isa = (motet_isa)isa;
        options.threads = 1 + isa % 2;
        motet_context *c = NULL;
        assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
        scan s = begin(c, k);
        assert_ok(c, run(&s, &(rt_run_options){0}));
        check(&s, expected, k, "an instruction set");
        /* As it is run where memory allows: filtered first. */
        motet_ct_fdk_options fdk;
        motet_ct_fdk_options_init(&fdk);
        fdk.filter.pad = 3;
        memset(motet_array_data(s.x), 0xff, sizeof(float) * VOLUME);
        assert_ok(c, motet_ct_fdk(s.g, &fdk, s.y, s.x));
        check(&s, expected, k, "filtered first");
        end(&s);
    }
}

/* A device is lost on its way: the rest is computed elsewhere. */
static void check_loss(kind k, const float *expected)
{
    scan s = begin(sim_context(NULL, "sim:0@lose_at_command=9,sim:1,cpu"), k);
    assert_ok(s.context, run(&s, &(rt_run_options){.cut = {{32, 16, 16}, 2}}));
    check(&s, expected, k, "a loss");
    assert_clean(s.context);
    end(&s);
}

static void same_bits_for_any_devices_and_cuts(void **state)
{
    (void)state;
    uint64_t seed = 52;
    float *expected = malloc(sizeof(float) * VOLUME);
    for (int k = 0; k < KIND_COUNT; k++) {
        scan s = begin(sim_context(NULL, "sim:0"), (kind)k); /* item by item */
        assert_ok(s.context, run(&s, &(rt_run_options){0}));
        memcpy(expected, motet_array_data(s.x), sizeof(float) * VOLUME);
        int64_t some = 0, none = 0;
        for (int i = 0; i < VOLUME; i++) {
            some += isfinite(expected[i]) && expected[i] != 0.0f;
            none += isnan(expected[i]);
        }
        if (some < 100) fail_msg("%s: %lld voxels see anything", kind_text[k], (long long)some);
        if (none == 0) fail_msg("%s: no voxel sees the NaN", kind_text[k]);
        end(&s);
        check_isas((kind)k, expected);
        check_cuts((kind)k, expected, &seed);
        check_budgets((kind)k, expected);
        check_loss((kind)k, expected);
    }
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_for_any_devices_and_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
