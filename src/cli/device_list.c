#include "device_list.h"

#include <string.h>

int device_list_next(const char **at, device_item *item)
{
    if (item->text) { /* not the first */
        if (!**at) return 0;
        item->fallback |= **at == '/';
        ++*at;
    }
    item->out = **at == '-';
    item->text = *at + item->out;
    item->length = strcspn(item->text, ",/");
    item->name = strcspn(item->text, ",/@=");
    *at = item->text + item->length;
    return 1;
}

int device_item_is(const device_item *item, const char *name)
{
    return item->name == strlen(name) && !strncmp(item->text, name, item->name);
}

static int is_uuid(const device_item *item)
{
    static const char digits[] = "0123456789abcdefABCDEF-";
    if (item->name < 5 || item->name > 40) return 0;
    if (strncmp(item->text, "GPU-", 4) && strncmp(item->text, "MIG-", 4)) return 0;
    return strspn(item->text + 4, digits) >= item->name - 4;
}

/* "cuda:12" */
static int is_numbered(const device_item *item, const char *prefix)
{
    const size_t n = strlen(prefix);
    return item->name > n && item->name < n + 4 && !strncmp(item->text, prefix, n) &&
           strspn(item->text + n, "0123456789") >= item->name - n;
}

int device_item_gpu(const device_item *item)
{
    return device_item_is(item, "cuda") || is_numbered(item, "cuda:") || is_uuid(item);
}

static int is_name(const device_item *item)
{
    if (is_numbered(item, "sim:")) /* what follows the '@' is its own affair */
        return item->name == item->length || item->text[item->name] == '@';
    return item->name == item->length && (device_item_is(item, "cpu") || device_item_gpu(item));
}

int device_list_good(const char *list)
{
    device_item item = {.text = NULL};
    int slashes = 0, first = 1, named = 0;
    for (const char *c = list; *c; c++) slashes += *c == '/';
    for (const char *at = list; device_list_next(&at, &item); first = 0) {
        const int automatic = first && !item.out && device_item_is(&item, "auto");
        if (!automatic && !is_name(&item)) return 0;
        named |= !item.out;
    }
    return named && slashes < 2;
}

int device_list_auto(const char *list)
{
    device_item item = {.text = NULL};
    const char *at = list;
    device_list_next(&at, &item);
    return !item.out && device_item_is(&item, "auto");
}

int device_list_cpu(const char *list)
{
    device_item item = {.text = NULL};
    int works = 0, out = 0;
    for (const char *at = list; device_list_next(&at, &item);)
        if (device_item_is(&item, "cpu")) {
            works |= !item.out && !item.fallback;
            out |= item.out;
        }
    return works && !out;
}

int device_list_gpus(const char *list)
{
    device_item item = {.text = NULL};
    for (const char *at = list; device_list_next(&at, &item);)
        if (!item.out && device_item_gpu(&item)) return 1;
    return 0;
}
