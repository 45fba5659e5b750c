/* P1 and P2 of the pair on views in space: the same bits for any devices, cuts and budgets. */
#include "rt/run.h"
#include "support/ct_kinds.h"
#include "support/sim.h"

typedef struct pair {
    motet_context *context;
    motet_ct_geometry *g;
    motet_array *x, *y, *forth, *back;
} pair;

static pair begin(motet_context *context, ct_kinds_case *c, int rays, const float *x,
                  const float *y)
{
    pair p = {.context = context, .g = ct_kinds_create(context, c)};
    if (rays) ct_beam_use_rays(p.g->beam);
    p.x = ct_kinds_array(context, &c->g, 0, x);
    p.y = ct_kinds_array(context, &c->g, 1, y);
    p.forth = ct_kinds_array(context, &c->g, 1, NULL);
    p.back = ct_kinds_array(context, &c->g, 0, NULL);
    return p;
}

static void end(pair *p)
{
    motet_array_free(p->x);
    motet_array_free(p->y);
    motet_array_free(p->forth);
    motet_array_free(p->back);
    motet_ct_geometry_free(p->g);
}

static motet_status run(pair *p, const rt_run_options *options)
{
    memset(motet_array_data(p->forth), 0xff, p->forth->bytes);
    memset(motet_array_data(p->back), 0xff, p->back->bytes);
    const rt_op forth = ct_beam_project_op(p->g, p->x, p->forth);
    const rt_op back = ct_beam_backproject_op(p->g, p->y, p->back);
    const motet_status st = rt_run_with(p->context, &forth, options);
    return st == MOTET_OK ? rt_run_with(p->context, &back, options) : st;
}

/* Noise with a NaN and an infinity, which must stay where they belong. */
static void fill(float *values, size_t count, uint64_t *seed)
{
    ct_oracle_fill(values, count, seed);
    values[test_random(seed) % count] = NAN;
    values[test_random(seed) % count] = INFINITY;
}

static void check(const pair *p, const float *forth, const float *back, int trial, int i)
{
    if (memcmp(forth, motet_array_data(p->forth), p->forth->bytes) ||
        memcmp(back, motet_array_data(p->back), p->back->bytes))
        fail_msg("trial %d, %s, run %d differs", trial,
                 ct_kind_text((ct_kind)(trial % CT_KIND_COUNT)), i);
}

/* Any cut of views, columns, rows and voxels, any blocks, CPU and simulated devices, and budgets
 * down to what is refused; in the form that the geometry gives and in the general one. */
static void same_bits_for_any_devices_and_cuts(void **state)
{
    (void)state;
    uint64_t seed = 51;
    static const char *const sets[] = {"cpu", "sim:0", "cpu,sim:0", "sim:0,sim:1,cpu"};
    for (int trial = 0; trial < 2 * CT_KIND_COUNT; trial++) {
        const int rays = trial >= CT_KIND_COUNT;
        ct_kinds_case c = ct_kinds_random(&seed, (ct_kind)(trial % CT_KIND_COUNT), 9);
        const size_t count = ct_oracle_rays(&c.g), voxels = ct_oracle_voxels(&c.g);
        float *x = malloc(sizeof(float) * voxels), *y = malloc(sizeof(float) * count);
        fill(x, voxels, &seed);
        fill(y, count, &seed);
        motet_context *context = test_context();
        pair p = begin(context, &c, rays, x, y);
        assert_ok(context, run(&p, &(rt_run_options){0}));
        float *forth = malloc(sizeof(float) * count), *back = malloc(sizeof(float) * voxels);
        memcpy(forth, motet_array_data(p.forth), sizeof(float) * count);
        memcpy(back, motet_array_data(p.back), sizeof(float) * voxels);
        end(&p);
        motet_context_free(context);
        for (int i = 0; i < 12; i++) {
            context = sim_context(NULL, sets[i % 4]);
            p = begin(context, &c, rays, x, y);
            rt_run_options o = {0};
            const int64_t budget[] = {i < 8 ? 0 : 60000, i < 8 ? 0 : 40000, 50000};
            for (int axis = 0; axis < RT_AXES; axis++)
                o.cut.rows[axis] = i % 3 == axis ? 0 : ct_kinds_count(&seed, 4);
            o.cut.stream_rows = ct_kinds_count(&seed, 4);
            if (i >= 8) o = (rt_run_options){.budget = budget};
            assert_ok(context, run(&p, &o));
            check(&p, forth, back, trial, i);
            assert_clean(context);
            end(&p);
            motet_context_free(context);
        }
        context = sim_context(NULL, "sim:0");
        p = begin(context, &c, rays, x, y);
        int64_t budget = 65536;
        while (run(&p, &(rt_run_options){.budget = &budget}) == MOTET_OK) {
            check(&p, forth, back, trial, (int)budget);
            budget = budget * 7 / 8;
        }
        assert_message(context, "at least", NULL);
        assert_clean(context);
        end(&p);
        motet_context_free(context);
        free(x);
        free(y);
        free(forth);
        free(back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_for_any_devices_and_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
