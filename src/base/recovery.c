#include "base/recovery.h"

const char *recovery_text(recovery_answer answer)
{
    static const char *const text[] = {
#define RECOVERY_ANSWER_TEXT(name, text_) text_,
        RECOVERY_ANSWER_LIST(RECOVERY_ANSWER_TEXT)
#undef RECOVERY_ANSWER_TEXT
    };
    return text[answer];
}

/* Clocks begin anywhere, so a difference may not fit: it then counts as the longest. */
static int64_t passed(int64_t since, int64_t now)
{
    int64_t difference;
    if (now <= since) return 0;
    return __builtin_sub_overflow(now, since, &difference) ? INT64_MAX : difference;
}

static int64_t left(int64_t since, int64_t now, int64_t needed)
{
    const int64_t had = passed(since, now);
    return had < needed ? needed - had : 0;
}

static int64_t cooling(const recovery *r, int64_t now)
{
    return left(r->since, now, RECOVERY_COOL_DOWN);
}

/* The attempt that is RECOVERY_ATTEMPTS back must be an hour old. */
static int64_t spent(const recovery *r, int64_t now)
{
    if (r->attempts < RECOVERY_ATTEMPTS) return 0;
    return left(r->started[r->attempts % RECOVERY_ATTEMPTS], now, RECOVERY_HOUR);
}

void recovery_lose(recovery *r, int64_t now)
{
    if (r->lost) return;
    r->since = now;
    r->lost = 1;
}

recovery_answer recovery_ask(const recovery *r, int64_t now)
{
    if (!r->lost) return RECOVERY_USABLE;
    if (r->trying) return RECOVERY_ELSEWHERE;
    if (spent(r, now)) return RECOVERY_SPENT;
    return cooling(r, now) ? RECOVERY_COOLING : RECOVERY_BEGUN;
}

recovery_answer recovery_begin(recovery *r, int64_t now)
{
    const recovery_answer answer = recovery_ask(r, now);
    if (answer != RECOVERY_BEGUN) return answer;
    r->trying = 1;
    r->since = now;
    r->started[r->attempts++ % RECOVERY_ATTEMPTS] = now;
    return answer;
}

void recovery_end(recovery *r, int works)
{
    r->trying = 0;
    if (works) r->lost = 0;
}

int64_t recovery_wait(const recovery *r, int64_t now)
{
    if (!r->lost) return 0;
    const int64_t a = cooling(r, now), b = spent(r, now);
    return a > b ? a : b;
}
