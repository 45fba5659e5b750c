/* Plans of CT operations through the public interface. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <motet/plan.h>

#include "support/ct_views.h"
#include "support/support.h"

static motet_ct_geometry *geometry_of(motet_context *c, int64_t views, int64_t columns,
                                      int64_t rows)
{
    motet_ct_geometry *g = NULL;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    double *angles = calloc((size_t)views, sizeof *angles);
    assert_non_null(angles);
    for (int64_t k = 0; k < views; k++) angles[k] = 3.0 * (double)k / (double)views;
    p.views = views;
    p.columns = columns;
    p.rows = rows;
    p.angles = angles;
    p.pitch = 1;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    free(angles);
    return g;
}

static json_t *plan_of(motet_context *c, motet_ct_geometry *g, motet_ct_operation operation,
                       const motet_plan_options *o)
{
    char *text = NULL;
    assert_ok(c, motet_ct_plan(g, operation, o, &text));
    json_t *plan = json_loads(text, 0, NULL);
    assert_non_null(plan);
    motet_text_free(c, text);
    return plan;
}

static json_t *at(json_t *plan, int operation)
{
    json_t *op = json_array_get(json_object_get(plan, "operations"), (size_t)operation);
    assert_non_null(op);
    return op;
}

static int64_t whole(json_t *o, const char *name)
{
    const json_t *value = json_object_get(o, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static json_t *device(json_t *op, int number)
{
    return json_array_get(json_object_get(op, "devices"), (size_t)number);
}

/* P7: the plan of the context's own device is what then runs: as many chunks, and the private copy.
 */
static void what_is_planned_is_what_runs(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = geometry_of(c, 90, 64, 40);
    motet_array *volume, *sinogram;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){40, 64, 64}, &volume));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){90, 64, 40}, &sinogram));
    for (int i = 0; i < 3; i++) {
        motet_context_report_reset(c);
        if (i == MOTET_CT_PROJECT) assert_ok(c, motet_ct_project(g, volume, sinogram));
        if (i == MOTET_CT_BACKPROJECT) assert_ok(c, motet_ct_backproject(g, sinogram, volume));
        if (i == MOTET_CT_FILTER) assert_ok(c, motet_ct_filter(g, NULL, sinogram, sinogram));
        char *text = NULL;
        assert_ok(c, motet_context_report(c, &text));
        json_t *report = json_loads(text, 0, NULL);
        motet_text_free(c, text);
        json_t *plan = plan_of(c, g, (motet_ct_operation)i, NULL);
        assert_string_equal(json_string_value(json_object_get(at(plan, 0), "name")),
                            json_string_value(json_object_get(at(report, 0), "name")));
        assert_int_equal(whole(at(plan, 0), "chunks"), whole(at(report, 0), "chunks"));
        const int64_t copy = i == MOTET_CT_BACKPROJECT ? 40 * 64 * 64 * 4 : 90 * 64 * 40 * 4;
        const int64_t scratch = whole(device(at(plan, 0), 0), "staging_bytes");
        assert_true(scratch > 0);
        assert_int_equal(whole(plan, "host_bytes"), copy + scratch);
        json_decref(plan);
        json_decref(report);
    }
    motet_array_free(volume);
    motet_array_free(sinogram);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Two devices share a projection by weight within their budgets; nothing of that size is allocated.
 */
