/* Back-projection in column form gives one result: for every instruction set, item by item or fast,
 * for every cut in ranges, blocks and chunks, and on every set of devices. */
#include "ct/beam/columns_backproject_fast.h"

#include "ct/beam/beam.h"
#include "ct/beam/columns_scale.k.h"
#include "rt/run.h"
#include "support/ct_kinds.h"
#include "support/ct_pair.h"
#include "support/ct_random.h"
#include "support/sim.h"

typedef struct scene {
    motet_context *c;
    motet_ct_view view[5];
    motet_ct_views given;
    motet_ct_geometry *geometry;
    float *rays, *scaled; /* some not finite */
    float *expected;      /* by items, in one piece */
} scene;

typedef struct launch_cut {
    int64_t range, views, s, f, w; /* of a launch, block and chunk; 0: all */
} launch_cut;

static int64_t some(int64_t of, int64_t at, int64_t most)
{
    return most && most < of - at ? most : of - at;
}

static void launch(const k_kernel *kernel, int isa, int fast, int64_t range, const void *args,
                   int64_t items, void *scratch)
{
    const int64_t step = range ? range : items;
    for (int64_t i = 0; i < items; i += step)
        (fast ? kernel->fast : kernel->plain)[isa](args, i, i + step < items ? i + step : items,
                                                   scratch);
}

/* The block of `views` views from `first` on, of one chunk. */
static void block(const scene *s, int isa, int fast, launch_cut cut, int64_t first, int64_t views,
                  ct_columns_backproject_args *a, void *scratch)
{
    const ct_space *space = &s->geometry->beam->space;
    const int64_t rays = space->columns * space->rows;
    a->pose = (const ct_pose *)motet_array_data(s->geometry->beam->poses) + first;
    a->views = views;
    a->starts = first == 0;
    a->finishes = first + views == s->given.views;
    /* As the runtime has it, without anything beyond the block's last ray. */
    float *copy = malloc(sizeof *copy * (size_t)(views * rays));
    memcpy(copy, s->scaled + first * rays, sizeof *copy * (size_t)(views * rays));
    a->rays = copy;
    launch(&K_ct_columns_backproject, isa, fast, cut.range, a, ct_columns_backproject_items(a),
           scratch);
    free(copy);
}

static void backproject(const scene *s, int isa, int fast, launch_cut cut, float *out)
{
    const ct_space *space = &s->geometry->beam->space;
    const int64_t stride[] = {1, space->n[0], space->n[0] * space->n[1]};
    const int64_t *n = space->n;
    void *scratch = aligned_alloc(64, (ct_columns_backproject_scratch() + 63) / 64 * 64);
    memset(scratch, 0xff, ct_columns_backproject_scratch()); /* nothing may count on its contents */
    for (int64_t i = 0; i < n[space->s]; i += some(n[space->s], i, cut.s))
        for (int64_t j = 0; j < n[space->f]; j += some(n[space->f], j, cut.f))
            for (int64_t k = 0; k < n[space->w]; k += some(n[space->w], k, cut.w)) {
                ct_columns_backproject_args a = {
                    .space = *space,
                    .volume =
                        out + i * stride[space->s] + j * stride[space->f] + k * stride[space->w],
                    .stride_s = stride[space->s],
                    .stride_f = stride[space->f],
                    .stride_w = stride[space->w],
                    .first_s = i,
                    .first_f = j,
                    .first_w = k,
                    .count_s = some(n[space->s], i, cut.s),
                    .count_f = some(n[space->f], j, cut.f),
                    .count_w = some(n[space->w], k, cut.w),
                };
                for (int64_t v = 0; v < s->given.views; v += some(s->given.views, v, cut.views))
                    block(s, isa, fast, cut, v, some(s->given.views, v, cut.views), &a, scratch);
            }
    free(scratch);
}

static void scale(const scene *s, int isa, int fast, int64_t range, float *out)
{
    const ct_space *space = &s->geometry->beam->space;
    const ct_columns_scale_args a = {
        .space = *space,
        .pose = motet_array_data(s->geometry->beam->poses),
        .views = s->given.views,
        .from = s->rays,
        .view_stride = space->columns * space->rows,
        .column_stride = space->rows,
        .to = out,
    };
    launch(&K_ct_columns_scale, isa, fast, range, &a, a.views * space->columns, NULL);
}

/* Of s->given; 0: it does not take the column form. */
static int scene_make(uint64_t *seed, scene *s)
{
    s->c = test_context();
    assert_ok(s->c, motet_ct_geometry_create(s->c, &s->given, &s->geometry));
    if (s->geometry->beam->form != CT_FORM_COLUMNS) {
        motet_ct_geometry_free(s->geometry);
        motet_context_free(s->c);
        return 0;
    }
    const size_t n = ct_oracle_rays(&s->given);
    s->rays = malloc(sizeof(float) * n);
    s->scaled = malloc(sizeof(float) * n);
    ct_oracle_fill(s->rays, n, seed);
    s->rays[n / 2] = NAN;
    s->rays[n / 3] = -INFINITY;
    s->rays[n / 5] = -0.0f;
    s->expected = malloc(sizeof(float) * ct_oracle_voxels(&s->given));
    scale(s, K_BASE, 0, 0, s->scaled);
    backproject(s, K_BASE, 0, (launch_cut){0, 0, 0, 0, 0}, s->expected);
    return 1;
}

static void scene_free(scene *s)
{
    motet_ct_geometry_free(s->geometry);
    motet_context_free(s->c);
    free(s->rays);
    free(s->scaled);
    free(s->expected);
}

