/* Files, read by position and written whole or not at all.
 *
 * A new file is begun under another name in the folder of its path, synced, and renamed into place
 * in file_place; until then the path is untouched and file_close removes what was begun. Never
 * mapped: a file that shrinks under a mapping kills the process. */
#ifndef MOTET_STORE_FILE_H
#define MOTET_STORE_FILE_H

#include <stdint.h>

#include <motet/context.h>

/* Zeroed means closed; file_close is legal on it. */
typedef struct store_file {
    motet_context *context;
    char *path;
    char *temporary; /* where it is being written; NULL when reading and after the commit */
    int descriptor;
    int is_open;
    int overwrite;
    int64_t size; /* when opened for reading; while writing, the end of what was written */
} store_file;

/* Opens a regular file for reading. NOT_FOUND, IO, NO_MEMORY; UNSUPPORTED: not a regular file. */
motet_status file_open(motet_context *context, const char *path, store_file *out);
/* Begins a new file. EXISTS: something other than a regular file that may be overwritten is there.
 */
motet_status file_begin(motet_context *context, const char *path, int overwrite, store_file *out);

/* An empty file in the folder, read and written, that has no name and is gone when it is closed. */
motet_status file_scratch(motet_context *context, const char *folder, store_file *out);
/* Makes it so long; what was never written reads as zeros. */
motet_status file_extend(store_file *file, int64_t bytes);

/* All the bytes or a failure; BAD_DATA, naming both sizes, when the file ends before. */
motet_status file_read(store_file *file, int64_t offset, size_t bytes, void *out);
/* file_read of a store_file that lost its type: a box_source's function. */
motet_status file_source(void *file, int64_t offset, size_t bytes, void *out);
motet_status file_write(store_file *file, int64_t offset, size_t bytes, const void *data);

/* Elements of `element` bytes, little-endian in the file whatever the host. */
motet_status file_write_little(store_file *file, int64_t offset, int64_t count, size_t element,
                               const void *data);

/* Syncs the file. Of a pair, sync both, then place both. */
motet_status file_sync(store_file *file);
/* Renames into place and syncs the folder; the file stays open. EXISTS: something took the path
 * meanwhile and may not be overwritten. Failures as of file_rename. */
motet_status file_place(store_file *file);
/* Removes what was placed; for the first of a pair when the second could not be. */
void file_withdraw(store_file *file);
/* Closes, and removes what was begun and not placed. */
void file_close(store_file *file);

/* For formats whose library opens files itself, and for folders. */

/* EXISTS unless nothing is at `path`, or a file (a folder if `folder`) that may be overwritten. */
motet_status file_check_target(motet_context *context, const char *path, int folder, int overwrite);
/* A name beside `path` that is not in use, ".motet-MARK-...", ending in `ending`; free with
 * mem_free. */
motet_status file_temporary(motet_context *context, const char *path, const char *ending,
                            char **out);
/* Renames a finished, synced file or folder to `path` and syncs the folder they are in. A folder
 * never replaces another one: move that away first. After a failure the path is as it was, but for
 * one case: a file that replaced another stays, whole, when only that last sync failed. */
motet_status file_rename(motet_context *context, const char *temporary, const char *path,
                         int overwrite);
/* Lets a finished, synced folder and the one at `path` change places and syncs the folder they are
 * in; the former one is then at `temporary`. After a failure they are where they were. */
motet_status file_exchange(motet_context *context, const char *temporary, const char *path);
/* Syncs a file or folder by name. */
motet_status file_sync_path(motet_context *context, const char *path);

/* The folder part of a path with its '/', or "" ; bytes of it are answered. */
size_t file_folder_bytes(const char *path);

#endif