static void devices_that_are_not_there_are_planned_for(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = geometry_of(c, 2000, 4096, 4096);
    const motet_plan_device gpus[] = {{"cuda:0", 0, -1, 8000000000u, 1, 0},
                                      {"cuda:1", 0, 12000000000, 0, 3, 0}};
    motet_plan_options o;
    motet_plan_options_init(&o);
    o.devices = gpus;
    o.count = 2;
    motet_memory before, after;
    motet_context_memory(c, &before);
    json_t *plan = plan_of(c, g, MOTET_CT_PROJECT, &o);
    motet_context_memory(c, &after);
    assert_true(after.peak < before.now + 1000000);
    assert_int_equal(after.now, before.now);
    assert_int_equal(whole(device(at(plan, 0), 0), "first"), 0);
    assert_int_equal(whole(device(at(plan, 0), 0), "rows"), 1024);
    assert_int_equal(whole(device(at(plan, 0), 1), "rows"), 3072);
    assert_true(whole(device(at(plan, 0), 0), "peak_bytes") <= 8000000000);
    assert_true(whole(device(at(plan, 0), 1), "peak_bytes") <= 9000000000);
    assert_int_equal(whole(device(at(plan, 0), 1), "limit"), 9000000000);
    json_decref(plan);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* A reconstruction is planned by the slab that it would take, on the host's bound, too. */
static void reconstructions_are_planned_by_the_slab(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = geometry_of(c, 1000, 1024, 1024);
    motet_plan_options o;
    motet_plan_options_init(&o);
    json_t *plan = plan_of(c, g, MOTET_CT_RECON, NULL);
    const int64_t slab = whole(plan, "slab_rows");
    assert_true(slab > 0 && slab < 1024);
    assert_int_equal(whole(plan, "slabs"), (1023 / slab) + 1);
    const int64_t arrays = slab * 1024 * 4 * (2 * 1000 + 1024), held = whole(plan, "held_bytes");
    assert_true(held >= arrays && held <= arrays + 1000 * 200); /* and tables of views */
    json_decref(plan);
    o.slab_rows = 7;
    plan = plan_of(c, g, MOTET_CT_RECON, &o);
    assert_int_equal(whole(plan, "slab_rows"), 7);
    assert_int_equal(whole(plan, "slabs"), 147);
    json_decref(plan);
    o.slab_rows = 0;
    o.host_memory = 1000000;
    char *text = (char *)&o;
    assert_status(c, motet_ct_plan(g, MOTET_CT_RECON, &o, &text), MOTET_OVER_BUDGET);
    assert_ptr_equal(text, &o);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* A reconstruction of a scan reads and normalises it first, in blocks that the run takes, too. */
static void a_scan_is_planned_with_its_frames(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = geometry_of(c, 1000, 256, 64);
    motet_plan_options o;
    motet_plan_options_init(&o);
    json_t *plan = plan_of(c, g, MOTET_CT_RECON, &o);
    const int64_t without = whole(plan, "held_bytes");
    json_decref(plan);
    o.scan = 1;
    plan = plan_of(c, g, MOTET_CT_RECON, &o);
    json_t *first = at(plan, 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "ct.normalise");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "box"), 0)),
                     (32 << 20) / (8 * 256 * 64)); /* of the 1000 views */
    assert_int_equal(whole(plan, "held_bytes"), without + 24 * 256 * 64);
    assert_string_equal(json_string_value(json_object_get(at(plan, 1), "name")), "ct.filter");
    json_decref(plan);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* More columns beside the detector need a longer response. */
static void padding_is_planned(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = geometry_of(c, 100, 256, 64);
    const motet_plan_device gpu = {.name = "cuda:0", .memory_free = -1, .weight = 1};
    motet_ct_filter_options filter;
    motet_ct_filter_options_init(&filter);
    motet_plan_options o;
    motet_plan_options_init(&o);
    o.devices = &gpu;
    o.count = 1;
    o.filter = &filter;
    int64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        json_t *plan = plan_of(c, g, MOTET_CT_FILTER, &o);
        bytes[i] = whole(device(at(plan, 0), 0), "fixed_bytes");
        json_decref(plan);
        filter.pad = 300; /* 856 columns in place of 256 */
    }
    assert_true(bytes[1] >= 3 * bytes[0]);
    filter.pad = -1;
    char *text = NULL;
    assert_status(c, motet_ct_plan(g, MOTET_CT_FILTER, &o, &text), MOTET_BAD_ARGUMENT);
    assert_message(c, "pad is -1", NULL);
    assert_null(text);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* A few views stand for many: the plan is that of the many, and takes no longer. */
