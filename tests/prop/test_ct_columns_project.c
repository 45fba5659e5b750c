/* Projection in column form gives one result: for every instruction set, item by item or fast, for
 * every cut in ranges, blocks and chunks, and on every set of devices. */
#include "ct/beam/beam.h"
#include "ct/beam/columns_lay.k.h"
#include "ct/beam/columns_project_fast.h"
#include "rt/run.h"
#include "support/ct_pair.h"
#include "support/ct_random.h"
#include "support/sim.h"

typedef struct scene {
    motet_context *c;
    motet_ct_view view[3];
    motet_ct_views given;
    motet_ct_geometry *geometry;
    motet_array *volume, *sinogram;
    float *laid;     /* (s, f, w) */
    float *expected; /* by items, in one piece */
} scene;

typedef struct launch_cut {
    int64_t range, slabs, columns, rows; /* of a launch, block and chunk; 0: all */
} launch_cut;

static const ct_space *space_of(const scene *s) { return &s->geometry->beam->space; }

static int64_t some(int64_t of, int64_t at, int64_t most)
{
    return most && most < of - at ? most : of - at;
}

/* One block of one chunk. */
static void launch(int isa, int fast, int64_t range, const ct_columns_project_args *a,
                   void *scratch)
{
    const int64_t items = ct_columns_project_items(a), step = range ? range : items;
    const k_kernel *kernel = &K_ct_columns_project;
    for (int64_t i = 0; i < items; i += step)
        (fast ? kernel->fast : kernel->plain)[isa](a, i, i + step < items ? i + step : items,
                                                   scratch);
}

static void project(const scene *s, int isa, int fast, launch_cut cut, float *out)
{
    const ct_space *space = space_of(s);
    const int64_t slabs = space->n[space->s], lines = space->n[space->f];
    const int64_t cells = space->n[space->w], columns = s->given.columns, rows = s->given.rows;
    void *scratch = aligned_alloc(64, (ct_columns_project_scratch() + 63) / 64 * 64);
    memset(scratch, 0xff, ct_columns_project_scratch()); /* nothing may count on its contents */
    for (int64_t u = 0; u < columns; u += some(columns, u, cut.columns))
        for (int64_t v = 0; v < rows; v += some(rows, v, cut.rows))
            for (int64_t b = 0; b < slabs; b += some(slabs, b, cut.slabs)) {
                const ct_columns_project_args a = {
                    .space = *space,
                    .pose = motet_array_data(s->geometry->beam->poses),
                    .views = s->given.views,
                    .first_column = u,
                    .columns = some(columns, u, cut.columns),
                    .first_row = v,
                    .rows = some(rows, v, cut.rows),
                    .volume = s->laid + b * lines * cells,
                    .s_stride = lines * cells,
                    .f_stride = cells,
                    .begin = b,
                    .end = b + some(slabs, b, cut.slabs),
                    .sinogram = out + u * rows + v,
                    .view_stride = columns * rows,
                    .column_stride = rows,
                    .starts = b == 0,
                    .finishes = b + some(slabs, b, cut.slabs) == slabs,
                };
                launch(isa, fast, cut.range, &a, scratch);
            }
    free(scratch);
}

/* Of s->given; 0: it does not take the column form. Values are noise, some not finite. */
static int scene_make(uint64_t *seed, scene *s)
{
    s->c = test_context();
    assert_ok(s->c, motet_ct_geometry_create(s->c, &s->given, &s->geometry));
    if (s->geometry->beam->form != CT_FORM_COLUMNS) {
        motet_ct_geometry_free(s->geometry);
        motet_context_free(s->c);
        return 0;
    }
    const int64_t n[] = {s->given.nz, s->given.ny, s->given.nx};
    const int64_t rays[] = {s->given.views, s->given.columns, s->given.rows};
    assert_ok(s->c, motet_array_create(s->c, MOTET_F32, 3, n, &s->volume));
    assert_ok(s->c, motet_array_create(s->c, MOTET_F32, 3, rays, &s->sinogram));
    float *x = motet_array_data(s->volume);
    const size_t voxels = ct_oracle_voxels(&s->given);
    ct_oracle_fill(x, voxels, seed);
    x[voxels / 2] = NAN;
    x[voxels / 3] = -INFINITY;
    x[voxels / 5] = -0.0f;
    const ct_space *space = space_of(s);
    s->laid = malloc(sizeof(float) * voxels);
    int64_t at[3], i = 0;
    for (at[space->s] = 0; at[space->s] < space->n[space->s]; at[space->s]++)
        for (at[space->f] = 0; at[space->f] < space->n[space->f]; at[space->f]++)
            for (at[space->w] = 0; at[space->w] < space->n[space->w]; at[space->w]++)
                s->laid[i++] = x[(at[2] * n[1] + at[1]) * n[2] + at[0]];
    s->expected = malloc(sizeof(float) * ct_oracle_rays(&s->given));
    project(s, K_BASE, 0, (launch_cut){0, 0, 0, 0}, s->expected);
    return 1;
}

