#include "base/build.h"

#include <stdio.h>
#include <string.h>

#include "support/support.h"

/* It is the one that the linker wrote into this program, found again in the file. */
static void it_is_that_of_the_file(void **state)
{
    (void)state;
    uint64_t id[2], again[2];
    build_id(id);
    build_id(again);
    assert_memory_equal(id, again, sizeof id);
    assert_true(id[0] != 0 && id[1] != 0);
    static const char note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
    static char bytes[1 << 16]; /* the note is near the beginning */
    FILE *file = fopen("/proc/self/exe", "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const char *at = memmem(bytes, n, note, sizeof note);
    assert_non_null(at);
    assert_memory_equal(at + sizeof note, id, sizeof id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
