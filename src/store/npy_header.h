/* The header of an NPY array (NumPy enhancement proposal 1), and its values. NPZ members are the
 * same behind another source of bytes. */
#ifndef MOTET_STORE_NPY_HEADER_H
#define MOTET_STORE_NPY_HEADER_H

#include "store/box.h"
#include "store/convert.h"
#include "store/format.h"

enum {
    NPY_FIRST = 12,     /* bytes that tell the length of the header */
    NPY_MOST = 1 << 16, /* the longest header accepted; what we can read takes some 200 bytes */
    NPY_WRITTEN = 256   /* the longest header written */
};

typedef struct npy_header {
    store_kind kind;
    int swap;    /* the file's byte order is not the host's */
    int fortran; /* first axis fastest */
    int axes;    /* an array without axes is presented as one axis of one element */
    int64_t shape[MOTET_MAX_AXES];
    int64_t elements;
    size_t bytes; /* of the header, magic included */
} npy_header;

int npy_is_magic(const unsigned char *head, size_t bytes);

/* The length of the whole header from its first NPY_FIRST bytes. `where` begins every message. */
motet_status npy_header_length(motet_context *context, const char *where,
                               const unsigned char *first, size_t *bytes);
/* BAD_DATA: not a dictionary of descr, fortran_order and shape, or a shape that cannot be;
 * UNSUPPORTED: a dtype other than f2 f4 f8 i1 i2 i4 i8 u1 u2 u4, more than 6 axes. */
motet_status npy_header_parse(motet_context *context, const char *where,
                              const unsigned char *header, size_t bytes, npy_header *out);
/* Version 1.0, little-endian, C order, padded to 64 bytes; answers its length. */
size_t npy_header_write(const motet_store_info *info, unsigned char out[NPY_WRITTEN]);

/* Reads and parses the header at the source's beginning; `length` is all the source holds. */
motet_status npy_begin(motet_store *store, const char *where, box_source source, int64_t length,
                       npy_header *out);
motet_status npy_box(motet_store *store, const npy_header *header, box_source source,
                     const int64_t *first, const int64_t *count, void *out);

#endif
