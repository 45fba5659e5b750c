/* Folders of pages: order of names, whole or nothing, what is never overwritten. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

static motet_context *c;

static int set_up(void **state)
{
    (void)state;
    c = test_context();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    motet_context_free(c);
    return 0;
}

static const char *in(const char *folder, const char *name)
{
    char both[512];
    snprintf(both, sizeof both, "%s/%s", folder, name);
    return test_path(both);
}

static void write_page(const char *path, motet_type type, int64_t columns, int value)
{
    const motet_store_info info = {.type = type, .axes = 2, .shape = {2, columns}};
    unsigned char data[2 * 8 * 8];
    memset(data, value, sizeof data);
    motet_store *s;
    assert_ok(c, motet_store_create(c, path, NULL, &info, 0, &s));
    assert_ok(c, motet_store_write(s, 0, 2, data));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
}

static int count_files(const char *path)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    int count = -2; /* . and .. */
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

/* Pages come in the order of their numbers, whatever zeros are before them; other files are passed
 * over. */
static void natural_order(void **state)
{
    (void)state;
    const char *const names[] = {"page1.tif",  "page2.tif",   "page03.TIF", "page10.tiff",
                                 "page11.tif", "page100.tif", "pageb.tif"};
    assert_int_equal(mkdir(test_path("order"), 0777), 0);
    for (int i = 6; i >= 0; i--) write_page(in("order", names[i]), MOTET_U8, 3, i);
    FILE *f = fopen(in("order", "log.txt"), "w");
    assert_non_null(f);
    fclose(f);
    motet_store *s;
    motet_store_info info;
    assert_ok(c, motet_store_open(c, test_path("order"), NULL, &s));
    motet_store_describe(s, &info);
    assert_string_equal(info.format, "stack");
    assert_int_equal(info.axes, 3);
    assert_int_equal(info.shape[0], 7);
    assert_int_equal(info.shape[1], 2);
    assert_int_equal(info.shape[2], 3);
    unsigned char data[7][6];
    assert_ok(c, motet_store_read(s, 0, 7, MOTET_U8, data));
    for (int i = 0; i < 7; i++) assert_int_equal(data[i][5], i);
    motet_store_free(s);
}

/* PNG pages make a stack too. */
static void stack_of_png(void **state)
{
    (void)state;
    assert_int_equal(mkdir(test_path("png"), 0777), 0);
    write_page(in("png", "a1.png"), MOTET_U8, 3, 1);
    write_page(in("png", "a2.png"), MOTET_U8, 3, 2);
    motet_store *s;
    unsigned char data[12];
    assert_ok(c, motet_store_open(c, test_path("png/"), NULL, &s));
    assert_ok(c, motet_store_read(s, 0, 2, MOTET_U8, data));
    assert_int_equal(data[5], 1);
    assert_int_equal(data[6], 2);
    motet_store_free(s);
}

/* A page of another size or number format is named when the stack is opened. */
static void pages_that_differ_are_named(void **state)
{
    (void)state;
    motet_store *s;
    assert_int_equal(mkdir(test_path("differ"), 0777), 0);
    write_page(in("differ", "1.tif"), MOTET_U8, 3, 1);
    write_page(in("differ", "2.tif"), MOTET_U8, 4, 1);
    assert_status(c, motet_store_open(c, test_path("differ"), NULL, &s), MOTET_BAD_DATA);
    assert_message(c, "2.tif", "2 x 4", "1.tif", "2 x 3", NULL);
    assert_int_equal(unlink(in("differ", "2.tif")), 0);
    write_page(in("differ", "3.tif"), MOTET_U16, 3, 1);
    assert_status(c, motet_store_open(c, test_path("differ"), NULL, &s), MOTET_BAD_DATA);
    assert_message(c, "3.tif", "uint16", "uint8", NULL);
    assert_int_equal(mkdir(test_path("bare"), 0777), 0);
    assert_status(c, motet_store_open(c, test_path("bare"), NULL, &s), MOTET_UNSUPPORTED);
}

