/* What a device's name may say of it, for tests of the command, which have names only:
 * "sim:0@lose_at_command=7@seed=3". The names are those of sim_fault, sim_device_config and
 * sim_config; numbers may end in K, M, G or T. */
#include <stddef.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/number.h"
#include "dev/sim/inside.h"

typedef enum kind { WORD, FLAG /* int */, REAL } kind;

typedef struct row {
    const char *name;
    kind kind;
    size_t offset; /* in the device's config; the world's where `world` is 1 */
    int world;
} row;

#define FAULT(name, kind)                                                                          \
    {                                                                                              \
#name, kind, offsetof(sim_device_config, fault) + offsetof(sim_fault, name), 0             \
    }
#define DEVICE(name, kind)                                                                         \
    {                                                                                              \
#name, kind, offsetof(sim_device_config, name), 0                                          \
    }
#define WORLD(name, kind)                                                                          \
    {                                                                                              \
#name, kind, offsetof(sim_config, name), 1                                                 \
    }

static const row rows[] = {
    FAULT(lose_at_call, WORD),
    FAULT(lose_at_command, WORD),
    FAULT(lose_again, FLAG),
    FAULT(refused_opens, FLAG),
    FAULT(fail_alloc, WORD),
    FAULT(fail_alloc_on, FLAG),
    FAULT(fail_call, WORD),
    FAULT(fail_call_on, FLAG),
    FAULT(hang_at_command, WORD),
    FAULT(corrupt_at_command, WORD),
    FAULT(crash_at_command, WORD),
    FAULT(slow_at_command, WORD),
    FAULT(slow, REAL),
    FAULT(wrong_health, FLAG),
    FAULT(shrink_per_second, WORD),
    DEVICE(memory, WORD),
    DEVICE(context, WORD),
    DEVICE(items_per_second, REAL),
    DEVICE(upload, REAL),
    DEVICE(download, REAL),
    DEVICE(latency, WORD),
    WORLD(seed, WORD),
    WORLD(jitter, REAL),
    WORLD(watch_bytes, WORD),
};

static int set(void *base, const row *r, const char *value)
{
    char *place = (char *)base + r->offset;
    uint64_t bytes;
    int64_t whole;
    double real;
    switch (r->kind) {
    case WORD: /* int64_t, uint64_t and size_t are alike here */
        if (!number_bytes(value, &bytes)) return 0;
        memcpy(place, &bytes, sizeof bytes);
        return 1;
    case FLAG:
        if (!number_whole(value, &whole) || whole < -1 || whole > 1000000) return 0;
        memcpy(place, &(int){(int)whole}, sizeof(int));
        return 1;
    case REAL:
        if (!number_real(value, &real) || !(real > 0) || !(real < 1e300)) return 0;
        memcpy(place, &real, sizeof real);
        return 1;
    }
    return 0;
}

static motet_status one_option(sim_world *w, int number, char *text)
{
    char *value = strchr(text, '=');
    if (value) *value++ = 0;
    for (size_t i = 0; value && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, text) != 0) continue;
        void *base = rows[i].world ? (void *)&w->config : (void *)&w->config.device[number];
        if (set(base, &rows[i], value)) return MOTET_OK;
        return fail(w->context, MOTET_BAD_ARGUMENT, "sim:%d: %s is \"%s\", expected a number",
                    number, text, value);
    }
    return fail(w->context, MOTET_BAD_ARGUMENT, "sim:%d has no option \"%s\"", number, text);
}

motet_status sim_options(motet_context *c, int number, const char *text, size_t length)
{
    if (number < 0 || number >= SIM_DEVICES)
        return fail(c, MOTET_BAD_ARGUMENT, "sim:%d: there are sim:0 to sim:%d", number,
                    SIM_DEVICES - 1);
    sim_world *w = c->sim;
    if (!w) TRY(sim_world_make(c, NULL, &w));
    char one[128];
    do {
        const char *end = memchr(text, '@', length);
        const size_t part = end ? (size_t)(end - text) : length;
        if (part >= sizeof one)
            return fail(c, MOTET_BAD_ARGUMENT, "sim:%d: an option of %zu bytes", number, part);
        memcpy(one, text, part);
        one[part] = 0;
        TRY(one_option(w, number, one));
        text += part + (end != NULL);
        length -= part + (end != NULL);
    } while (length);
    w->random = w->config.seed;
    w->slot[number].fault = w->config.device[number].fault;
    return MOTET_OK;
}
