#include "support/support.h"

/* Every status has a name and a text; numbers outside the list are named, not crashed on. */
static void every_status_is_named(void **state)
{
    (void)state;
#define CHECK(name, number, class_, retry, text_)                                                  \
    assert_string_equal(motet_status_name(MOTET_##name), #name);                                   \
    assert_string_equal(motet_status_text(MOTET_##name), text_);                                   \
    assert_int_equal(motet_status_class_of(MOTET_##name), MOTET_CLASS_##class_);
    MOTET_STATUS_LIST(CHECK)
#undef CHECK
    assert_string_equal(motet_status_name((motet_status)12345), "UNKNOWN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_status_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