/* Voxels of the scene that are finite and not 0. */
static size_t assert_same_bits(const scene *s, int trial)
{
    const launch_cut cuts[] = {{0, 0, 0, 0, 0},   {1, 0, 0, 0, 0}, {7, 3, 0, 0, 0},
                               {0, 1, 5, 0, 9},   {9, 0, 0, 1, 0}, {0, 2, 4, 16, 1},
                               {99, 4, 0, 17, 21}};
    const size_t n = ct_oracle_voxels(&s->given), m = ct_oracle_rays(&s->given);
    const int large = n > 20000 || trial < 0;
    float *got = malloc(sizeof(float) * (n > m ? n : m));
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        finite += s->expected[i] - s->expected[i] == 0.0f && s->expected[i] != 0.0f;
    for (int isa = K_BASE; isa < K_ISAS; isa++)
        for (int fast = 0; ct_pair_can(isa) && fast < 2; fast++) {
            scale(s, isa, fast, 1 + (int64_t)(m % 5), got);
            assert_memory_equal(got, s->scaled, sizeof(float) * m);
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
                if ((!fast || isa == K_BASE) && k % 3 != 2) continue;
                if (large && (!fast || isa == K_BASE || k % 2)) continue;
                memset(got, 0xff, sizeof(float) * n);
                backproject(s, isa, fast, cuts[k], got);
                for (size_t i = 0; i < n; i++)
                    if (memcmp(&got[i], &s->expected[i], sizeof *got))
                        fail_msg("trial %d isa %d fast %d cut %zu voxel %zu: %a, expected %a",
                                 trial, isa, fast, k, i, (double)got[i], (double)s->expected[i]);
            }
        }
    free(got);
    return finite;
}

/* P1, with rows from far closer than cells to much wider apart. */
static void same_bits_however_kernels_are_run(void **state)
{
    (void)state;
    uint64_t seed = 21;
    size_t scenes = 0, voxels = 0, finite = 0;
    for (int trial = 0; trial < 90; trial++) {
        scene s;
        const double pitch[] = {1.0, 0.4, 3.0, 0.1, 1.6}; /* of rows, times what is usual */
        const int64_t most[] = {9, 24, 40};
        s.given = ct_random_views(&seed, trial % CT_RANDOM_KINDS, trial % 3, 5, most[trial / 3 % 3],
                                  s.view);
        s.given.pitch_v *= pitch[trial / 9 % 5];
        if (!scene_make(&seed, &s)) continue;
        scenes++;
        voxels += ct_oracle_voxels(&s.given);
        finite += assert_same_bits(&s, trial);
        scene_free(&s);
    }
    assert_true(scenes > 60);
    if (finite < voxels / 5) fail_msg("only %zu of %zu voxels are seen", finite, voxels);
}

/* Columns of several blocks, and more rows than the fast range keeps of a view. */
static void same_bits_of_long_columns_and_many_rows(void **state)
{
    (void)state;
    uint64_t seed = 23;
    const double pitch[] = {0.7, 0.12};
    for (int trial = 0; trial < 2; trial++) {
        scene s;
        motet_ct_views_init(&s.given);
        s.given.view = s.view;
        s.given.views = 2;
        s.given.columns = 3;
        s.given.rows = trial ? CT_GATHER_ROWS + 300 : 900;
        s.given.nx = 3;
        s.given.ny = 2;
        s.given.nz = CT_COLUMNS_W + 61;
        s.given.pitch_u = 1.5;
        s.given.pitch_v = pitch[trial];
        for (int k = 0; k < 2; k++)
            s.view[k] = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.8 * k, 450.0, 600.0);
        assert_true(scene_make(&seed, &s));
        assert_true(assert_same_bits(&s, -1 - trial) > 100);
        scene_free(&s);
    }
}

/* Devices with memory of their own, alone and together, chunks and blocks of any size. */
static void same_bits_on_every_set_of_devices(void **state)
{
    (void)state;
    const char *const devices[] = {"cpu", "sim:0", "cpu,sim:0,sim:1"};
    const rt_cut cuts[] = {{{0, 0, 0}, 0}, {{4, 5, 16}, 4}, {{2, 0, 0}, 1}, {{0, 3, 32}, 0}};
    uint64_t seed = 22;
    for (int trial = 0; trial < 9; trial++) {
        scene s;
        s.given = ct_random_views(&seed, 2 + trial % 4, trial % 3, 5, 33, s.view);
        if (!scene_make(&seed, &s)) continue;
        motet_array *y = ct_kinds_array(s.c, &s.given, 1, s.rays);
        motet_array *x = ct_kinds_array(s.c, &s.given, 0, NULL);
        for (int d = 0; d < 3; d++) {
            assert_ok(s.c, sim_use(s.c, NULL, devices[d]));
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
                rt_run_options o = rt_run_defaults(s.c);
                o.cut = cuts[k];
                const rt_op op = ct_beam_backproject_op(s.geometry, y, x);
                const size_t bytes = sizeof(float) * ct_oracle_voxels(&s.given);
                memset(motet_array_data(x), 0xff, bytes);
                assert_ok(s.c, rt_run_with(s.c, &op, &o));
                assert_memory_equal(motet_array_data(x), s.expected, bytes);
            }
            assert_clean(s.c);
        }
        motet_array_free(x);
        motet_array_free(y);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_however_kernels_are_run),
                                       cmocka_unit_test(same_bits_of_long_columns_and_many_rows),
                                       cmocka_unit_test(same_bits_on_every_set_of_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
