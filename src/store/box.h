/* Boxes of an array whose elements lie in a file one after another: NPY, NPZ, MetaImage. */
#ifndef MOTET_STORE_BOX_H
#define MOTET_STORE_BOX_H

#include "store/format.h"

/* Bytes by position, of a file or of what is packed in one. */
typedef struct box_source {
    motet_status (*read)(void *from, int64_t offset, size_t bytes, void *out);
    void *from;
} box_source;

typedef struct box_layout {
    int64_t begin; /* of element 0 in the source */
    int fortran;   /* first axis fastest */
    int swap;      /* the file's byte order is not the host's */
} box_layout;

/* `first` and `count` as store_format.read has them. The source is asked in ascending order. */
motet_status box_read(motet_store *store, box_source source, const box_layout *layout,
                      const int64_t *first, const int64_t *count, void *out);

/* The product of the counts. */
int64_t box_elements(int axes, const int64_t *count);

#endif
