#include "suspects.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "device_list.h"

void suspects_list(suspects *s, const char *names)
{
    device_item item = {.text = NULL};
    *s = (suspects){.others = !names};
    for (const char *at = names ? names : "auto"; device_list_next(&at, &item);) {
        const size_t n = item.name;
        if (item.out || device_item_is(&item, "cuda")) continue; /* the process tells */
        if (device_item_is(&item, "cpu") || device_item_is(&item, "auto"))
            s->others = 1;
        else if (n && n < sizeof s->device->name && s->count < SUSPECTS)
            memcpy(s->device[s->count++].name, item.text, n);
    }
}

/* 1 if the name is the beginning of the UUID; UUIDs are written in small letters or in capitals. */
static int is_alias(const char *name, const char *uuid)
{
    const size_t n = strlen(name);
    return n > 4 && name[3] == '-' && strlen(uuid) >= n && !strncasecmp(name + 4, uuid + 4, n - 4);
}

void suspects_name(suspects *s, const char *name, const char *uuid)
{
    suspect *found = NULL;
    for (int i = 0; i < s->count && !found; i++)
        if (!strcmp(s->device[i].name, name) || is_alias(s->device[i].name, uuid))
            found = &s->device[i];
    if (!found && s->count < SUSPECTS) found = &s->device[s->count++];
    if (found) snprintf(found->name, sizeof found->name, "%s", name);
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
