/* Failing allocations while views are made, read, written and checked: NO_MEMORY, nothing written,
 * nothing left behind. */
#include "support/support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef motet_status step_fn(motet_context *c, void *user);

/* Fails allocation 1, 2, ... of the step, once and for good, until it gets through. */
static void sweep(step_fn *step, void *user)
{
    motet_context *c = test_context_failing(0, 0);
    assert_ok(c, step(c, user));
    for (int forever = 0; forever < 2; forever++) {
        int64_t n = 1;
        for (; n < 200; n++) {
            motet_memory before, after;
            motet_context_report_reset(c);
            motet_context_memory(c, &before);
            test_context_fail_at(c, n, forever);
            const motet_status st = step(c, user);
            const int failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            motet_context_report_reset(c);
            motet_context_memory(c, &after);
            assert_int_equal(after.now, before.now);
            assert_int_equal(after.blocks, before.blocks);
            if (!failed) {
                assert_ok(c, st);
                break;
            }
            assert_status(c, st, MOTET_NO_MEMORY);
        }
        assert_true(n > 1 && n < 200);
    }
    motet_context_free(c);
}

static motet_ct_views sizes(void)
{
    motet_ct_views v;
    motet_ct_views_init(&v);
    v.columns = 6, v.rows = 5;
    v.nx = v.ny = v.nz = 4;
    v.pitch_u = v.pitch_v = 0.5; /* as the vectors have it: a warning may be lost without memory */
    return v;
}

typedef struct reading {
    char path[1024];
    int whole; /* the file says everything */
} reading;

/* Reads, or leaves what the outcome was. */
static motet_status reads(motet_context *c, void *user)
{
    const reading *r = user;
    const motet_ct_views given = sizes();
    motet_ct_views read, before;
    memset(&read, 0x5a, sizeof read);
    memcpy(&before, &read, sizeof read);
    const motet_status st =
        motet_ct_views_read(c, r->path, MOTET_CT_GEOMETRY_AUTO, r->whole ? NULL : &given, &read);
    if (st == MOTET_OK)
        motet_ct_views_release(c, &read);
    else
        assert_memory_equal(&read, &before, sizeof read);
    return st;
}

static void reading_every_format(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int whole;
    } files[] = {{"views.json", 1},   {"path.json", 1},    {"angles.json", 1},  {"cone_vec.txt", 0},
                 {"cone_vec.npy", 0}, {"cone_vec.npz", 0}, {"circular.xml", 0}, {"modular.txt", 1}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        reading r = {.whole = files[i].whole};
        snprintf(r.path, sizeof r.path, "%s/tests/fuzz/corpus/geometry/%s", MOTET_SOURCE,
                 files[i].name);
        sweep(reads, &r);
    }
}

static motet_status makes_checks_and_writes(motet_context *c, void *user)
{
    motet_ct_views v = sizes(), made;
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.sid = 20, t.sdd = 30, t.arc = 1, t.shift_u = 5;
    v.views = 7;
    motet_ct_geometry *g = NULL;
    motet_ct_check check = {.warnings = 77};
    char *texts = NULL;
    motet_status st = motet_ct_trajectory_make(c, &t, &v, &made);
    if (st != MOTET_OK) return st;
    st = motet_ct_geometry_create(c, &made, &g);
    if (st == MOTET_OK) {
        st = motet_ct_geometry_check(g, &check, &texts);
        if (st == MOTET_OK) {
            assert_true(check.warnings > 1);
            motet_text_free(c, texts);
        } else {
            assert_int_equal(check.warnings, 77);
            assert_null(texts);
        }
    }
    motet_ct_geometry_free(g);
    if (st == MOTET_OK) {
        st = motet_ct_views_write(c, &made, user, 0);
        if (st == MOTET_OK)
            assert_int_equal(unlink(user), 0);
        else
            assert_int_equal(access(user, F_OK), -1);
    }
    motet_ct_views_release(c, &made);
    return st;
}

static void making_checking_and_writing(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", test_path("made.json"));
    sweep(makes_checks_and_writes, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_every_format),
        cmocka_unit_test(making_checking_and_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
