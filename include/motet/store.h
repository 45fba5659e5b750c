/* Stores: arrays in files, read by boxes and written by blocks of rows of axis 0, so that none has
 * to fit in memory. Formats: NPY, members of NPZ, TIFF (multipage, BigTIFF, folders of pages), HDF5
 * datasets (where the plug-in is installed), MHA/MHD, PNG.
 *
 * The order of axes is the file's own, slowest first: (z,y,x) for volumes, (view,v,u) for scans in
 * TIFF, MHA and HDF5. Values come in host byte order. */
#ifndef MOTET_STORE_H
#define MOTET_STORE_H

#include <motet/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_store motet_store;

typedef struct motet_store_info {
    char format[16]; /* "npy", "npz", "tiff", "stack", "hdf5", "mha", "png" */
    motet_type type;
    int axes;
    int64_t shape[MOTET_MAX_AXES];
    double spacing[MOTET_MAX_AXES]; /* of one element along each axis; 0: the file does not say */
    double origin[MOTET_MAX_AXES];  /* centre of element 0; meaningful where spacing is not 0 */
} motet_store_info;

/* Opens a file for reading. `entry` names a dataset of an HDF5 file ("/exchange/data") or a member
 * of an NPZ file; NULL: the only one, else BAD_ARGUMENT with the names there are. A folder is a
 * stack of its .tif/.tiff or .png pages in natural order (page2 before page10).
 * NOT_FOUND, IO; BAD_DATA: the file contradicts itself or is cut short; UNSUPPORTED: a kind of file
 * this build cannot read; NO_MEMORY. */
MOTET_API motet_status motet_store_open(motet_context *context, const char *path, const char *entry,
                                        motet_store **out);

/* Begins a new file. The format follows from the path's ending (.npy .npz .tif .tiff .h5 .hdf5 .nxs
 * .mha .mhd .png; an ending in '/' makes a folder of TIFF pages). It is written beside the path, as
 * .motet-*.part, and takes its place in motet_store_commit; only a process that is killed leaves
 * that behind. EXISTS: the path exists and `overwrite` is 0. SAME_FILE is the business of
 * motet_store_check_distinct. `entry`: the path of an HDF5 dataset, NULL: "/data"; the name of an
 * NPZ member, NULL: "data". */
MOTET_API motet_status motet_store_create(motet_context *context, const char *path,
                                          const char *entry, const motet_store_info *info,
                                          int overwrite, motet_store **out);

MOTET_API void motet_store_describe(const motet_store *store, motet_store_info *out);

/* Rows [first, first + count) of axis 0 into `out`, converted to `type`. Integers become floats by
 * value; a conversion that would lose range is refused (BAD_ARGUMENT). After a failure the contents
 * of `out` are undefined: it is a buffer, not a result. */
MOTET_API motet_status motet_store_read(motet_store *store, int64_t first, int64_t count,
                                        motet_type type, void *out);

/* A part: along axis i the elements [first[i], first[i] + count[i]), in C order. A format that can
 * reads no more of the file than that. Otherwise as motet_store_read, which is the box of whole
 * rows. BAD_ARGUMENT names the axis whose range is outside. */
MOTET_API motet_status motet_store_read_box(motet_store *store, const int64_t *first,
                                            const int64_t *count, motet_type type, void *out);

/* A text attribute of what was opened ("units" of an HDF5 dataset); NOT_FOUND if there is none. */
MOTET_API motet_status motet_store_text(motet_store *store, const char *name, char *out,
                                        size_t bytes);

/* Rows in the store's own type; they must be written in ascending order, each once. */
MOTET_API motet_status motet_store_write(motet_store *store, int64_t first, int64_t count,
                                         const void *rows);

/* Adds one further entry, written whole, to a file that holds several (HDF5, NPZ); UNSUPPORTED
 * elsewhere. Before the commit. */
MOTET_API motet_status motet_store_add(motet_store *store, const char *entry,
                                       const motet_store_info *info, const void *data);

/* Gives an entry a text attribute ("units" of "/exchange/theta"): HDF5; UNSUPPORTED elsewhere.
 * `entry` NULL: the one the file was begun with. EXISTS: it has that attribute. Before the commit.
 */
MOTET_API motet_status motet_store_set_text(motet_store *store, const char *entry, const char *name,
                                            const char *text);

/* All of a commit that can fail for want of room or rows: completes and syncs the file beside its
 * path, which must be free or to be overwritten. Of several files, prepare all before the first is
 * committed; only renames are then left. Nothing can be written after it. Failures as of
 * motet_store_commit. */
MOTET_API motet_status motet_store_prepare(motet_store *store);

/* Prepares if that has not been done, and renames into place; only then does the path exist.
 * BAD_ARGUMENT: rows are missing; EXISTS: something took the path meanwhile; IO. After a failure
 * the path is as it was, but for one case: a file that replaced another stays, whole, when only the
 * sync of its folder failed. An MHD that replaces another one takes a raw file of a name that is
 * free (name.raw, name-1.raw, ...), and the one that the former header named is removed last if it
 * has such a name: header and numbers always agree. */
MOTET_API motet_status motet_store_commit(motet_store *store);

/* Closes; a file that was begun and not committed leaves nothing behind. NULL is legal. */
MOTET_API void motet_store_free(motet_store *store);

/* SAME_FILE if both paths lead to one file (same path, hard link, symbolic link). */
MOTET_API motet_status motet_store_check_distinct(motet_context *context, const char *input,
                                                  const char *output);

/* Names of the entries of an HDF5 or NPZ file: one string, each entry's path followed by '\n'; free
 * with motet_text_free. */
MOTET_API motet_status motet_store_entries(motet_context *context, const char *path, char **names);

#ifdef __cplusplus
}
#endif
#endif
