/* Kernels of toy_rows.h. */
#ifndef MOTET_TEST_TOY_ROWS_K_H
#define MOTET_TEST_TOY_ROWS_K_H

#include "kern/random.h"
#include "support/toy_view.h"

enum { TOY_WIDTH = 3 };

typedef struct toy_rows_args {
    toy_view in, lengths, spans, entries;
    int64_t first;
    uint64_t seed;
    uint32_t step;
} toy_rows_args;
typedef toy_rows_args toy_emit_count_args, toy_emit_fill_args, toy_walk_count_args,
    toy_walk_fill_args;

/* Splitmix64 of the place. */
K_FN int64_t toy_emitted_word(int64_t row, int64_t entry, int word)
{
    uint64_t z = (uint64_t)row * 1000003 + (uint64_t)entry * 31 + (uint64_t)word;
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)(z ^ (z >> 31));
}

K_FN void toy_emit_count_item(const toy_rows_args *a, int64_t item, void *scratch)
{
    const int64_t i = a->first + item;
    (void)scratch;
    *toy_i64(&a->lengths, i, 0) = *toy_i64(&a->in, i, 0);
}

/* Spans say where a row's entries go: the row's own number, the first entry, room. */
K_FN void toy_emit_fill_item(const toy_rows_args *a, int64_t item, void *scratch)
{
    const int64_t i = a->first + item, length = *toy_i64(&a->in, i, 0);
    const int64_t row = *toy_i64(&a->spans, i, 0), first = *toy_i64(&a->spans, i, 1),
                  room = *toy_i64(&a->spans, i, 2);
    (void)scratch;
    for (int64_t k = 0; k < room; k++)
        for (int w = 0; w < TOY_WIDTH; w++)
            *toy_i64(&a->entries, first + k, w) = k < length ? toy_emitted_word(row, k, w) : 0;
    *toy_i64(&a->lengths, i, 0) = length;
}

/* Where the walkers of one place go; answers how many entries that is. */
K_FN int toy_walk_step(uint64_t seed, uint32_t step, const int64_t place[2], int64_t to[4][2])
{
    const uint64_t key = (uint64_t)place[0];
    const uint32_t x = (uint32_t)(key >> 48), y = (uint32_t)(key >> 32 & 0xffff);
    if (x % 8 == 5 && y % 8 == 3) return 0; /* a hole */
    const k_source source = {seed, step};
    const k_words w = k_random(source, key, 0);
    const uint32_t across[4] = {1, 0xffff, 0, 0}, along[4] = {0, 0, 1, 0xffff};
    int64_t part[4], rest = place[1];
    int entries = 0;
    for (int d = 0; d < 4; d++) {
        part[d] = place[1] / 4 - (int64_t)(w.w[d] % 8) * (place[1] / 64);
        rest -= part[d];
    }
    part[w.w[0] >> 30] += rest;
    for (int d = 0; d < 4; d++) {
        if (!part[d]) continue;
        const uint64_t u = (x + across[d]) & 0xffff, v = (y + along[d]) & 0xffff;
        to[entries][0] = (int64_t)(u << 48 | v << 32);
        to[entries++][1] = part[d];
    }
    return entries;
}

K_FN int toy_walk_row(const toy_rows_args *a, int64_t i, int64_t to[4][2])
{
    const int64_t place[2] = {*toy_i64(&a->in, i, 0), *toy_i64(&a->in, i, 1)};
    return toy_walk_step(a->seed, a->step, place, to);
}

K_FN void toy_walk_count_item(const toy_rows_args *a, int64_t item, void *scratch)
{
    int64_t to[4][2];
    (void)scratch;
    *toy_i64(&a->lengths, a->first + item, 0) = toy_walk_row(a, a->first + item, to);
}

K_FN void toy_walk_fill_item(const toy_rows_args *a, int64_t item, void *scratch)
{
    int64_t to[4][2];
    const int64_t i = a->first + item;
    const int64_t first = *toy_i64(&a->spans, i, 1), room = *toy_i64(&a->spans, i, 2);
    const int length = toy_walk_row(a, i, to);
    (void)scratch;
    for (int64_t k = 0; k < room; k++)
        for (int w = 0; w < 2; w++) *toy_i64(&a->entries, first + k, w) = k < length ? to[k][w] : 0;
    *toy_i64(&a->lengths, i, 0) = length;
}

#endif
