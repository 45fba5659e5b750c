/* JSON that is composed without looking at each answer: whichever allocation fails, what is written
 * is whole, or it is known that memory was lacking. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_memory.c"
#include "support/support.h"

static int64_t left = -1; /* allocations until one fails; -1: none does */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    if (left >= 0 && left-- == 0) return NULL;
    return __real_malloc(bytes);
}

/* As commands do it. */
static char *compose(void)
{
    json_t *report = json_object(), *list = json_array(), *one = json_object();
    for (int i = 0; i < 20; i++) json_array_append_new(list, json_integer(i));
    json_object_set_new(one, "path", json_string("a.npy"));
    json_object_set_new(one, "digest", json_null());
    json_object_set_new(report, "inputs", list);
    json_object_set_new(report, "file", one);
    json_object_set_new(report, "timing", json_pack("{s:f, s:[i, i]}", "seconds", 1.5, "of", 3, 4));
    char *text = json_dumps(report, JSON_SORT_KEYS);
    json_decref(report);
    return text;
}

static void what_lacks_memory_is_whole_or_known(void **state)
{
    (void)state;
    json_memory_watch();
    char *whole = compose();
    assert_non_null(whole);
    assert_false(json_memory_lacked());
    int known = 0, parts = 0;
    for (int64_t nth = 0;; nth++) {
        lacked = 0;
        left = nth;
        char *text = compose();
        const int failed = left < 0;
        left = -1;
        if (json_memory_lacked()) {
            known++;
            parts += text && strcmp(text, whole);
        } else {
            assert_non_null(text);
            assert_string_equal(text, whole);
        }
        free(text);
        if (!failed) break;
    }
    assert_true(known > 20 && parts > 10); /* without it these would pass for whole */
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_lacks_memory_is_whole_or_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
