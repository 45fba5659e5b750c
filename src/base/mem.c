/* Every block carries its size in a header of one cache line, so that the hooks get sizes and the
 * data stay 64-byte aligned whatever the hook's own alignment. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"

enum { LINE = 64 };

typedef struct header {
    void *base;   /* what the hook returned */
    size_t asked; /* bytes asked of the hook */
    size_t bytes; /* bytes of the caller */
} header;

static header *header_of(void *block) { return (header *)((char *)block - LINE); }

/* Reserves bytes in the account; 0 if that would pass the bound. */
static int account(motet_context *c, size_t bytes)
{
    const uint64_t now = atomic_fetch_add(&c->held, bytes) + bytes;
    if (c->options.host_memory && now > c->options.host_memory) {
        atomic_fetch_sub(&c->held, bytes);
        return 0;
    }
    uint_fast64_t peak = atomic_load(&c->held_peak);
    while (now > peak && !atomic_compare_exchange_weak(&c->held_peak, &peak, now)) {
    }
    return 1;
}

void *mem_alloc(motet_context *c, size_t bytes)
{
    if (bytes > INT64_MAX - 2 * LINE) return NULL;
    const size_t asked = bytes + 2 * LINE;
    if (!account(c, asked) && !(c->reclaim && c->reclaim(c) && account(c, asked))) return NULL;
    void *base = c->options.allocator.allocate(asked, c->options.allocator.user);
    if (!base) {
        atomic_fetch_sub(&c->held, asked);
        return NULL;
    }
    const uintptr_t data = ((uintptr_t)base + 2 * LINE - 1) / LINE * LINE;
    void *block = (char *)base + (data - (uintptr_t)base);
    *header_of(block) = (header){base, asked, bytes};
    atomic_fetch_add(&c->blocks, 1);
    return block;
}

void *mem_zero(motet_context *c, size_t bytes)
{
    void *block = mem_alloc(c, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

int64_t mem_bound(const motet_context *c)
{
    const uint64_t bound = c->options.host_memory;
    return bound && bound < INT64_MAX ? (int64_t)bound : INT64_MAX;
}

int64_t mem_left(const motet_context *c)
{
    const int64_t bound = mem_bound(c);
    const uint64_t all = atomic_load(&c->held), idle = atomic_load(&c->idle);
    const uint64_t held = idle < all ? all - idle : 0;
    return bound == INT64_MAX ? bound : held < (uint64_t)bound ? bound - (int64_t)held : 0;
}

int mem_product(int64_t count, size_t element, size_t *bytes)
{
    if (count < 0) return 0;
    size_t product;
    if (__builtin_mul_overflow((size_t)count, element, &product) || product > INT64_MAX) return 0;
    *bytes = product;
    return 1;
}

void *mem_alloc_array(motet_context *c, int64_t count, size_t element)
{
    size_t bytes;
    return mem_product(count, element, &bytes) ? mem_alloc(c, bytes) : NULL;
}

void *mem_zero_array(motet_context *c, int64_t count, size_t element)
{
    size_t bytes;
    return mem_product(count, element, &bytes) ? mem_zero(c, bytes) : NULL;
}

void *mem_grow(motet_context *c, void *block, size_t bytes)
{
    void *grown = mem_alloc(c, bytes);
    if (!grown || !block) return grown;
    const size_t had = header_of(block)->bytes;
    memcpy(grown, block, had < bytes ? had : bytes);
    mem_free(c, block);
    return grown;
}

void mem_free(motet_context *c, void *block)
{
    if (!block) return;
    const header h = *header_of(block);
    c->options.allocator.release(h.base, h.asked, c->options.allocator.user);
    atomic_fetch_sub(&c->held, h.asked);
    atomic_fetch_sub(&c->blocks, 1);
}

char *mem_text(motet_context *c, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = mem_alloc(c, bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

char *mem_format(motet_context *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0) return NULL;
    char *text = mem_alloc(c, (size_t)length + 1);
    if (!text) return NULL;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}