static motet_status write_stack(const char *path, int64_t pages, int value, int overwrite)
{
    const motet_store_info info = {
        .type = MOTET_F32, .axes = 3, .shape = {pages, 2, 3}, .spacing = {0, 0.5, 0.25}};
    motet_store *s;
    const motet_status st = motet_store_create(c, path, NULL, &info, overwrite, &s);
    if (st != MOTET_OK) return st;
    float page[6];
    for (int64_t i = 0; i < pages; i++) {
        for (int k = 0; k < 6; k++) page[k] = (float)(value + i);
        assert_ok(c, motet_store_write(s, i, 1, page));
    }
    const motet_status committed = motet_store_commit(s);
    motet_store_free(s);
    return committed;
}

/* A folder appears whole, is refused when it exists, and is swapped when it may be overwritten. */
static void whole_or_nothing(void **state)
{
    (void)state;
    const char *path = test_path("out/");
    assert_ok(c, write_stack(path, 12, 1, 0));
    assert_int_equal(count_files(path), 12);
    assert_status(c, write_stack(path, 3, 50, 0), MOTET_EXISTS);
    assert_int_equal(count_files(path), 12);
    assert_ok(c, write_stack(path, 3, 50, 1));
    assert_int_equal(count_files(path), 3);
    motet_store *s;
    motet_store_info info;
    float page[6];
    assert_ok(c, motet_store_open(c, path, NULL, &s));
    motet_store_describe(s, &info);
    assert_true(info.spacing[1] == 0.5 && info.spacing[2] == 0.25);
    assert_ok(c, motet_store_read(s, 2, 1, MOTET_F32, page));
    assert_true(page[0] == 52 && page[5] == 52);
    motet_store_free(s);

    /* Dropped half-way: nothing beside it is left. */
    const int before = count_files(test_folder());
    const motet_store_info larger = {.type = MOTET_F32, .axes = 3, .shape = {4, 2, 3}};
    assert_ok(c, motet_store_create(c, test_path("dropped/"), NULL, &larger, 0, &s));
    assert_ok(c, motet_store_write(s, 0, 1, page));
    assert_status(c, motet_store_commit(s), MOTET_BAD_ARGUMENT);
    motet_store_free(s);
    assert_int_equal(count_files(test_folder()), before);
}

/* A folder that holds anything but pages is not overwritten, not even when asked to. */
static void never_removes_other_files(void **state)
{
    (void)state;
    assert_int_equal(mkdir(test_path("home"), 0777), 0);
    FILE *f = fopen(in("home", "thesis.txt"), "w");
    assert_non_null(f);
    fclose(f);
    assert_status(c, write_stack(test_path("home/"), 3, 1, 1), MOTET_EXISTS);
    assert_message(c, "thesis.txt", NULL);
    assert_int_equal(access(in("home", "thesis.txt"), F_OK), 0);
    assert_int_equal(unlink(in("home", "thesis.txt")), 0);
    assert_int_equal(mkdir(in("home", "below.tif"), 0777), 0);
    assert_status(c, write_stack(test_path("home/"), 3, 1, 1), MOTET_EXISTS);
}

/* Pages that could not be removed afterwards are not replaced, and neither is a link to a folder:
 * both are known before a page is written. */
static void what_cannot_be_replaced_is_refused_first(void **state)
{
    (void)state;
    assert_status(c, write_stack(test_path("guarded/"), 2, 1, 0), MOTET_OK);
    assert_int_equal(symlink("guarded", test_path("link")), 0);
    const int before = count_files(test_folder());
    assert_status(c, write_stack(test_path("link/"), 2, 1, 1), MOTET_EXISTS);
    assert_message(c, "link/", "symbolic link", NULL);
    assert_int_equal(chmod(test_path("guarded"), 0500), 0);
    if (geteuid()) { /* root may do anything */
        assert_status(c, write_stack(test_path("guarded/"), 2, 1, 1), MOTET_IO);
        assert_message(c, "guarded/", "cannot be removed", NULL);
    }
    assert_int_equal(count_files(test_path("guarded")), 2);
    assert_int_equal(count_files(test_folder()), before);
    assert_int_equal(chmod(test_path("guarded"), 0700), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(natural_order),
        TEST(stack_of_png),
        TEST(pages_that_differ_are_named),
        TEST(whole_or_nothing),
        TEST(never_removes_other_files),
        TEST(what_cannot_be_replaced_is_refused_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
