#include "support/support.h"

#include <string.h>

/* A new array is zeroed, knows its shape and is freed with its memory. */
static void an_array_begins_as_zeros(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_memory before, after;
    motet_context_memory(c, &before);
    motet_array *a;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){2, 3, 5}, &a));
    assert_int_equal(motet_array_elements(a), 30);
    assert_int_equal(motet_array_size(a, 2), 5);
    assert_int_equal(motet_array_size(a, 3), 0);
    assert_int_equal(motet_array_size(a, -1), 0);
    const float *data = motet_array_data(a);
    for (int i = 0; i < 30; i++) assert_true(data[i] == 0.0f);
    motet_array_free(a);
    motet_array_free(NULL);
    motet_context_memory(c, &after);
    assert_int_equal(before.now, after.now);
    motet_context_free(c);
}

/* Shapes that cannot be are refused with the axis and the value; empty ones are fine. */
static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    motet_context_options o;
    motet_context_options_init(&o);
    o.host_memory = 1 << 20; /* a sanitizer's allocator would not answer NULL */
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    motet_array *a = NULL;
    assert_status(c, motet_array_create(c, MOTET_U8, 0, (int64_t[]){1}, &a), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_array_create(c, MOTET_U8, 7, (int64_t[]){1, 1, 1, 1, 1, 1, 1}, &a),
                  MOTET_BAD_ARGUMENT);
    assert_status(c, motet_array_create(c, MOTET_U8, 2, (int64_t[]){4, -3}, &a),
                  MOTET_BAD_ARGUMENT);
    assert_message(c, "axis 1", "-3", NULL);
    assert_status(c, motet_array_create(c, (motet_type)99, 1, (int64_t[]){4}, &a),
                  MOTET_BAD_ARGUMENT);
    const int64_t huge = (int64_t)1 << 31;
    assert_status(c, motet_array_create(c, MOTET_U16, 2, (int64_t[]){huge, huge}, &a),
                  MOTET_BAD_ARGUMENT);
    assert_status(c, motet_array_create(c, MOTET_U8, 3, (int64_t[]){0, INT64_MAX, 2}, &a),
                  MOTET_BAD_ARGUMENT);
    assert_status(c, motet_array_create(c, MOTET_F64, 1, (int64_t[]){INT64_MAX / 8 - 100}, &a),
                  MOTET_NO_MEMORY);
    assert_null(a);
    assert_ok(c, motet_array_create(c, MOTET_F32, 2, (int64_t[]){0, 7}, &a));
    assert_int_equal(motet_array_elements(a), 0);
    assert_string_equal(motet_type_text(MOTET_F32), "float32");
    assert_string_equal(motet_type_text((motet_type)99), "unknown");
    char empty[33];
    assert_ok(c, motet_array_digest(a, empty)); /* no rows, no bytes: its shape */
    motet_array_free(a);
    motet_array *b = NULL;
    assert_status(c, motet_array_wrap(c, NULL, MOTET_F32, 0, (int64_t[]){1}, 0, &b),
                  MOTET_BAD_ARGUMENT);
    assert_null(b);
    motet_context_free(c);
}

/* Wrapping takes the caller's memory as it is, and refuses what kernels could not read. */
static void wrapping_checks_the_data(void **state)
{
    (void)state;
    motet_context *c = test_context();
    _Alignas(8) char bytes[64] = {0};
    motet_array *a = NULL;
    assert_status(c, motet_array_wrap(c, bytes + 1, MOTET_F32, 1, (int64_t[]){4}, 0, &a),
                  MOTET_BAD_ARGUMENT);
    assert_message(c, "aligned", "float32", NULL);
    assert_status(c, motet_array_wrap(c, NULL, MOTET_F32, 1, (int64_t[]){4}, 0, &a),
                  MOTET_BAD_ARGUMENT);
    assert_status(c, motet_array_wrap(c, bytes, MOTET_F32, 1, (int64_t[]){4}, 2, &a),
                  MOTET_BAD_ARGUMENT);
    assert_ok(c, motet_array_wrap(c, NULL, MOTET_F32, 1, (int64_t[]){0}, 0, &a));
    motet_array_free(a);
    assert_ok(c, motet_array_wrap(c, bytes, MOTET_F32, 1, (int64_t[]){16}, MOTET_WRITE_DIRECT, &a));
    assert_ptr_equal(motet_array_data(a), bytes);
    motet_array_free(a);
    motet_context_free(c);
}

/* The digest tells type, shape and values apart, and nothing else. */
static void the_digest_names_the_bits(void **state)
{
    (void)state;
    motet_context *c = test_context();
    int32_t values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, same[12];
    memcpy(same, values, sizeof same);
    struct {
        void *data;
        motet_type type;
        int axes;
        int64_t shape[3];
    } cases[] = {{values, MOTET_I32, 2, {3, 4}},
                 {values, MOTET_I32, 2, {4, 3}},
                 {values, MOTET_I32, 3, {3, 4, 1}},
                 {values, MOTET_F32, 2, {3, 4}},
                 {same, MOTET_I32, 2, {3, 4}}};
    char digests[5][33];
    for (int i = 0; i < 5; i++) {
        motet_array *a;
        assert_ok(c, motet_array_wrap(c, cases[i].data, cases[i].type, cases[i].axes,
                                      cases[i].shape, 0, &a));
        assert_ok(c, motet_array_digest(a, digests[i]));
        assert_int_equal(strlen(digests[i]), 32);
        motet_array_free(a);
        for (int j = 0; j < i; j++)
            assert_int_equal(strcmp(digests[i], digests[j]) == 0, i == 4 && j == 0);
    }
    same[11]++;
    motet_array *a;
    char other[33];
    assert_ok(c, motet_array_wrap(c, same, MOTET_I32, 2, (int64_t[]){3, 4}, 0, &a));
    assert_ok(c, motet_array_digest(a, other));
    assert_string_not_equal(other, digests[0]);
    motet_array_free(a);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_begins_as_zeros), cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(wrapping_checks_the_data), cmocka_unit_test(the_digest_names_the_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
