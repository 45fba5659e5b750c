/* Any bytes at all, as a file of angles and as the range that a user types. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ct/angles.h"
#include <motet/motet.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* Angles for every number of views that the text may have; all finite, or untouched. */
static motet_status take(motet_context *c, const char *text, int64_t views)
{
    double angles[64];
    for (int i = 0; i < 64; i++) angles[i] = -12345.0;
    const motet_status st = angles_given(c, text, views, angles);
    for (int64_t i = 0; i < 64; i++)
        check(st == MOTET_OK && i < views ? angles[i] - angles[i] == 0.0 : angles[i] == -12345.0,
              "angles are finite, or as they were");
    check(st != MOTET_INTERNAL && st != MOTET_IO, "the text is to blame, not we");
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static motet_context *context;
    if (!context && motet_context_create(NULL, &context) != MOTET_OK) abort();
    motet_memory before, after;
    motet_context_report_reset(context);
    motet_context_memory(context, &before);

    const int file = memfd_create("angles", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int fitting = 0;
    for (int64_t views = 1; views <= 64; views++) fitting += take(context, path, views) == MOTET_OK;
    check(fitting <= 1, "one number of views fits a file");
    close(file);

    char text[128] = "";
    memcpy(text, data, bytes < sizeof text - 1 ? bytes : sizeof text - 1);
    if (strchr(text, ':') && !strchr(text, '/')) { /* no other files are opened */
        take(context, text, 1);
        take(context, text, 7);
    }
    motet_context_report_reset(context);
    motet_context_memory(context, &after);
    check(after.blocks == before.blocks, "nothing leaks");
    return 0;
}
