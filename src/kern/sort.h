/* Stable sorts on the host. Nothing allocates; the caller lends scratch. */
#ifndef MOTET_KERN_SORT_H
#define MOTET_KERN_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Stable radix sort by ascending key; `payload` (NULL: none) moves along. Scratch as large as the
 * data. Stable means that ties keep their order: with identities as the payload in ascending order,
 * ties go to the lowest. */
void sort_u32(uint32_t *keys, int64_t *payload, int64_t n, uint32_t *key_scratch,
              int64_t *payload_scratch);
void sort_u64(uint64_t *keys, int64_t *payload, int64_t n, uint64_t *key_scratch,
              int64_t *payload_scratch);

/* Keys in the order of floats, -0 below +0, NaNs at the ends by their sign; and back. */
uint32_t sort_key_f32(float a);
float sort_key_to_f32(uint32_t key);

#endif
