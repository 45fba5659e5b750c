/* The inside of a store and the table of a format's functions.
 *
 * store.c owns everything that formats have in common: checking arguments, choosing the format,
 * conversion, order of rows, the moment of the commit. A format only moves rows in its own number
 * format. To add one: a struct that begins with `motet_store`, a `store_format`, a line in
 * formats.c. */
#ifndef MOTET_STORE_FORMAT_H
#define MOTET_STORE_FORMAT_H

#include <motet/store.h>

#include "store/convert.h"

enum { STORE_HEAD = 1024 }; /* bytes of a file's beginning that probes see */

typedef struct store_format store_format;

/* Zeroed but for what is said here when open or create is called. */
struct motet_store {
    motet_context *context;
    const store_format *format;
    const char *path;      /* set before; as the caller spelt it */
    motet_store_info info; /* open fills it in (format is set); create finds it checked */
    store_kind kind;       /* what `read` delivers; open sets it, and info.type = kind_type(kind) */
    int64_t row_elements;  /* of one row of axis 0; set by the frame after open, before create */
    size_t row_bytes;      /* the same in bytes of `kind` */
    int writing, prepared, committed;
    int overwrite;
    int64_t next;    /* writing: the row expected next */
    int64_t written; /* elements that came by boxes */
};

struct store_format {
    const char *name;    /* as in motet_store_info.format */
    const char *endings; /* lower case, separated by a space: ".tif .tiff"; "" cannot be written */
    size_t bytes;        /* of the struct that begins with motet_store */

    /* 1 if the file looks like this format. A folder comes with bytes = 0 and head = NULL. */
    int (*probe)(const unsigned char *head, size_t bytes, const char *path);

    /* After a failure `close` is called as well, on whatever was filled in. */
    motet_status (*open)(motet_store *store, const char *entry);
    motet_status (*create)(motet_store *store, const char *entry);

    /* A box of values of `kind`, in C order and host byte order: along axis i the elements
     * [first[i], first[i] + count[i]). The ranges are checked and not empty, `out` is aligned to
     * the kind. */
    motet_status (*read)(motet_store *store, const int64_t *first, const int64_t *count, void *out);
    /* Rows [next, next + count), count >= 1, not empty. */
    motet_status (*write)(motet_store *store, int64_t first, int64_t count, const void *rows);
    /* Elements [first, first + count) of all in C order, in any order; NULL: rows in theirs only.
     */
    motet_status (*write_at)(motet_store *store, int64_t first, int64_t count, const void *values);

    /* All rows have been written: completes the file and syncs it. May be called again after a
     * failure, and so may `place`, which puts the file in its place. */
    motet_status (*finish)(motet_store *store);
    motet_status (*place)(motet_store *store);
    /* Releases everything; without a commit it removes what was begun. */
    void (*close)(motet_store *store);

    /* The rest may be NULL: no further entries, no texts, no list of entries. */
    motet_status (*add)(motet_store *store, const char *entry, const motet_store_info *info,
                        const void *data);
    motet_status (*text)(motet_store *store, const char *name, char *out, size_t bytes);
    motet_status (*set_text)(motet_store *store, const char *entry, const char *name,
                             const char *text);
    motet_status (*entries)(motet_context *context, const char *path, char **names);
};

/* Every format, NULL last; probed in this order. */
extern const store_format *const store_formats[];

/* 1 if `path` ends in one of the endings, whatever the case of its letters. */
int store_ends_in(const char *path, const char *endings);

/* Elements of all axes in *out; 0 if a size is negative or elements * bytes would pass 2^63 - 1. */
int store_elements(int axes, const int64_t *shape, size_t bytes, int64_t *out);

/* BAD_ARGUMENT unless axes, sizes and type are legal; `where` begins the message. */
motet_status store_check_info(motet_context *context, const char *where,
                              const motet_store_info *info);

/* 1 if boxes may be written in any order. */
int store_takes_boxes(const motet_store *store);
/* A part of a store that takes boxes, in its own type: each element is written once, or again where
 * it is scratch. A store takes rows or boxes, not both. */
motet_status store_write_box(motet_store *store, const int64_t *first, const int64_t *count,
                             const void *values);
/* Zeros on disk that are read and written by boxes, in a file that has no name and is gone with the
 * store. `folder` NULL: the current one. */
motet_status store_scratch(motet_context *context, const char *folder, motet_type type, int axes,
                           const int64_t *shape, motet_store **out);

#endif
