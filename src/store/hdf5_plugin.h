/* What libmotet and its HDF5 plug-in tell each other.
 *
 * HDF5 lives in a shared object of its own, loaded on first use: a program that brings another copy
 * of HDF5 (h5py does) never meets ours, and one that reads no HDF5 never loads it. The plug-in does
 * not link libmotet. It exports one table, and reaches memory, the error record and the file
 * through the table it is given; so HDF5 opens no file by itself, neither the one asked for nor
 * those that a hostile file names. */
#ifndef MOTET_STORE_HDF5_PLUGIN_H
#define MOTET_STORE_HDF5_PLUGIN_H

#include "store/convert.h"
#include <motet/store.h>

enum { HDF5_PLUGIN_VERSION = 2 };
#define HDF5_PLUGIN_SYMBOL "motet_hdf5_plugin"

/* What the plug-in may call. */
typedef struct hdf5_host {
    motet_status (*fail)(motet_context *context, motet_status status, const char *source, int line,
                         const char *message);
    void *(*allocate)(motet_context *context, size_t bytes); /* zeroed */
    void (*release)(motet_context *context, void *block);
    /* Exactly so many bytes; the failure is in the context's record. */
    motet_status (*read)(void *file, uint64_t offset, size_t bytes, void *out);
    motet_status (*write)(void *file, uint64_t offset, size_t bytes, const void *data);
} hdf5_host;

/* The file to work on; all of it outlives the handle. */
typedef struct hdf5_source {
    motet_context *context;
    const hdf5_host *host;
    const char *path; /* for messages */
    void *file;
    uint64_t bytes; /* 0 for one to be written */
} hdf5_source;

typedef struct hdf5_file hdf5_file;

typedef struct hdf5_plugin {
    uint32_t version; /* first, for good */
    /* `read` delivers a box of `kind`. Fills in axes, shape, spacing and origin. */
    motet_status (*open)(const hdf5_source *source, const char *entry, motet_store_info *info,
                         store_kind *kind, hdf5_file **out);
    motet_status (*create)(const hdf5_source *source, const char *entry,
                           const motet_store_info *info, hdf5_file **out);
    motet_status (*read)(hdf5_file *file, const int64_t *first, const int64_t *count, void *out);
    motet_status (*text)(hdf5_file *file, const char *name, char *out, size_t bytes);
    motet_status (*write)(hdf5_file *file, int64_t first, int64_t count, const void *rows);
    motet_status (*add)(hdf5_file *file, const char *entry, const motet_store_info *info,
                        const void *data);
    motet_status (*set_text)(hdf5_file *file, const char *entry, const char *name,
                             const char *text);
    motet_status (*finish)(hdf5_file *file); /* everything is in the file; close is still due */
    void (*close)(hdf5_file *file);
    /* Each name followed by '\n', in memory of host->allocate. */
    motet_status (*entries)(const hdf5_source *source, char **names);
} hdf5_plugin;

#endif
