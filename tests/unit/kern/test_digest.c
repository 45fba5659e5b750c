#include <string.h>

#include "kern/digest.h"
#include "support/support.h"

static void expect(digest d, const char *text)
{
    char got[33];
    digest_text(d, got);
    assert_string_equal(got, text);
}

/* The hash is XXH3-128 as published: what xxh128sum prints. */
static void bytes_match_the_published_hash(void **state)
{
    (void)state;
    expect(digest_bytes("", 0), "99aa06d3014798d86001c324468d497f");
    expect(digest_bytes("abc", 3), "06b05ab6733a618578af5f94892f3950");
}

enum { ROWS = 23, COLUMNS = 1500 };
static float values[ROWS][COLUMNS];

static void fill(void)
{
    uint64_t s = 7;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) values[i][j] = (float)test_uniform(&s, -1.0, 1.0);
}

static digest whole(motet_type type, const int64_t *shape)
{
    digest_rows s;
    digest_rows_begin(&s, type, 2, shape);
    digest_rows_add(&s, values, ROWS, sizeof values[0], 4);
    return digest_rows_end(&s);
}

/* P1: portions in which rows arrive never matter, nor where the state lies. */
static void portions_do_not_matter(void **state)
{
    (void)state;
    fill();
    const int64_t shape[] = {ROWS, COLUMNS};
    const digest want = whole(MOTET_F32, shape);
    struct {
        char odd;
        digest_rows s;
    } place, copy;
    for (int64_t portion = 1; portion <= ROWS; portion++) {
        digest_rows_begin(&place.s, MOTET_F32, 2, shape);
        for (int64_t i = 0; i < ROWS; i += portion) {
            const int64_t count = ROWS - i < portion ? ROWS - i : portion;
            digest_rows_add(&place.s, values[i], count, sizeof values[0], 4);
            (void)digest_rows_end(&place.s);
            copy = place;
            place = copy;
        }
        assert_true(digest_equal(digest_rows_end(&place.s), want));
    }
}

/* Type, shape, any bit and the order of rows all show. */
static void every_difference_shows(void **state)
{
    (void)state;
    fill();
    const int64_t shape[] = {ROWS, COLUMNS}, other[] = {ROWS * 2, COLUMNS / 2};
    const digest want = whole(MOTET_F32, shape);
    assert_false(digest_equal(whole(MOTET_I32, shape), want));
    assert_false(digest_equal(whole(MOTET_F32, other), want));
    uint32_t bits;
    memcpy(&bits, &values[11][700], 4);
    bits ^= 1;
    memcpy(&values[11][700], &bits, 4);
    assert_false(digest_equal(whole(MOTET_F32, shape), want));
    fill();
    float row[COLUMNS];
    memcpy(row, values[3], sizeof row);
    memcpy(values[3], values[4], sizeof row);
    memcpy(values[4], row, sizeof row);
    assert_false(digest_equal(whole(MOTET_F32, shape), want));
}

/* The stated composition, put together by hand: header words, then row digests, all little-endian.
 */
static void composition_is_as_documented(void **state)
{
    (void)state;
    fill();
    unsigned char bytes[32 + 16 * ROWS];
    const uint64_t header[] = {MOTET_F32, 2, ROWS, COLUMNS};
    memcpy(bytes, header, 32);
    for (int i = 0; i < ROWS; i++) {
        const digest d = digest_bytes(values[i], sizeof values[i]);
        memcpy(bytes + 32 + 16 * i, &d.low, 8);
        memcpy(bytes + 40 + 16 * i, &d.high, 8);
    }
    const int64_t shape[] = {ROWS, COLUMNS};
    assert_true(digest_equal(digest_bytes(bytes, sizeof bytes), whole(MOTET_F32, shape)));
}

/* A host of the other byte order gets the digest of the little-endian values. */
static void swapped_values_give_the_same_digest(void **state)
{
    (void)state;
    fill();
    static unsigned char swapped[sizeof values];
    const unsigned char *in = (const unsigned char *)values;
    for (size_t width = 1; width <= 8; width *= 2) {
        for (size_t i = 0; i < sizeof values; i++) {
            const size_t base = i / width * width;
            swapped[i] = in[base + width - 1 - (i - base)];
        }
        assert_true(digest_equal(digest_bytes_swapped(swapped, sizeof swapped, width),
                                 digest_bytes(values, sizeof values)));
    }
}

/* Empty arrays have digests, and they differ by shape. */
static void empty_arrays_differ_by_shape(void **state)
{
    (void)state;
    digest_rows s;
    digest_rows_begin(&s, MOTET_F32, 2, (const int64_t[]){0, 5});
    const digest a = digest_rows_end(&s);
    digest_rows_begin(&s, MOTET_F32, 2, (const int64_t[]){5, 0});
    digest_rows_add(&s, values, 5, 0, 4);
    assert_false(digest_equal(a, digest_rows_end(&s)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_match_the_published_hash),
        cmocka_unit_test(portions_do_not_matter),
        cmocka_unit_test(every_difference_shows),
        cmocka_unit_test(composition_is_as_documented),
        cmocka_unit_test(swapped_values_give_the_same_digest),
        cmocka_unit_test(empty_arrays_differ_by_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
