/* XXH3-128 over rows. The hash's state wants 64-byte alignment; it is kept as bytes and copied to
 * an aligned local for each call, which costs 576 bytes a call, not a row. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <string.h>

#include "kern/digest.h"

_Static_assert(sizeof(XXH3_state_t) <= sizeof((digest_rows){{0}}.state),
               "digest_rows must hold the state of XXH3");

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { HOST_SWAPS = 1 };
#else
enum { HOST_SWAPS = 0 };
#endif

static void load(XXH3_state_t *state, const digest_rows *s)
{
    memcpy(state, s->state, sizeof *state);
}

static void store(digest_rows *s, const XXH3_state_t *state)
{
    memcpy(s->state, state, sizeof *state);
}

static digest from(XXH128_hash_t h) { return (digest){h.low64, h.high64}; }

digest digest_bytes(const void *data, size_t bytes) { return from(XXH3_128bits(data, bytes)); }

digest digest_bytes_swapped(const void *data, size_t bytes, size_t element_bytes)
{
    const unsigned char *in = data;
    unsigned char block[4096];
    XXH3_state_t state;
    memset(&state, 0, sizeof state);
    XXH3_128bits_reset(&state);
    for (size_t at = 0; at < bytes;) {
        const size_t size = bytes - at < sizeof block ? bytes - at : sizeof block;
        for (size_t i = 0; i < size; i += element_bytes)
            for (size_t b = 0; b < element_bytes; b++)
                block[i + b] = in[at + i + element_bytes - 1 - b];
        XXH3_128bits_update(&state, block, size);
        at += size;
    }
    return from(XXH3_128bits_digest(&state));
}

static void put_word(unsigned char *out, uint64_t word)
{
    for (int i = 0; i < 8; i++) out[i] = (unsigned char)(word >> (8 * i));
}

void digest_rows_begin(digest_rows *s, motet_type type, int axes, const int64_t *shape)
{
    unsigned char header[8 * (2 + MOTET_MAX_AXES)];
    put_word(header, (uint64_t)type);
    put_word(header + 8, (uint64_t)axes);
    for (int i = 0; i < axes; i++) put_word(header + 16 + 8 * i, (uint64_t)shape[i]);

    XXH3_state_t state;
    memset(&state, 0, sizeof state);
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, header, 16 + 8 * (size_t)axes);
    memset(s, 0, sizeof *s);
    store(s, &state);
}

void digest_rows_add(digest_rows *s, const void *data, int64_t rows, size_t row_bytes,
                     size_t element_bytes)
{
    const unsigned char *row = data;
    XXH3_state_t state;
    load(&state, s);
    for (int64_t i = 0; i < rows; i++, row += row_bytes) {
        const digest d = HOST_SWAPS ? digest_bytes_swapped(row, row_bytes, element_bytes)
                                    : digest_bytes(row, row_bytes);
        unsigned char word[16];
        put_word(word, d.low);
        put_word(word + 8, d.high);
        XXH3_128bits_update(&state, word, sizeof word);
    }
    store(s, &state);
}

digest digest_rows_end(const digest_rows *s)
{
    XXH3_state_t state;
    load(&state, s);
    return from(XXH3_128bits_digest(&state));
}

int digest_equal(digest a, digest b) { return a.low == b.low && a.high == b.high; }

void digest_text(digest d, char out[33])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[i] = digits[(d.high >> (60 - 4 * i)) & 15];
        out[16 + i] = digits[(d.low >> (60 - 4 * i)) & 15];
    }
    out[32] = 0;
}
