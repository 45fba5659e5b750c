/* What the journal's files share. journal.c: the file; journal_key.c: what a run depends on;
 * journal_run.c: one run; journal_folder.c: the context's. */
#ifndef MOTET_RT_JOURNAL_INSIDE_H
#define MOTET_RT_JOURNAL_INSIDE_H

#include <pthread.h>

#include "rt/journal.h"

struct rt_journal {
    motet_context *context;
    pthread_mutex_t lock; /* guards buffer, end, counts and the written file */
    char *buffer;
    int64_t end; /* of the last whole record of the written file */
    motet_journal_counts counts;

    int file[RT_JOURNAL_FILES], files, writes; /* writes: to the last of them */
    int folder_file;                           /* ours to close; -1: none */
    int64_t most_bytes;
    rt_journal_record *records; /* in the order of keys, then of places; not changed any more */
    int64_t count, room;
};

void rt_journal_count(rt_journal *journal, motet_journal_counts *out);

#endif
