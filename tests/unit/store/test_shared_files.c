/* Files made elsewhere, which are not in the tree. */
#include <math.h>

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

/* A real scan: the names, shapes and angles it is known to have. */
static void reads_a_real_scan(void **state)
{
    (void)state;
    const char *path = test_data("ct/tooth.h5");
    char *names, units[32];
    assert_ok(c, motet_store_entries(c, path, &names));
    assert_string_equal(names, "/exchange/data\n/exchange/data_dark\n/exchange/data_white\n"
                               "/exchange/theta\n");
    motet_text_free(c, names);
    motet_store *s;
    motet_store_info info;
    assert_ok(c, motet_store_open(c, path, "/exchange/data", &s));
    motet_store_describe(s, &info);
    assert_int_equal(info.axes, 3);
    assert_int_equal(info.shape[0], 181);
    assert_int_equal(info.shape[1], 2);
    assert_int_equal(info.shape[2], 640);
    assert_ok(c, motet_store_text(s, "units", units, sizeof units));
    assert_string_equal(units, "counts");
    motet_store_free(s);
    double theta[181];
    assert_ok(c, motet_store_open(c, path, "/exchange/theta", &s));
    assert_ok(c, motet_store_read(s, 0, 181, MOTET_F64, theta));
    for (int i = 0; i < 181; i++) assert_true(fabs(theta[i] - i * 180 / 181.0) < 1e-12);
    assert_ok(c, motet_store_text(s, "units", units, sizeof units));
    assert_string_equal(units, "degrees");
    motet_store_free(s);
}

/* A real phantom in TIFF, made by another program: 512 x 512 bytes. */
static void reads_a_real_picture(void **state)
{
    (void)state;
    motet_store *s;
    motet_store_info info;
    assert_ok(c, motet_store_open(c, test_data("ct/shepp2d.tif"), NULL, &s));
    motet_store_describe(s, &info);
    assert_int_equal(info.axes, 2);
    assert_int_equal(info.type, MOTET_U8);
    assert_int_equal(info.shape[0], 512);
    float line[512], most = 0;
    assert_ok(c, motet_store_read(s, 256, 1, MOTET_F32, line));
    for (int i = 0; i < 512; i++) most = line[i] > most ? line[i] : most;
    assert_true(line[0] == 0 && most == 255);
    motet_store_free(s);
}

int main(void)
{
    test_need_data("ct/tooth.h5");
    test_need_data("ct/shepp2d.tif");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_a_real_scan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_a_real_picture, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
