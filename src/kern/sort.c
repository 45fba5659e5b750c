/* Radix sort, least significant digit first, digits of 8 bits; digits that are all the same are
 * skipped. */
#include "kern/sort.h"

#include <string.h>

#include "kern/bits.h"

#define SORT(name, type)                                                                           \
    void name(type *keys, int64_t *payload, int64_t n, type *key_scratch,                          \
              int64_t *payload_scratch)                                                            \
    {                                                                                              \
        int64_t count[sizeof(type)][256];                                                          \
        memset(count, 0, sizeof count);                                                            \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (size_t d = 0; d < sizeof(type); d++) count[d][keys[i] >> (8 * d) & 255u]++;       \
        type *from = keys, *to = key_scratch;                                                      \
        int64_t *from_payload = payload, *to_payload = payload_scratch;                            \
        for (size_t d = 0; d < sizeof(type) && n > 1; d++) {                                       \
            if (count[d][from[0] >> (8 * d) & 255u] == n) continue;                                \
            int64_t place[256], sum = 0;                                                           \
            for (int v = 0; v < 256; v++) {                                                        \
                place[v] = sum;                                                                    \
                sum += count[d][v];                                                                \
            }                                                                                      \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const int64_t at = place[from[i] >> (8 * d) & 255u]++;                             \
                to[at] = from[i];                                                                  \
                if (payload) to_payload[at] = from_payload[i];                                     \
            }                                                                                      \
            type *const other = from;                                                              \
            from = to;                                                                             \
            to = other;                                                                            \
            int64_t *const other_payload = from_payload;                                           \
            from_payload = to_payload;                                                             \
            to_payload = other_payload;                                                            \
        }                                                                                          \
        if (from == keys) return;                                                                  \
        memcpy(keys, from, (size_t)n * sizeof *keys);                                              \
        if (payload) memcpy(payload, from_payload, (size_t)n * sizeof *payload);                   \
    }
SORT(sort_u32, uint32_t)
SORT(sort_u64, uint64_t)

uint32_t sort_key_f32(float a)
{
    const uint32_t u = k_f32_bits(a);
    return u >> 31 ? ~u : u | 0x80000000u;
}

float sort_key_to_f32(uint32_t key) { return k_bits_f32(key >> 31 ? key & 0x7fffffffu : ~key); }
