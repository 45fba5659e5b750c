/* What a port can be, on the cpu and on simulated devices: the same bits, within what was planned.
 */
#include "support/pipe.h"

/* What a port cannot be yet is refused, and says so. */
static void unfinished_kinds_are_refused(void **state)
{
    (void)state;
    motet_context *c = test_context();
    pipe_case p;
    pipe_case_make(c, PIPE_SUM, 6, 5, &p);
    const int64_t list[6] = {0};
    const rt_op plain = p.op;
    p.op.port[0].list = list;
    p.op.port[0].list_count = 6;
    assert_status(c, rt_run(c, &p.op), MOTET_UNSUPPORTED);
    assert_message(c, "toy.sum", "x", "row list", NULL);
    p.op = plain;
    p.op.port[2].sink = &(rt_sink){0};
    assert_status(c, rt_run(c, &p.op), MOTET_UNSUPPORTED);
    assert_message(c, "sum", "sink", NULL);
    pipe_case_free(&p);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unfinished_kinds_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
