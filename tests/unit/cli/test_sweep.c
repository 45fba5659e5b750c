#include "support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The command's own files: they are in no library. */
#include "cli/child.c"
#include "cli/sweep.c"

static void make(const char *name)
{
    FILE *file = fopen(test_path(name), "w");
    assert_non_null(file);
    fputs(name, file);
    fclose(file);
}

static void make_folder(const char *name) { assert_int_equal(mkdir(test_path(name), 0777), 0); }

static int is_there(const char *name)
{
    struct stat s;
    return !lstat(test_path(name), &s);
}

static void tell(sweep *s, const char *name)
{
    struct stat of;
    assert_int_equal(lstat(test_path(name), &of), 0);
    sweep_file(s, of.st_dev, of.st_ino);
}

/* What a process wrote beside its outputs goes with it, files and folders; what others write stays.
 */
static void what_it_was_writing_is_removed(void **state)
{
    (void)state;
    sweep s = {.outputs = 0};
    sweep_mark(&s, "00000000000000aa");
    make(".motet-00000000000000aa-00112233445566aa.part");
    make(".w.json.motet-00000000000000aa-abcdef");
    make_folder(".motet-00000000000000aa-0011.part");
    make(".motet-00000000000000aa-0011.part/page1.tif");
    make(".motet-00000000000000ab-00112233445566aa.part");
    make(".motet-00000000000000aa5-00112233445566aa.part");
    make("motet-00000000000000aa-mine");
    make("w.npy");
    sweep_output(&s, test_path("w.npy"));
    sweep_output(&s, test_path("w.json"));
    sweep_after(&s, 0);
    assert_false(is_there(".motet-00000000000000aa-00112233445566aa.part"));
    assert_false(is_there(".w.json.motet-00000000000000aa-abcdef"));
    assert_false(is_there(".motet-00000000000000aa-0011.part"));
    assert_true(is_there(".motet-00000000000000ab-00112233445566aa.part"));
    assert_true(is_there(".motet-00000000000000aa5-00112233445566aa.part"));
    assert_true(is_there("motet-00000000000000aa-mine"));
    assert_true(is_there("w.npy"));
    sweep_free(&s);
}

/* What it had put in place before it could say that all was done is removed, so that a fresh
 * process is not refused; somebody else's file of that name stays. */
static void what_it_had_put_in_place_is_removed(void **state)
{
    (void)state;
    for (int keeps = 0; keeps < 2; keeps++) {
        sweep s = {.outputs = 0};
        make("ours.npy");
        make("theirs.png");
        make_folder("pages");
        make("pages/page1.tif");
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/", test_path("pages"));
        sweep_output(&s, test_path("ours.npy"));
        sweep_output(&s, test_path("theirs.png"));
        sweep_output(&s, test_path("never.tif"));
        sweep_output(&s, folder);
        tell(&s, "ours.npy");
        tell(&s, "pages");
        sweep_after(&s, keeps);
        assert_int_equal(is_there("ours.npy"), keeps);
        assert_int_equal(is_there("pages"), keeps);
        assert_true(is_there("theirs.png"));
        sweep_after(&s, 0); /* what one told does not count for the next */
        assert_int_equal(is_there("ours.npy"), keeps);
        remove(test_path("pages/page1.tif"));
        remove(test_path("pages"));
        sweep_free(&s);
    }
}

/* They are taken out of the list by name, whatever the list calls them. */
static void devices_are_left_out_by_name(void **state)
{
    (void)state;
    char out[64];
    child.is = 1;
    strcpy(child.out, "sim:1,cuda:0");
    assert_string_equal(child_devices("sim:1@seed=3,GPU-1f/cpu", out, sizeof out),
                        "sim:1@seed=3,GPU-1f/cpu,-sim:1,-cuda:0");
    assert_string_equal(child_devices("auto", out, sizeof out), "auto,-sim:1,-cuda:0");
    assert_string_equal(child_devices("auto", out, 10), "auto"); /* no room: none is */
    *child.out = 0;
    assert_string_equal(child_devices("sim:1,cpu", out, sizeof out), "sim:1,cpu");
    child.is = 0;
}

static void the_variable_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_true(read_variable("12:5:1:1000:7,8,9:sim:1,sim:2"));
    assert_int_equal(child.parent, 12);
    assert_int_equal(child.socket, 5);
    assert_int_equal(child.returns, 1);
    assert_int_equal(child.bytes, 1000);
    assert_int_equal(child.count, 3);
    assert_int_equal(child.files[2], 9);
    assert_string_equal(child.out, "sim:1,sim:2");
    child.count = 0;
    assert_true(read_variable("12:5:0:1000::"));
    assert_int_equal(child.count, 0);
    assert_string_equal(child.out, "");
    static const char *const bad[] = {"",           "12",         "12:5",         "12:5:0:1",
                                      "a:5:0:1:7:", "12:5:0:1:7", "12:5:0:1:7;8:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        child.count = 0;
        assert_false(read_variable(bad[i]));
    }
    child.count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_was_writing_is_removed),
        cmocka_unit_test(what_it_had_put_in_place_is_removed),
        cmocka_unit_test(devices_are_left_out_by_name),
        cmocka_unit_test(the_variable_is_read_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
