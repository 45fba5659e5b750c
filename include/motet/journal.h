/* Journals: what a run has finished is kept in a file, so that the same calls, made again by a
 * fresh process after a kill, a crash or a full disk, skip it and come to the same bits.
 *
 * A journal is a cache by content: an operation's finished chunks are found again by a digest of
 * the build, the operation and all that it reads. Another input, another build or a damaged file
 * cost time, never bits. Keeping a chunk costs a digest and a write of its results. */
#ifndef MOTET_JOURNAL_H
#define MOTET_JOURNAL_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_journal_options {
    uint32_t size;
    const char *folder;  /* made if it is not there, "journal" within is read and written; NULL */
    const int *files;    /* descriptors of more files to look in; kept open by the caller as long as
                            the context lives */
    int file_count;      /* at most 32 */
    int file;            /* descriptor of a file that is read and written in place of a folder's;
                            -1: none */
    uint64_t most_bytes; /* of the file that is written; then no more is kept. 0: of a folder what
                            it has and half of what is free there, else no bound */
} motet_journal_options;

MOTET_API void motet_journal_options_init(motet_journal_options *options);

/* From now on the context's runs use a journal; while none is running. Replaces a former one; NULL
 * options: none any more. BAD_ARGUMENT: a folder and a file; BUSY: another process writes to the
 * folder's; BAD_DATA: the file to write holds something other than a journal; IO; NO_MEMORY. After
 * a failure there is none. */
MOTET_API motet_status motet_context_journal(motet_context *context,
                                             const motet_journal_options *options);

typedef struct motet_journal_counts {
    int64_t records;     /* in the files, when it was opened */
    int64_t found, kept; /* parts of results taken from it and added to it */
    int64_t found_bytes, kept_bytes;
    int full; /* most_bytes was reached, or the file could not be written: no more is kept */
} motet_journal_counts;

/* All 0 without a journal. */
MOTET_API void motet_context_journal_counts(const motet_context *context,
                                            motet_journal_counts *out);

#ifdef __cplusplus
}
#endif
#endif
