/* Contexts with GPUs, and what a run on them leaves behind. */
#ifndef MOTET_TEST_GPU_H
#define MOTET_TEST_GPU_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/context.h"
#include "dev/cuda/cuda.h"
#include "rt/devices.h"
#include "rt/run.h"
#include "support/support.h"

/* 1: less is to be done, as it is slow here (a sanitizer, a driver without a GPU). */
static inline int gpu_quick(void) { return getenv("MOTET_GPU_QUICK") != NULL; }

/* First in main: exits with 77 where there is no GPU. Answers how many there are. */
static inline int gpu_need(void)
{
    motet_context *c = NULL;
    if (motet_context_create(NULL, &c) != MOTET_OK) exit(2);
    const char *absence = cuda_absence(c);
    if (absence) {
        printf("skipped: %s\n", absence);
        exit(77);
    }
    const int count = dev_cuda.count(c);
    motet_context_free(c);
    return count;
}

/* A set of devices, as --devices names them, and 1 where it asks for more GPUs than there are. */
static inline int gpu_lacks(const char *set, int count)
{
    for (const char *at = set; (at = strstr(at, "cuda:")); at++)
        if (atoi(at + 5) >= count) return 1;
    return 0;
}

/* `plain`: kernels item by item, also where a tuned form exists. */
static inline motet_context *gpu_context_with(const motet_context_options *options, const char *set,
                                              int plain)
{
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(options, &c), MOTET_OK);
    rt_devices_close(c);
    cuda_plain(c, plain);
    assert_ok(c, rt_devices_open(c, set));
    return c;
}

static inline motet_context *gpu_context(const char *set) { return gpu_context_with(NULL, set, 0); }

/* No device was lost, and each of them has done chunks, if `all`, or one GPU has. */
static inline void gpu_assert_worked(motet_context *c, int all)
{
    char *text = NULL;
    int64_t by_gpus = 0;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, 0, NULL), *devices = json_object_get(report, "devices");
    const json_t *losses = json_object_get(report, "losses");
    if (json_array_size(losses)) fail_msg("lost on the way: %s", json_dumps(losses, JSON_COMPACT));
    assert_int_equal(json_array_size(devices), c->devices->count);
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *one = json_array_get(devices, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        const int64_t chunks = json_integer_value(json_object_get(one, "chunks"));
        if (all && !chunks) fail_msg("%s had nothing to do", name);
        if (!strncmp(name, "cuda", 4)) by_gpus += chunks;
    }
    json_decref(report);
    motet_text_free(c, text);
    assert_true(by_gpus > 0);
}

#endif
