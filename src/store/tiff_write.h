/* Writing TIFF: uncompressed gray pages, one strip each.
 *
 * The pixels of all pages lie together at the front, so that rows are written as they come; the
 * directories follow at the end, so that thousands of pages are found without seeking through the
 * file. BigTIFF where the file could pass 4 GiB. No time, host or program is recorded. */
#ifndef MOTET_STORE_TIFF_WRITE_H
#define MOTET_STORE_TIFF_WRITE_H

#include <motet/store.h>

#include "store/file.h"

typedef struct tiff_plan {
    motet_type type;
    int64_t pages, height, width;
    int64_t page_bytes;
    int big;
    char description[256]; /* of the first page; "": none */
    double spacing[2];     /* of rows and columns; 0: unknown */
} tiff_plan;

/* UNSUPPORTED: a shape that TIFF does not hold; `path` begins the message. */
motet_status tiff_plan_pages(motet_context *context, const char *path, const motet_store_info *info,
                             tiff_plan *out);
int64_t tiff_plan_pixels(const tiff_plan *plan); /* offset of the first pixel */
/* Header and directories, once the pixels are written. */
motet_status tiff_write_frame(const tiff_plan *plan, store_file *file);

/* The description that spacing, origin and a third axis of size 1 need, and its reading. */
void tiff_describe(const motet_store_info *info, char *out, size_t bytes);
void tiff_read_description(const char *text, motet_store_info *info);

#endif
