#include "base/mem.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that the hook places 16 bytes off a cache line, with the sum of sizes not yet released. */
typedef struct skewed {
    int64_t held;
    int blocks;
} skewed;

static void *skewed_allocate(size_t bytes, void *user)
{
    skewed *s = user;
    char *block = aligned_alloc(64, (bytes + 16 + 63) / 64 * 64);
    if (!block) return NULL;
    s->held += (int64_t)bytes;
    s->blocks++;
    return block + 16;
}

static void skewed_release(void *block, size_t bytes, void *user)
{
    skewed *s = user;
    s->held -= (int64_t)bytes;
    s->blocks--;
    free((char *)block - 16);
}

static motet_context *skewed_context(skewed *s, uint64_t host_memory)
{
    motet_context_options options;
    motet_context_options_init(&options);
    options.allocator = (motet_allocator){skewed_allocate, skewed_release, s};
    options.host_memory = host_memory;
    options.threads = 1;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    return c;
}

/* Data lie on cache lines whatever the hook's alignment; the hook gets back the sizes it gave; a
 * freed context leaves nothing. */
static void blocks_are_aligned_and_sizes_come_back(void **state)
{
    (void)state;
    skewed s = {0, 0};
    motet_context *c = skewed_context(&s, 0);
    void *blocks[100];
    for (size_t i = 0; i < 100; i++) {
        blocks[i] = mem_alloc(c, i * 7);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], 0xa5, i * 7);
    }
    for (size_t i = 0; i < 100; i++) mem_free(c, blocks[(i * 37) % 100]);
    mem_free(c, NULL);
    motet_context_free(c);
    assert_int_equal(s.held, 0);
    assert_int_equal(s.blocks, 0);
}

/* The account knows what is held, the most ever held, and how many blocks live. */
static void the_account_is_exact(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_memory before, during, after;
    motet_context_memory(c, &before);
    void *a = mem_alloc(c, 1000), *b = mem_alloc(c, 1 << 20);
    motet_context_memory(c, &during);
    assert_true(during.now >= before.now + 1000 + (1 << 20));
    assert_int_equal(during.blocks, before.blocks + 2);
    mem_free(c, a);
    mem_free(c, b);
    motet_context_memory(c, &after);
    assert_int_equal(after.now, before.now);
    assert_int_equal(after.blocks, before.blocks);
    assert_int_equal(after.peak, during.peak);
    motet_context_free(c);
}

/* No size wraps around: what cannot be answers NULL and leaves the account alone. */
static void sizes_do_not_overflow(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_memory before, after;
    motet_context_memory(c, &before);
    assert_null(mem_alloc(c, SIZE_MAX));
    assert_null(mem_alloc(c, SIZE_MAX - 100));
    assert_null(mem_alloc(c, INT64_MAX));
    assert_null(mem_zero(c, SIZE_MAX));
    assert_null(mem_alloc_array(c, INT64_MAX, 8));
    assert_null(mem_zero_array(c, (int64_t)1 << 61, 16));
    assert_null(mem_alloc_array(c, -1, 8));
    size_t bytes = 7;
    assert_false(mem_product(-1, 1, &bytes));
    assert_false(mem_product(((int64_t)1 << 60) + 1, 8, &bytes));
    assert_int_equal(bytes, 7);
    assert_true(mem_product(((int64_t)1 << 60) - 1, 8, &bytes));
    assert_true(mem_product(0, 8, &bytes) && bytes == 0);
    motet_context_memory(c, &after);
    assert_int_equal(after.now, before.now);
    assert_int_equal(after.blocks, before.blocks);
    motet_context_free(c);
}

/* The bound holds to the byte: what fits is given, one more is refused, and freeing makes room. */
static void host_memory_is_a_hard_bound(void **state)
{
    (void)state;
    skewed s = {0, 0};
    const uint64_t bound = 1 << 20;
    motet_context *c = skewed_context(&s, bound);
    motet_memory m;
    motet_context_memory(c, &m);
    const size_t room = (size_t)(bound - m.now);
    assert_true(mem_bound(c) == (int64_t)bound && mem_left(c) == (int64_t)room);
    assert_null(mem_alloc(c, room));
    void *most = NULL;
    size_t size = room;
    while (!most) most = mem_alloc(c, --size);
    motet_context_memory(c, &m);
    assert_int_equal(m.now, bound);
    assert_true(m.peak <= bound && mem_left(c) == 0);
    assert_null(mem_alloc(c, 0));
    mem_free(c, most);
    most = mem_alloc(c, size);
    assert_non_null(most);
    mem_free(c, most);
    motet_context_free(c);
    assert_int_equal(s.held, 0);
    c = skewed_context(&s, 0);
    assert_true(mem_bound(c) == INT64_MAX && mem_left(c) == INT64_MAX);
    motet_context_free(c);
}

/* Growing keeps what was there; when it fails, the old block lives on. */
static void growing_keeps_contents(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    char *block = mem_grow(c, NULL, 10);
    memcpy(block, "ninebytes", 10);
    block = mem_grow(c, block, 5000);
    assert_string_equal(block, "ninebytes");
    test_context_fail_at(c, 1, 0);
    assert_null(mem_grow(c, block, 10000));
    assert_string_equal(block, "ninebytes");
    block = mem_grow(c, block, 5);
    assert_memory_equal(block, "nineb", 5);
    mem_free(c, block);
    char *text = mem_format(c, "%d-%s", 12, "x");
    assert_string_equal(text, "12-x");
    mem_free(c, text);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_sizes_come_back),
        cmocka_unit_test(the_account_is_exact), cmocka_unit_test(sizes_do_not_overflow),
        cmocka_unit_test(host_memory_is_a_hard_bound), cmocka_unit_test(growing_keeps_contents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
