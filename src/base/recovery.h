/* When a lost device may be tried again: a pure state machine on somebody else's clock, which locks
 * nothing and asks nobody. Whoever has a device keeps one of these beside it, behind a lock of its
 * own, and asks before each attempt.
 *
 * An attempt is allowed RECOVERY_COOL_DOWN after the loss and after the start of the last attempt,
 * at most RECOVERY_ATTEMPTS times in any RECOVERY_HOUR, and one at a time. Attempts are counted
 * from their start, whatever becomes of them, and losses do not make them forgotten: a device that
 * is lost again and again is left alone most of the time.
 *
 * Times are nanoseconds from any origin and do not go backwards. All zeros is a device that works.
 * The command compiles this file into itself. */
#ifndef MOTET_BASE_RECOVERY_H
#define MOTET_BASE_RECOVERY_H

#include <stdint.h>

enum { RECOVERY_ATTEMPTS = 6 };
#define RECOVERY_COOL_DOWN INT64_C(30000000000)
#define RECOVERY_HOUR      INT64_C(3600000000000)

typedef struct recovery {
    int lost;
    int trying;                         /* an attempt is under way */
    int64_t since;                      /* the loss, or the start of the last attempt after it */
    int64_t attempts;                   /* ever */
    int64_t started[RECOVERY_ATTEMPTS]; /* attempt k began at started[k % RECOVERY_ATTEMPTS] */
} recovery;

/* X(name, text) */
#define RECOVERY_ANSWER_LIST(X)                                                                    \
    X(USABLE, "it is not lost")                                                                    \
    X(BEGUN, "an attempt has begun")                                                               \
    X(ELSEWHERE, "an attempt is under way")                                                        \
    X(COOLING, "it is cooling down")                                                               \
    X(SPENT, "it had all attempts of this hour")

typedef enum recovery_answer {
#define RECOVERY_ANSWER_ENUM(name, text) RECOVERY_##name,
    RECOVERY_ANSWER_LIST(RECOVERY_ANSWER_ENUM)
#undef RECOVERY_ANSWER_ENUM
} recovery_answer;

const char *recovery_text(recovery_answer answer);

/* The device is lost as of now: its cool-down begins. Of a device that is lost already, nothing
 * changes: several users see one loss. */
void recovery_lose(recovery *r, int64_t now);
/* What recovery_begin would answer. */
recovery_answer recovery_ask(const recovery *r, int64_t now);
/* BEGUN: the caller now tries, alone, and says recovery_end whatever comes of it. Else nothing
 * changes, and the caller goes on without the device. */
recovery_answer recovery_begin(recovery *r, int64_t now);
void recovery_end(recovery *r, int works);
/* Nanoseconds until an attempt is allowed, if none begins before; 0: now, or it is not lost. */
int64_t recovery_wait(const recovery *r, int64_t now);

#endif
