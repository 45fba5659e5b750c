#include "base/number.h"
#include "support/support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits(double value)
{
    uint64_t b;
    memcpy(&b, &value, sizeof b);
    return b;
}

static void check_parse(const char *text)
{
    double got;
    if (!number_real(text, &got) || bits(got) != bits(strtod(text, NULL))) {
        print_error("%.60s... read as %a, expected %a\n", text, got, strtod(text, NULL));
        fail();
    }
}

/* Reading rounds once, to nearest, ties to even: as the C library does in the C locale. */
static void reading_is_correctly_rounded(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "0.1",
                                        "1e23",
                                        "9007199254740993",
                                        "9007199254740992.99999999999999999999",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1e-400",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "123456789012345678901234567890e-10",
                                        "0e99999999999",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "00000000000000000000001.5",
                                        ".5",
                                        "5.",
                                        "+7.25e+2",
                                        "6.631236846766476e-316",
                                        "3.2378839133029012895883524125015321748630094e-319"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_parse(texts[i]);
    uint64_t seed = 1;
    for (int i = 0; i < 40000; i++) {
        char text[128], *p = text;
        const int count = 1 + (int)(test_random(&seed) % 40);
        for (int k = 0; k < count; k++) {
            *p++ = (char)('0' + test_random(&seed) % 10);
            if (k == count / 2 && i % 2) *p++ = '.';
        }
        snprintf(p, 16, "e%d", (int)(test_random(&seed) % 720) - 370);
        check_parse(text);
    }
}

/* Half-way points go to even; one digit 1 more, a thousand digits behind, goes up. */
static void half_way_points_are_decided_exactly(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 3000; i++) {
        uint64_t b = test_random(&seed) >> 1;
        if (i % 3 == 0) b &= 0xfffffffffffffu; /* subnormals */
        double low;
        memcpy(&low, &b, sizeof low);
        const double high = nextafter(low, INFINITY);
        if (!(high < INFINITY)) continue;
        char text[1300];
        snprintf(text, sizeof text, "%.1100Le", ((long double)low + (long double)high) / 2);
        check_parse(text);
        char power[16], *e = strchr(text, 'e');
        snprintf(power, sizeof power, "%s", e);
        snprintf(e - 1, 20, "1%s", power);
        check_parse(text);
    }
}

/* What is printed reads back to the same bits, for doubles and floats of every kind. */
static void printing_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 60000; i++) {
        uint64_t b = test_random(&seed);
        if (i % 3 == 0) b &= 0x800fffffffffffffu;
        double value, back;
        memcpy(&value, &b, sizeof value);
        char text[NUMBER_TEXT];
        assert_true(number_real(number_text(value, text), &back));
        assert_true(value != value ? back != back : bits(value) == bits(back));
        const uint32_t narrow_bits = (uint32_t)(b >> (i % 2 ? 0 : 17));
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        const float narrow_back = strtof(number_text_f32(narrow, text), NULL);
        assert_true(narrow != narrow ? narrow_back != narrow_back : narrow == narrow_back);
    }
}

/* No text with fewer digits reads back to the same value. */
static void printing_is_shortest(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1e-7, "1e-07"},
                 {1, "1"},
                 {-2.5, "-2.5"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e+16"},
                 {123456, "123456"},
                 {1e-4, "0.0001"},
                 {1.5e300, "1.5e+300"},
                 {5e-324, "5e-324"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {-0.0, "-0"},
                 {NAN, "nan"},
                 {-INFINITY, "-inf"},
                 {100, "100"},
                 {1.0 / 3, "0.3333333333333333"}};
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number_text(cases[i].value, text), cases[i].text);
    assert_string_equal(number_text_f32(0.1f, text), "0.1");
    assert_string_equal(number_text_f32(16777216.0f, text), "16777216");
    assert_string_equal(number_text_f32(1e-45f, text), "1e-45");
    uint64_t seed = 4;
    for (int i = 0; i < 3000; i++) {
        const uint64_t b = test_random(&seed);
        double value;
        memcpy(&value, &b, sizeof value);
        if (!(fabs(value) < INFINITY)) continue;
        number_text(value, text);
        int digits = 0;
        for (const char *p = text; *p && *p != 'e'; p++) digits += *p >= '0' && *p <= '9';
        if (!strchr(text, 'e')) continue; /* there, zeros around the point are not digits */
        char fewer[64];
        if (digits > 1) {
            snprintf(fewer, sizeof fewer, "%.*e", digits - 2, value);
            assert_true(strtod(fewer, NULL) != value);
        }
    }
}

