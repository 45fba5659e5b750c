/* Where the pages of a TIFF file are.
 *
 * The chain of directories is walked once, without libtiff, whose walk by number starts from the
 * first page each time. */
#ifndef MOTET_STORE_TIFF_PAGES_H
#define MOTET_STORE_TIFF_PAGES_H

#include "store/file.h"

typedef struct tiff_pages {
    uint64_t *offsets; /* of the directories; free with mem_free */
    int64_t count;     /* at least 1 */
} tiff_pages;

/* 1 if the bytes begin a TIFF or BigTIFF file of either byte order. */
int tiff_begins(const unsigned char *head, size_t bytes);

/* Pages that are marked as reduced copies or masks of another are left out. BAD_DATA: a page whose
 * size or number format is not that of the first, a chain that leads out of the file or in a
 * circle. */
motet_status tiff_find_pages(store_file *file, tiff_pages *out);

#endif
