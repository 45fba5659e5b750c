/* The journal: finished chunks, kept by content, so that a command that is executed again skips
 * what is done.
 *
 * A run is known by a key: a digest of everything that its result depends on (journal_key.c). A
 * record holds the key, a part of the box and what the written ports have there. So a journal that
 * belongs to something else is simply never hit, and a torn or damaged one costs time, never bits:
 * what a record says is taken only when its digest is right.
 *
 * A journal reads from several files (those of processes that have ended) and writes to at most
 * one. What is found is what was there when it was opened. Journals may be used from several
 * threads at once. */
#ifndef MOTET_RT_JOURNAL_H
#define MOTET_RT_JOURNAL_H

#include <motet/journal.h>

#include "base/log.h"
#include "kern/digest.h"
#include "rt/op.h"

typedef struct rt_journal rt_journal;

enum {
    RT_JOURNAL_BUFFER = 1 << 18, /* bytes; of the context's memory, as long as it is open */
    RT_JOURNAL_FILES = 64,
    RT_JOURNAL_RECORDS = 1 << 20 /* found in all files; more are not looked at */
};

/* ---- The file: journal.c ---- */

typedef struct rt_journal_record {
    digest key;
    int64_t first[RT_AXES], count[RT_AXES]; /* of the box; axes it has not: 0, 1 */
    int64_t bytes;                          /* of the payload, > 0 */
    digest payload;
    int64_t offset; /* of the payload, */
    int file;       /* in that one */
} rt_journal_record;

/* Looks through `count` files for records, and opens the last of them for writing if `writes`: what
 * follows its last whole record is then cut off. Descriptors are the caller's, and must stay open
 * until rt_journal_close. most_bytes: of the written file. BAD_DATA: the written file holds
 * something other than a journal; NO_MEMORY. A file that cannot be read holds nothing. */
motet_status rt_journal_open(motet_context *context, const int *files, int count, int writes,
                             int64_t most_bytes, rt_journal **out);
void rt_journal_close(rt_journal *journal); /* NULL is legal */

/* Records of a key, ordered by `first`; answers how many. They stay in place. */
int64_t rt_journal_find(const rt_journal *journal, digest key, const rt_journal_record **out);

/* Gives a record's payload piece by piece to `take` (NULL: it is only looked at). Answers 1 if it
 * was whole and right; else what was given is worthless. */
typedef void rt_journal_piece_fn(size_t offset, size_t bytes, void *piece, void *user);
int rt_journal_read(rt_journal *journal, const rt_journal_record *record, rt_journal_piece_fn *take,
                    void *user);
/* Appends a record whose payload `fill` brings piece by piece; key, first, count and bytes are the
 * caller's. A full journal takes no more, nor does one that could not be written, which is warned
 * about. Answers 1 if it was kept. */
int rt_journal_append(rt_journal *journal, const rt_journal_record *record,
                      rt_journal_piece_fn *fill, void *user);

/* ---- One run of an operation: journal_run.c, journal_key.c ---- */

/* 1 if a run of it can be known by a key: its engine gave a fingerprint, and nothing it reads or
 * writes is out of sight. */
int rt_journal_takes(const rt_op *op);
/* `data`: what the kernels will find of each port, as prepared for the run. */
digest rt_journal_key(const rt_op *op, void *const data[RT_PORTS]);
/* The same, a piece at a time: CANCELLED. */
motet_status rt_journal_key_of(const rt_op *op, void *const data[RT_PORTS], log_phase *phase,
                               digest *out);

typedef struct rt_journal_run rt_journal_run;

/* Before the first chunk of a run: unpacks what is found into `data`. *out: NULL where there is no
 * journal or the operation is not for one; all others take it. NO_MEMORY; CANCELLED. */
motet_status rt_journal_begin(motet_context *context, const rt_op *op, void *const data[RT_PORTS],
                              rt_journal_run **out);
/* 1 if all of this part of the box was found: it must not be computed, as RT_UPDATE ports hold the
 * result already. 0: it is to be computed whole; they hold their former values there. */
int rt_journal_covers(rt_journal_run *run, const int64_t first[RT_AXES],
                      const int64_t count[RT_AXES]);
/* That part of the box is finished, and its results are in `data`. It was not covered. */
void rt_journal_add(rt_journal_run *run, const int64_t first[RT_AXES],
                    const int64_t count[RT_AXES]);
void rt_journal_end(rt_journal_run *run);

#endif
