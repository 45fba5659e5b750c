/* The text head of a MetaImage (MHA, MHD): lines "Key = value", ElementDataFile last. */
#ifndef MOTET_STORE_MHA_HEADER_H
#define MOTET_STORE_MHA_HEADER_H

#include "store/convert.h"
#include "store/format.h"

enum {
    MHA_LEAST_AXES = 2,
    MHA_MOST_AXES = 4,
    MHA_MOST = 1 << 16,   /* the longest head accepted */
    MHA_WRITTEN = 1 << 10 /* the longest head written, without the data file's name */
};

typedef struct mha_header {
    store_kind kind;
    int swap;
    int axes;
    int64_t shape[MOTET_MAX_AXES]; /* slowest first, as everything here */
    double spacing[MOTET_MAX_AXES], origin[MOTET_MAX_AXES];
    int compressed;
    int64_t packed;        /* CompressedDataSize; -1: not said */
    int64_t skip;          /* HeaderSize: bytes before the data; -1: the data end the file */
    const char *data_file; /* within the text; NULL: LOCAL */
    size_t data_file_bytes;
    int turned;   /* the matrix is not the identity */
    size_t bytes; /* of the head, the line end after ElementDataFile included */
} mha_header;

/* The file in which an MHD has or, as one that is yet to be written where none is, will have its
 * numbers; NULL: none. NO_MEMORY, IO. To be released with mem_free. */
motet_status mha_companion(motet_context *context, const char *path, int written, char **out);

int mha_probe(const unsigned char *head, size_t bytes, const char *path);

/* `text` is the file's beginning; BAD_DATA if the head does not end within it. */
motet_status mha_header_parse(motet_context *context, const char *where, const char *text,
                              size_t bytes, mha_header *out);
/* The value of a key; NULL if the head does not have it. */
const char *mha_header_find(const char *text, size_t bytes, const char *key, size_t *value_bytes);

/* UNSUPPORTED: float16, or axes other than 2 to 4. Answers all of the head but the data file's name
 * and the line end. */
motet_status mha_header_write(motet_context *context, const char *where,
                              const motet_store_info *info, char out[MHA_WRITTEN]);

#endif