static void views_may_stand_for_more(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *few = geometry_of(c, 50, 64, 40), *many = geometry_of(c, 5000, 64, 40);
    for (int i = 0; i < 4; i++) {
        motet_plan_options o;
        char *one = NULL, *other = NULL;
        motet_plan_options_init(&o);
        o.scan = 1;
        assert_ok(c, motet_ct_plan(many, (motet_ct_operation)i, &o, &one));
        o.views = 5000;
        assert_ok(c, motet_ct_plan(few, (motet_ct_operation)i, &o, &other));
        assert_string_equal(one, other);
        motet_text_free(c, one);
        motet_text_free(c, other);
        o.views = (int64_t)1 << 40;
        o.host_memory = 1 << 20;
        assert_status(c, motet_ct_plan(few, (motet_ct_operation)i, &o, &one),
                      i == MOTET_CT_BACKPROJECT ? MOTET_OK : MOTET_OVER_BUDGET);
        if (i == MOTET_CT_BACKPROJECT) motet_text_free(c, one);
    }
    motet_ct_geometry_free(few);
    motet_ct_geometry_free(many);
    motet_context_free(c);
}

/* Without devices of its own a plan is about the context's, with its weights. */
static void the_weights_of_the_context_are_heeded(void **state)
{
    (void)state;
    motet_context_options options;
    motet_context_options_init(&options);
    options.devices = "sim:0,sim:1";
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    motet_ct_geometry *g = geometry_of(c, 100, 64, 64);
    assert_ok(c, motet_context_weights(c, "ct.filter", 2, (const double[]){1, 3}));
    json_t *plan = plan_of(c, g, MOTET_CT_FILTER, NULL);
    assert_int_equal(whole(device(at(plan, 0), 0), "rows"), 25);
    json_decref(plan);
    plan = plan_of(c, g, MOTET_CT_BACKPROJECT, NULL);
    assert_int_equal(whole(device(at(plan, 0), 0), "rows"), 32);
    json_decref(plan);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Options that make no sense are refused by name. */
static void bad_options_are_refused(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = geometry_of(c, 10, 16, 16);
    const motet_plan_device one = {.name = "cuda:0", .memory_free = -1, .weight = 1};
    motet_plan_options o = {0};
    char *text = NULL;
    assert_status(c, motet_ct_plan(g, MOTET_CT_PROJECT, &o, &text), MOTET_BAD_ARGUMENT);
    assert_message(c, "motet_plan_options_init", NULL);
    motet_plan_options_init(&o);
    assert_status(c, motet_ct_plan(g, (motet_ct_operation)17, &o, &text), MOTET_BAD_ARGUMENT);
    assert_message(c, "17", NULL);
    o.devices = &one;
    o.count = 17;
    assert_status(c, motet_ct_plan(g, MOTET_CT_PROJECT, &o, &text), MOTET_BAD_ARGUMENT);
    assert_message(c, "17 devices", NULL);
    o.count = 1;
    o.chunk = -1;
    assert_status(c, motet_ct_plan(g, MOTET_CT_PROJECT, &o, &text), MOTET_BAD_ARGUMENT);
    assert_message(c, "-1", NULL);
    o.chunk = 0;
    o.slab_rows = -1;
    assert_status(c, motet_ct_plan(g, MOTET_CT_RECON, &o, &text), MOTET_BAD_ARGUMENT);
    assert_message(c, "slab_rows is -1", NULL);
    assert_null(text);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Every failing allocation is told, leaks nothing and leaves the output as it was. */
static void fail_every_allocation(motet_context *c, motet_ct_geometry *g,
                                  motet_ct_operation operation)
{
    for (int64_t n = 1;; n++) {
        motet_memory before, after;
        motet_context_memory(c, &before);
        test_context_fail_at(c, n, 0);
        char *text = NULL;
        const motet_status st = motet_ct_plan(g, operation, NULL, &text);
        const int reached = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        if (!reached) {
            assert_int_equal(st, MOTET_OK);
            motet_text_free(c, text);
            break;
        }
        assert_int_equal(st, MOTET_NO_MEMORY);
        assert_null(text);
        motet_context_memory(c, &after);
        assert_int_equal(after.now, before.now);
    }
}

static motet_ct_geometry *cone_with(motet_context *c, int64_t views)
{
    motet_ct_view *view = calloc((size_t)views, sizeof *view);
    assert_non_null(view);
    motet_ct_geometry *g = NULL;
    const motet_ct_views v = ct_circular(views, view, 40, 64, 24, 18, 1.25, 12, 10, 8);
    assert_ok(c, motet_ct_geometry_create(c, &v, &g));
    free(view);
    return g;
}

static motet_ct_geometry *cone_of(motet_context *c) { return cone_with(c, 6); }

static void failing_memory_is_told(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    motet_ct_geometry *slices = geometry_of(c, 10, 16, 16), *views = cone_of(c);
    for (int operation = 0; operation <= MOTET_CT_SIRT; operation++) {
        if (operation != MOTET_CT_FDK)
            fail_every_allocation(c, slices, (motet_ct_operation)operation);
        if (operation != MOTET_CT_FILTER && operation != MOTET_CT_RECON)
            fail_every_allocation(c, views, (motet_ct_operation)operation);
    }
    motet_ct_geometry_free(slices);
    motet_ct_geometry_free(views);
    motet_context_free(c);
}

/* The operations are those of the views' form, on boxes of their own sizes; what would need slices
 * is refused. */
static void views_in_space_are_planned(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = cone_of(c);
    json_t *plan = plan_of(c, g, MOTET_CT_PROJECT, NULL);
    assert_string_equal(json_string_value(json_object_get(at(plan, 0), "name")),
                        "ct.project.columns");
    assert_int_equal(whole(at(plan, 0), "private_bytes"), 4 * 6 * 24 * 18);
    json_decref(plan);
    motet_plan_options o;
    motet_plan_options_init(&o);
    o.direct = 1;
    plan = plan_of(c, g, MOTET_CT_BACKPROJECT, &o);
    assert_string_equal(json_string_value(json_object_get(at(plan, 0), "name")),
                        "ct.backproject.columns");
    assert_int_equal(whole(at(plan, 0), "private_bytes"), 0);
    json_decref(plan);
    char *text = NULL;
    o.views = 100;
    assert_status(c, motet_ct_plan(g, MOTET_CT_PROJECT, &o, &text), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_ct_plan(g, MOTET_CT_FILTER, NULL, &text), MOTET_UNSUPPORTED);
    assert_status(c, motet_ct_plan(g, MOTET_CT_RECON, NULL, &text), MOTET_UNSUPPORTED);
    assert_null(text);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Filtered views are held while voxels are made of them, where there is room. */
static void filtered_back_projection_is_planned(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g = cone_of(c);
    const int64_t volume = 4 * 12 * 10 * 8, rays = 4 * 6 * 24 * 18;
    motet_plan_options o;
    motet_plan_options_init(&o);
    json_t *plan = plan_of(c, g, MOTET_CT_FDK, &o);
    assert_string_equal(json_string_value(json_object_get(at(plan, 0), "name")), "ct.fdk_filter");
    assert_string_equal(json_string_value(json_object_get(at(plan, 1), "name")), "ct.fdk");
    assert_int_equal(whole(at(plan, 1), "private_bytes"), volume);
    assert_true(whole(plan, "held_bytes") >= rays);
    json_decref(plan);
    /* Half of what all filtered views take is no room for them. */
    motet_ct_geometry *many = cone_with(c, 1000);
    plan = plan_of(c, many, MOTET_CT_FDK, &o);
    const int64_t all = whole(plan, "held_bytes");
    json_decref(plan);
    o.host_memory = (uint64_t)(all / 2);
    o.direct = 1;
    plan = plan_of(c, many, MOTET_CT_FDK, &o);
    assert_int_equal(json_array_size(json_object_get(plan, "operations")), 1);
    assert_true(whole(plan, "held_bytes") < all / 4);
    json_decref(plan);
    motet_ct_geometry_free(many);
    motet_ct_geometry *slices = geometry_of(c, 10, 16, 16);
    char *text = NULL;
    assert_status(c, motet_ct_plan(slices, MOTET_CT_FDK, NULL, &text), MOTET_UNSUPPORTED);
    motet_ct_geometry_free(slices);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_planned_is_what_runs),
        cmocka_unit_test(devices_that_are_not_there_are_planned_for),
        cmocka_unit_test(reconstructions_are_planned_by_the_slab),
        cmocka_unit_test(a_scan_is_planned_with_its_frames),
        cmocka_unit_test(padding_is_planned),
        cmocka_unit_test(views_may_stand_for_more),
        cmocka_unit_test(the_weights_of_the_context_are_heeded),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(views_in_space_are_planned),
        cmocka_unit_test(filtered_back_projection_is_planned),
        cmocka_unit_test(failing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
