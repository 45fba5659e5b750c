/* ZIP archives (PKWARE, APPNOTE 6.3.9) as far as NPZ needs them: members stored or deflated, zip64,
 * found through the central directory; written stored, dated 1980-01-01 so that equal contents are
 * equal files. */
#ifndef MOTET_STORE_ZIP_H
#define MOTET_STORE_ZIP_H

#include "store/file.h"
#include "store/inflate.h"

typedef struct zip_member {
    const char *name; /* not terminated; lives in the directory */
    size_t name_bytes;
    unsigned method, flags;
    uint32_t sum; /* CRC-32 of the contents */
    int64_t packed, size;
    int64_t offset; /* of the local header */
} zip_member;

typedef struct zip_directory {
    motet_context *context;
    unsigned char *bytes;
    zip_member *members;
    int64_t count;
    int64_t begin; /* where the directory lies; members end before */
} zip_directory;

motet_status zip_directory_read(store_file *file, zip_directory *out);
void zip_directory_free(zip_directory *directory); /* legal on a zeroed one */

/* The contents of one member, by position. Its sum is checked when they were read from beginning to
 * end without going back. */
typedef struct zip_stream {
    store_file *file;
    int64_t begin, size;
    int deflated;
    inflate_stream inflate;
    int64_t summed; /* stored: the bytes up to here went into the sum */
    uint32_t sum, expected_sum;
} zip_stream;

motet_status zip_stream_open(zip_stream *stream, store_file *file, const zip_directory *directory,
                             const zip_member *member);
motet_status zip_stream_read(void *stream, int64_t offset, size_t bytes, void *out);
void zip_stream_close(zip_stream *stream); /* legal on a zeroed one */

typedef struct zip_written {
    char *name;
    int64_t offset, size;
    uint32_t sum;
} zip_written;

typedef struct zip_writer {
    store_file *file;
    zip_written *members;
    int64_t count, room;
    int64_t end;    /* of the last member */
    uint32_t limit; /* sizes and offsets from here on take zip64; UINT32_MAX but for tests */
} zip_writer;

void zip_writer_begin(zip_writer *writer, store_file *file);
void zip_writer_free(zip_writer *writer); /* legal on a zeroed one */
int zip_writer_has(const zip_writer *writer, const char *name);
/* Reserves room for a member of `size` bytes; its contents go to the file from *offset on, by the
 * caller, in any order with other members. */
motet_status zip_writer_add(zip_writer *writer, const char *name, int64_t size, int64_t *member,
                            int64_t *offset);
/* Forgets the member added last. */
void zip_writer_drop(zip_writer *writer);
motet_status zip_writer_sum(zip_writer *writer, int64_t member, uint32_t sum);
/* The central directory. */
motet_status zip_writer_end(zip_writer *writer);

#endif
