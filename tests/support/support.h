/* What every test needs: cmocka, a context, random numbers, scratch folders, data that may be
 * absent. */
#ifndef MOTET_TEST_SUPPORT_H
#define MOTET_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <motet/motet.h>

/* Fails the test with the context's error when `call` is not MOTET_OK. */
#define assert_ok(context, call) test_status((context), (call), MOTET_OK, #call, __FILE__, __LINE__)
#define assert_status(context, call, expected)                                                     \
    test_status((context), (call), (expected), #call, __FILE__, __LINE__)
void test_status(const motet_context *context, motet_status got, motet_status expected,
                 const char *call, const char *file, int line);
/* The last error's message contains every one of these words (NULL ends the list). */
void assert_message(const motet_context *context, ...) __attribute__((sentinel));

motet_context *test_context(void); /* defaults; free with motet_context_free */
/* As test_context, with an allocator that fails the nth allocation (1, 2, ...), and from then on if
 * `forever`. */
motet_context *test_context_failing(int64_t nth, int forever);
/* 1 if the failing allocation was reached. */
int test_context_failed(const motet_context *context);
/* Sets the countdown anew on a context made by test_context_failing (0: never fails). */
void test_context_fail_at(motet_context *context, int64_t nth, int forever);

uint64_t test_random(uint64_t *state); /* splitmix64 */
double test_uniform(uint64_t *state, double low, double high);

/* A fresh empty folder below the build tree, removed at exit. */
const char *test_folder(void);
/* "folder/name", in a buffer that lives until the program ends. */
const char *test_path(const char *name);
/* Path of a file of the test data, or NULL. Programs that need it begin with test_need_data, which
 * prints the reason and exits with 77 when it is absent. */
void test_need_data(const char *relative);
const char *test_data(const char *relative);

#endif