static void scene_free(scene *s)
{
    motet_array_free(s->volume);
    motet_array_free(s->sinogram);
    motet_ct_geometry_free(s->geometry);
    motet_context_free(s->c);
    free(s->laid);
    free(s->expected);
}

/* Rays of the scene that are finite. */
static size_t assert_same_bits(const scene *s, int trial)
{
    const launch_cut cuts[] = {{0, 0, 0, 0}, {1, 0, 0, 0},  {7, 3, 0, 0},  {0, 1, 5, 0},
                               {3, 0, 0, 1}, {0, 2, 4, 16}, {11, 5, 0, 17}};
    const size_t n = ct_oracle_rays(&s->given);
    const int large = n > 10000;
    float *got = malloc(sizeof(float) * n);
    size_t finite = 0;
    for (size_t i = 0; i < n; i++) finite += s->expected[i] - s->expected[i] == 0.0f;
    for (int isa = K_BASE; isa < K_ISAS; isa++)
        for (int fast = 0; ct_pair_can(isa) && fast < 2; fast++)
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
                if (!fast && (isa == K_BASE ? k % 2 == 0 : k % 3 != 2)) continue;
                if (large && (!fast || k % 2)) continue;
                memset(got, 0xff, sizeof(float) * n);
                project(s, isa, fast, cuts[k], got);
                for (size_t i = 0; i < n; i++)
                    if (memcmp(&got[i], &s->expected[i], sizeof *got))
                        fail_msg("trial %d isa %d fast %d cut %zu ray %zu: %a, expected %a", trial,
                                 isa, fast, k, i, (double)got[i], (double)s->expected[i]);
            }
    free(got);
    return finite;
}

static void same_bits_however_kernels_are_run(void **state)
{
    (void)state;
    uint64_t seed = 11;
    size_t scenes = 0, rays = 0, finite = 0;
    for (int trial = 0; trial < 60; trial++) {
        scene s;
        const double pitch[] = {0.2, 1.0, 3.0}; /* of rows, times what is usual */
        const int64_t most[] = {9, 40, 75};
        s.given = ct_random_views(&seed, trial % CT_RANDOM_KINDS, trial % 3, 3, most[trial / 3 % 3],
                                  s.view);
        s.given.pitch_v *= pitch[trial / 9 % 3];
        if (!scene_make(&seed, &s)) continue;
        scenes++;
        rays += ct_oracle_rays(&s.given);
        finite += assert_same_bits(&s, trial);
        scene_free(&s);
    }
    assert_true(scenes > 40);
    if (finite < rays / 3) fail_msg("only %zu of %zu rays are finite", finite, rays);
}

/* More chords and more rows than the fast range lists at once, and rays of one view that are turned
 * beside others that are not. */
