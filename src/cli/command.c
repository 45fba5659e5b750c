/* Finding commands, and the flags of one. */
#include "command.h"

#include <stddef.h>
#include <string.h>

const command *command_find(const char *name)
{
    for (const command *c = commands; c->name; c++)
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

const char *command_word(const command *c)
{
    const char *space = strrchr(c->name, ' ');
    return space ? space + 1 : c->name;
}

int command_is_below(const command *c, const char *group)
{
    const size_t n = strlen(group);
    if (!n) return !strchr(c->name, ' ');
    return !strncmp(c->name, group, n) && c->name[n] == ' ' && !strchr(c->name + n + 1, ' ');
}

int command_is_group(const command *c)
{
    for (const command *other = commands; other->name; other++)
        if (command_is_below(other, c->name)) return 1;
    return 0;
}

int command_own_flags(const command *c)
{
    int n = 0;
    while (c->flags && c->flags[n].name) n++;
    return n;
}

const flag *command_flag(const command *c, int index)
{
    const int own = command_own_flags(c);
    if (index < own) return &c->flags[index];
    index -= own;
    for (int group = 0; group < SHARED_GROUPS; group++) {
        if (!(c->shared & (1u << group))) continue;
        const flag *f = shared_groups[group].flags;
        for (; f->name; f++)
            if (index-- == 0) return f;
    }
    return NULL;
}

const char *command_flag_title(const command *c, int index)
{
    const flag *f = command_flag(c, index);
    for (int group = 0; group < SHARED_GROUPS && index >= command_own_flags(c); group++)
        for (const flag *g = shared_groups[group].flags; g->name; g++)
            if (g == f) return shared_groups[group].title;
    return "";
}
