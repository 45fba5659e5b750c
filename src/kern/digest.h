/* Digests: the proof that two results have the same bits (XXH3-128, Collet).
 *
 * An array's digest is XXH3-128 over a header (type, number of axes, sizes; each a little-endian
 * 64-bit word) followed by the digest of each row of axis 0 (low word, high word, little-endian),
 * in row order. A row's digest is XXH3-128 over its values, little-endian. So it never matters in
 * which portions the rows arrive, nor the byte order of the host. */
#ifndef MOTET_KERN_DIGEST_H
#define MOTET_KERN_DIGEST_H

#include <motet/array.h>

typedef struct digest {
    uint64_t low, high;
} digest;

/* State of a running digest; allocates nothing, may lie anywhere, may be copied to fork it. */
typedef struct digest_rows {
    unsigned char
        state[640]; /* the hash's own; bytes, so that no alignment is asked of the owner */
} digest_rows;

/* Of plain bytes. */
digest digest_bytes(const void *data, size_t bytes);
/* Of values whose byte order is the opposite of little-endian: what a big-endian host uses. bytes
 * is a multiple of element_bytes, element_bytes one of 1, 2, 4, 8. */
digest digest_bytes_swapped(const void *data, size_t bytes, size_t element_bytes);

/* 1 <= axes <= MOTET_MAX_AXES. */
void digest_rows_begin(digest_rows *s, motet_type type, int axes, const int64_t *shape);
/* The next `rows` rows, one after the other without gaps, values in the host's byte order. */
void digest_rows_add(digest_rows *s, const void *data, int64_t rows, size_t row_bytes,
                     size_t element_bytes);
/* Does not end the state: more rows may follow. */
digest digest_rows_end(const digest_rows *s);

int digest_equal(digest a, digest b);
/* 32 hexadecimal digits, as xxh128sum prints them, and a zero. */
void digest_text(digest d, char out[33]);

#endif