/* The C library as a locale with a decimal comma makes it: such locales need not be installed here.
 * The linker sends every snprintf of this program through this one. */
static int with_comma;
int __wrap_snprintf(char *out, size_t bytes, const char *format, ...);
int __wrap_snprintf(char *out, size_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(out, bytes, format, list);
    va_end(list);
    for (size_t i = 0; with_comma && i < bytes && out[i]; i++)
        if (out[i] == '.') out[i] = ',';
    return length;
}

/* A decimal comma in the locale changes neither reading nor printing. */
static void the_locale_does_not_matter(void **state)
{
    (void)state;
    char text[NUMBER_TEXT], narrow[NUMBER_TEXT], large[NUMBER_TEXT], comma[16];
    double value = 0;
    with_comma = 1;
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    const int read = number_real("1.5", &value), wrong = number_real("1,5", &value);
    number_text(1.5, text);
    number_text_f32(-0.15625f, narrow);
    number_text(1.25e300, large);
    with_comma = 0;
    assert_string_equal(comma, "1,5");
    assert_true(read && !wrong && value == 1.5);
    assert_string_equal(text, "1.5");
    assert_string_equal(narrow, "-0.15625");
    assert_string_equal(large, "1.25e+300");
}

/* Only the whole text counts: what a C library would let pass is refused. */
static void texts_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const reals[] = {"",   " 1",  "1 ",  "0x10",  "1e",      "1e+",
                                        ".",  "-",   "+-1", "1.2.3", "infx",    "nan(1)",
                                        "e5", "1,5", "--1", "1f",    "\xd9\xa1"};
    static const char *const wholes[] = {"",
                                         "-",
                                         "1.0",
                                         "1e3",
                                         "0x1",
                                         " 1",
                                         "9223372036854775808",
                                         "-9223372036854775809",
                                         "99999999999999999999999"};
    static const char *const sizes[] = {"",    "-1",    "1B",   "1KB",
                                        "1iB", "1GiBs", "1.5G", "18014398509481984K",
                                        "K",   "1@",    "1k ",  "1\v"};
    double real = 7;
    int64_t whole = 7;
    uint64_t size = 7;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        assert_false(number_real(reals[i], &real));
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        assert_false(number_whole(wholes[i], &whole));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_false(number_bytes(sizes[i], &size));
    assert_true(real == 7 && whole == 7 && size == 7);
}

/* The ends of the ranges, signs and units. */
static void whole_numbers_reach_their_ends(void **state)
{
    (void)state;
    int64_t whole;
    uint64_t size;
    assert_true(number_whole("-9223372036854775808", &whole) && whole == INT64_MIN);
    assert_true(number_whole("9223372036854775807", &whole) && whole == INT64_MAX);
    assert_true(number_whole("+12", &whole) && whole == 12);
    assert_true(number_bytes("18446744073709551615", &size) && size == UINT64_MAX);
    assert_true(number_bytes("4G", &size) && size == (uint64_t)4 << 30);
    assert_true(number_bytes("3k", &size) && size == 3072);
    assert_true(number_bytes("5GiB", &size) && size == (uint64_t)5 << 30);
    assert_true(number_bytes("2M", &size) && size == 2 << 20);
    assert_true(number_bytes("16777215T", &size) && size == (uint64_t)16777215 << 40);
    assert_false(number_bytes("16777216T", &size));
}

/* A prefix ends where the number does, even where strtod would read on. */
static void a_prefix_ends_with_the_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        int length;
    } cases[] = {{"1.5,2", 1.5, 3}, {"1e5x", 1e5, 3},  {"1ex", 1, 1},
                 {"0x10", 0, 1},    {"abc", 0, 0},     {"-inf)", -INFINITY, 4},
                 {"-.5.", -0.5, 3}, {"3.e2 ", 300, 4}, {"1e+", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end;
        assert_true(number_prefix(cases[i].text, &end) == cases[i].value);
        assert_int_equal(end - cases[i].text, cases[i].length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading_is_correctly_rounded),
                                       cmocka_unit_test(half_way_points_are_decided_exactly),
                                       cmocka_unit_test(printing_reads_back),
                                       cmocka_unit_test(printing_is_shortest),
                                       cmocka_unit_test(the_locale_does_not_matter),
                                       cmocka_unit_test(texts_that_are_no_numbers_are_refused),
                                       cmocka_unit_test(whole_numbers_reach_their_ends),
                                       cmocka_unit_test(a_prefix_ends_with_the_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
