/* Text files written whole or not at all, and digests of files. */
#ifndef MOTET_CLI_OUTFILE_H
#define MOTET_CLI_OUTFILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct outfile {
    const char *path;
    char *beside; /* the file that takes path's place; NULL: written directly (a device, a pipe,
                     "-") */
    int descriptor;
    int overwrite;
    int begun;
} outfile;

/* What the names of files beside outputs hold from now on. */
void outfile_mark(const char *mark);

/* Begins a file beside `path` ("-": standard output), so that a place that cannot be written is
 * known before the work. Answers 0, or an errno (EEXIST: it exists and overwrite is 0). */
int outfile_begin(outfile *file, const char *path, int overwrite);
/* Writes the whole text, syncs and renames. 0 or an errno; after a failure nothing is left behind.
 */
int outfile_commit(outfile *file, const char *text, size_t bytes);
/* Gives up; legal in any state. */
void outfile_drop(outfile *file);

/* XXH3-128 of a file's bytes (as xxhsum -H2 prints it) and its size; of a folder: over the digests
 * of its files in the order of their names. 0 or an errno. */
int file_digest(const char *path, char digest[33], int64_t *bytes);

/* Writes everything; 0 or an errno. */
int write_whole(int descriptor, const void *data, size_t bytes);

/* An unnamed file in the folder of `path`, gone when closed; -1 with errno. */
int spool_open(const char *path);

#endif
