/* Reading a list of devices. Items have commas between them; what stands behind a '/' is a
 * fallback;
 * "-NAME" takes out again what the list has, wherever it stands. "auto" is "cuda/cpu" where there
 * are GPUs, and "cpu" else. */
#include "rt/device_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "dev/registry.h"

typedef struct list {
    motet_context *context;
    const char *names; /* all of it */
    rt_named *out;
    int count;
} list;

enum { ALL = -1, NONE = -2, SEVERAL = -3 }; /* in place of a device's number */

static int is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

static int is_uuid(const char *text, size_t length)
{
    return length > 4 && (!memcmp(text, "GPU-", 4) || !memcmp(text, "MIG-", 4));
}

static int is_number_of_gpu(const char *text, size_t length)
{
    return length > 5 && !memcmp(text, "cuda:", 5) && strspn(text + 5, "0123456789") >= length - 5;
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

/* The GPU whose UUID begins so; the prefixes differ for parts of one, which the driver shows as
 * GPUs.
 */
static int number_of_uuid(const list *l, const char *text, size_t length)
{
    const dev_table *gpus = dev_gpus();
    const int count = gpus && gpus->uuid ? gpus->count(l->context) : 0;
    int found = NONE;
    for (int i = 0; i < count; i++) {
        char uuid[48];
        gpus->uuid(l->context, i, uuid);
        if (strlen(uuid) >= length && !strncasecmp(uuid + 4, text + 4, length - 4))
            found = found == NONE ? i : SEVERAL;
    }
    return found;
}

/* There is no GPU, or no such one: says which ones there are, or why there are none. */
static motet_status no_such_gpu(const list *l, const char *name, size_t length, int found)
{
    const dev_table *gpus = dev_gpus();
    const int count = gpus ? gpus->count(l->context) : 0;
    const char *absence = gpus ? gpus->absence(l->context) : NULL;
    if (!count)
        return fail(l->context, MOTET_BAD_ARGUMENT,
                    "devices names %.*s, but there is no GPU to use: %s; cpu and auto do without",
                    (int)length, name, absence ? absence : "this build of Motet drives none");
    char last[16] = "";
    if (count > 1) snprintf(last, sizeof last, " to %s:%d", gpus->name, count - 1);
    if (found == SEVERAL)
        return fail(l->context, MOTET_BAD_ARGUMENT,
                    "devices names %.*s, which several of the %d GPUs are: give more of the UUID",
                    (int)length, name, count);
    return fail(l->context, MOTET_BAD_ARGUMENT,
                "devices names %.*s, but there %s %d GPU%s to use: %s:0%s", (int)length, name,
                count == 1 ? "is" : "are", count, plural(count), gpus->name, last);
}

static motet_status not_a_name(const list *l)
{
    return fail(l->context, MOTET_BAD_ARGUMENT,
                "devices is \"%s\", expected cpu, auto, cuda, or names such as cuda:0 or GPU-1f2e "
                "with commas between them",
                l->names);
}

/* One name: its back end, and its number there, or all of them. */
static motet_status read_name(const list *l, const char *name, size_t length,
                              const dev_table **table, int *number)
{
    const dev_table *gpus = dev_gpus();
    const int by_uuid = is_uuid(name, length);
    if (by_uuid || is(name, length, "cuda")) {
        const int count = gpus ? gpus->count(l->context) : 0;
        *table = gpus;
        *number = !count ? NONE : by_uuid ? number_of_uuid(l, name, length) : ALL;
        if (*number == NONE || *number == SEVERAL) return no_such_gpu(l, name, length, *number);
        return MOTET_OK;
    }
    *table = dev_find(name, length, number);
    if (*table && *table == gpus && *number >= gpus->count(l->context))
        return no_such_gpu(l, name, length, NONE);
    if (!*table && is_number_of_gpu(name, length)) return no_such_gpu(l, name, length, NONE);
    return *table ? MOTET_OK : not_a_name(l);
}

static motet_status add(list *l, const rt_named *one)
{
    for (int i = 0; i < l->count; i++)
        if (l->out[i].table == one->table && l->out[i].number == one->number) {
            char number[16] = "";
            if (one->table->count(l->context) != 1 || one->table->absence)
                snprintf(number, sizeof number, ":%d", one->number);
            return fail(l->context, MOTET_BAD_ARGUMENT, "devices names %s%s twice",
                        one->table->name, number);
        }
    if (l->count == RT_DEVICES)
        return fail(l->context, MOTET_BAD_ARGUMENT, "devices names more than %d devices",
                    RT_DEVICES);
    l->out[l->count++] = *one;
    return MOTET_OK;
}

/* An item of the list, up to its options. */
static motet_status add_item(list *l, const char *item, size_t length, int fallback)
{
    const char *at = memchr(item, '@', length);
    const size_t name = at ? (size_t)(at - item) : length;
    rt_named one = {.fallback = fallback};
    TRY(read_name(l, item, name, &one.table, &one.number));
    if (at && (!one.table->options || one.number < 0)) return not_a_name(l);
    if (at) {
        one.options = at + 1;
        one.options_length = length - name - 1;
    }
    if (one.number >= 0) return add(l, &one);
    const int count = one.table->count(l->context);
    for (one.number = 0; one.number < count; one.number++) TRY(add(l, &one));
    return MOTET_OK;
}

static motet_status add_auto(list *l)
{
    const dev_table *gpus = dev_gpus();
    const int count = gpus ? gpus->count(l->context) : 0, room = RT_DEVICES - 1;
    rt_named one = {.table = gpus, .optional = 1};
    for (; one.number < count && one.number < room; one.number++) TRY(add(l, &one));
    return add(l, &(rt_named){.table = &dev_cpu, .fallback = l->count > 0});
}

/* Takes out what the name means. What is not there, or not any more, need not be taken out. */
static motet_status take_out(list *l, const char *name, size_t length)
{
    const dev_table *table = dev_gpus();
    int number = ALL, left = 0;
    if (is_uuid(name, length)) {
        number = number_of_uuid(l, name, length);
        if (number < 0) return MOTET_OK;
    } else if (!is(name, length, "cuda")) {
        table = dev_find(name, length, &number);
        if (!table) return is_number_of_gpu(name, length) ? MOTET_OK : not_a_name(l);
    }
    for (int i = 0; i < l->count; i++)
        if (l->out[i].table != table || (number >= 0 && l->out[i].number != number))
            l->out[left++] = l->out[i];
    l->count = left;
    return MOTET_OK;
}

/* Calls for each item: 0, those that name devices; 1, those that take some out. */
static motet_status read_items(list *l, const char *from, int taking_out)
{
    int fallback = 0;
    for (const char *at = from;; at++) {
        const size_t length = strcspn(at, ",/");
        if (!length) return not_a_name(l);
        const int takes_out = *at == '-';
        if (takes_out && taking_out) TRY(take_out(l, at + 1, length - 1));
        if (!takes_out && !taking_out) TRY(add_item(l, at, length, fallback));
        at += length;
        if (!*at) return MOTET_OK;
        if (*at == '/' && fallback++) return not_a_name(l);
    }
}

motet_status rt_device_names(motet_context *c, const char *names, rt_named out[RT_DEVICES],
                             int *count)
{
    list l = {.context = c, .names = names, .out = out};
    const char *rest = names;
    if (!strncmp(names, "auto", 4) && (!names[4] || !strncmp(names + 4, ",-", 2))) {
        TRY(add_auto(&l));
        rest = names[4] ? names + 5 : "";
    }
    if (rest == names || *rest) {
        TRY(read_items(&l, rest, 0));
        TRY(read_items(&l, rest, 1));
    }
    if (!l.count)
        return fail(c, MOTET_BAD_ARGUMENT, "devices is \"%s\", which leaves no device", names);
    *count = l.count;
    return MOTET_OK;
}