static void same_bits_of_long_rays_and_many_rows(void **state)
{
    (void)state;
    uint64_t seed = 13;
    scene s;
    motet_ct_views_init(&s.given);
    s.given.view = s.view;
    s.given.views = 3;
    s.given.columns = 7;
    s.given.rows = CT_LIST_ROWS + 21;
    s.given.nx = 230;
    s.given.ny = 190;
    s.given.nz = 41;
    s.given.pitch_u = 50.0;
    s.given.pitch_v = 0.2;
    for (int k = 0; k < 3; k++)
        s.view[k] = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.8 * k, 250.0, 500.0);
    s.view[2] = ct_oracle_circular(MOTET_CT_BEAM_CONE, 1.5707, 250.0, 500.0);
    assert_true(scene_make(&seed, &s));
    const ct_pose *pose = motet_array_data(s.geometry->beam->poses);
    assert_true(ct_turned(space_of(&s), &pose[2], 0) != ct_turned(space_of(&s), &pose[2], 6));
    assert_same_bits(&s, -1);
    scene_free(&s);
}

/* Laying the volume is a copy, of any strides, sizes and parts. */
static void volumes_are_laid_element_by_element(void **state)
{
    (void)state;
    const int64_t sizes[][3] = {{3, 130, 16}, {2, 7, 41}, {1, 64, 15}, {4, 1, 50}, {5, 65, 33}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int order = 0; order < 3; order++) {
            const int64_t slabs = sizes[k][0], lines = sizes[k][1], cells = sizes[k][2];
            const int64_t n = slabs * lines * cells;
            float *from = malloc(sizeof(float) * (size_t)n),
                  *to = malloc(sizeof(float) * (size_t)n);
            for (int64_t i = 0; i < n; i++) from[i] = (float)i;
            ct_columns_lay_args a = {from, lines, 1, slabs * lines, to, slabs, lines, cells};
            if (order == 1) a.from_s = lines * cells, a.from_w = lines;
            if (order == 2) a.from_s = cells, a.from_f = cells * slabs, a.from_w = 1;
            for (int isa = K_BASE; isa < K_ISAS; isa++)
                for (int64_t range = 0; ct_pair_can(isa) && range < 90; range = 2 * range + 3) {
                    const int64_t items = slabs * lines, step = range ? range : items;
                    memset(to, 0xff, sizeof(float) * (size_t)n);
                    for (int64_t i = 0; i < items; i += step)
                        K_ct_columns_lay.fast[isa](&a, i, i + step < items ? i + step : items,
                                                   NULL);
                    for (int64_t i = 0; i < n; i++) {
                        const int64_t w = i % cells, f = i / cells % lines, s = i / cells / lines;
                        const int64_t at = s * a.from_s + f * a.from_f + w * a.from_w;
                        if (to[i] != from[at])
                            fail_msg("sizes %zu order %d at %d", k, order, (int)i);
                    }
                }
            free(from);
            free(to);
        }
}

/* Devices with memory of their own, alone and together, chunks and blocks of any size. */
static void same_bits_on_every_set_of_devices(void **state)
{
    (void)state;
    const char *const devices[] = {"cpu", "sim:0", "cpu,sim:0,sim:1"};
    const rt_cut cuts[] = {{{0, 0, 0}, 0}, {{1, 5, 16}, 4}, {{2, 0, 0}, 1}, {{0, 3, 32}, 0}};
    uint64_t seed = 12;
    for (int trial = 0; trial < 9; trial++) {
        scene s;
        s.given = ct_random_views(&seed, 2 + trial % 4, trial % 3, 3, 33, s.view);
        if (!scene_make(&seed, &s)) continue;
        for (int d = 0; d < 3; d++) {
            assert_ok(s.c, sim_use(s.c, NULL, devices[d]));
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
                rt_run_options o = rt_run_defaults(s.c);
                o.cut = cuts[k];
                const rt_op op = ct_beam_project_op(s.geometry, s.volume, s.sinogram);
                memset(motet_array_data(s.sinogram), 0xff,
                       sizeof(float) * ct_oracle_rays(&s.given));
                assert_ok(s.c, rt_run_with(s.c, &op, &o));
                assert_memory_equal(motet_array_data(s.sinogram), s.expected,
                                    sizeof(float) * ct_oracle_rays(&s.given));
            }
            assert_clean(s.c);
        }
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_however_kernels_are_run),
                                       cmocka_unit_test(same_bits_of_long_rays_and_many_rows),
                                       cmocka_unit_test(volumes_are_laid_element_by_element),
                                       cmocka_unit_test(same_bits_on_every_set_of_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
