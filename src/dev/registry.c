/* A device's name is its back end's, and a number where there can be several: "cpu", "sim:1". */
#include "dev/registry.h"

#include <string.h>

const dev_table *const dev_tables[] = {&dev_cpu, &dev_cuda, &dev_sim, NULL};

/* Up to three digits, so that no number overflows; the back end knows which ones it has. */
static int read_index(const char *text, size_t length)
{
    if (length == 0 || length > 3) return -1;
    int index = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        index = 10 * index + (text[i] - '0');
    }
    return index;
}

const dev_table *dev_find(const char *name, size_t length, int *index)
{
    for (const dev_table *const *t = dev_tables; *t; t++) {
        const size_t n = strlen((*t)->name);
        if (length < n || memcmp(name, (*t)->name, n) != 0) continue;
        if (length > n && name[n] != ':') continue;
        *index = length == n ? 0 : read_index(name + n + 1, length - n - 1);
        return *index < 0 ? NULL : *t;
    }
    return NULL;
}

const dev_table *dev_gpus(void)
{
    for (const dev_table *const *t = dev_tables; *t; t++)
        if ((*t)->absence) return *t;
    return NULL;
}

void dev_end(motet_context *context)
{
    for (const dev_table *const *t = dev_tables; *t; t++) (*t)->end(context);
}
