#include "suspects.h"

#include <string.h>

void suspects_list(suspects *s, const char *names)
{
    *s = (suspects){.others = !names};
    for (const char *at = names ? names : ""; *at; at += *at == ',') {
        const size_t n = strcspn(at, ","), own = strcspn(at, ",@");
        if ((own == 3 && !strncmp(at, "cpu", 3)) || (own == 4 && !strncmp(at, "auto", 4)))
            s->others = 1;
        else if (own && own < sizeof s->device->name && s->count < SUSPECTS)
            memcpy(s->device[s->count++].name, at, own);
        at += n;
    }
}

_Static_assert(CHILD_NAMES >= SUSPECTS * sizeof((suspect *)0)->name, "all names fit");

int64_t suspects_choose(suspects *s, char out[CHILD_NAMES], int64_t now)
{
    int64_t least = INT64_MAX;
    int left = s->others || !s->count;
    size_t used = 0;
    for (int i = 0; i < s->count; i++) {
        suspect *d = &s->device[i];
        const recovery_answer answer = recovery_begin(&d->health, now);
        if (answer == RECOVERY_USABLE || answer == RECOVERY_BEGUN) {
            left = 1;
            continue;
        }
        const int64_t wait = recovery_wait(&d->health, now);
        if (wait < least) least = wait;
        const size_t n = strlen(d->name);
        if (used) out[used++] = ',';
        memcpy(out + used, d->name, n);
        used += n;
    }
    out[used] = 0;
    return left ? 0 : least;
}

void suspects_after(suspects *s, const char *culprit, int64_t now)
{
    for (int i = 0; i < s->count; i++) {
        suspect *d = &s->device[i];
        if (d->health.trying) recovery_end(&d->health, 0); /* another attempt shows what it can */
        if (!culprit || (*culprit && strcmp(culprit, d->name) != 0)) continue;
        if (++d->blamed >= 2) recovery_lose(&d->health, now);
    }
}
