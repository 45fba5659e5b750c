/* A compressed stretch of a file, read by position: forwards at the price of inflating what lies
 * between, backwards by starting again. */
#ifndef MOTET_STORE_INFLATE_H
#define MOTET_STORE_INFLATE_H

#include <zlib.h>

#include "store/file.h"

enum {
    INFLATE_RAW = -15,        /* a bare deflate stream, as in ZIP */
    INFLATE_WRAPPED = 15 + 32 /* with a zlib or gzip head */
};

typedef struct inflate_stream {
    store_file *file;
    int64_t begin, packed; /* where the stream lies in the file */
    int64_t size;          /* bytes it inflates to, as the file claims */
    int64_t taken, given;  /* bytes read from the file, bytes inflated since the last start */
    uint32_t sum;          /* CRC-32 of the bytes given */
    int check;             /* expected_sum holds */
    uint32_t expected_sum;
    int begun, checked;
    unsigned char *input;
    z_stream z;
} inflate_stream;

/* `stream` is zeroed and stays where it is. BAD_DATA: a claim that no deflate stream can keep. */
motet_status inflate_open(inflate_stream *stream, store_file *file, int64_t begin, int64_t packed,
                          int64_t size, int window);
/* BAD_DATA: the stream is damaged, shorter or longer than claimed, or its sum is wrong; the last
 * two are known when its last byte is read. */
motet_status inflate_read(void *stream, int64_t offset, size_t bytes, void *out);
void inflate_close(inflate_stream *stream); /* legal on a zeroed one */

/* 1 if that many packed bytes can hold that many: deflate gains at most a factor of 1032. */
int inflate_can_hold(int64_t packed, int64_t size);

#endif
