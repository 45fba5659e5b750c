/* Lists are short (a few boxes for each lost device, or one), so they are kept sorted by moving. */
#include "rt/pipe_list.h"

#include <string.h>

#include "base/mem.h"

int pipe_task_compare(const pipe_task *a, const pipe_task *b)
{
    for (int i = 0; i < RT_AXES; i++)
        if (a->first[i] != b->first[i]) return a->first[i] < b->first[i] ? -1 : 1;
    return 0;
}

/* Room for so many more, so that adding them cannot fail. */
static motet_status reserve(pipe_list *l, int64_t more)
{
    if (l->room - l->count >= more) return MOTET_OK;
    const int64_t room = 2 * l->room + 16;
    pipe_task *grown = mem_grow(l->context, l->task, (size_t)room * sizeof *grown);
    if (!grown)
        return fail(l->context, MOTET_NO_MEMORY, "%s: no memory to list what is left to do",
                    l->name);
    l->task = grown;
    l->room = room;
    return MOTET_OK;
}

/* Where there is room. */
static void insert(pipe_list *l, const pipe_task *task)
{
    int64_t at = l->count;
    while (at > 0 && pipe_task_compare(&l->task[at - 1], task) < 0) at--;
    memmove(&l->task[at + 1], &l->task[at], (size_t)(l->count - at) * sizeof *l->task);
    l->task[at] = *task;
    l->count++;
}

motet_status pipe_list_add(pipe_list *l, const pipe_task *task)
{
    for (int i = 0; i < RT_AXES; i++)
        if (task->count[i] <= 0) return MOTET_OK;
    TRY(reserve(l, 1));
    insert(l, task);
    return MOTET_OK;
}

const pipe_task *pipe_list_first(const pipe_list *l)
{
    return l->count ? &l->task[l->count - 1] : NULL;
}

void pipe_list_prefer(pipe_list *l, int64_t number)
{
    const pipe_task task = l->task[number];
    memmove(&l->task[number], &l->task[number + 1],
            (size_t)(l->count - 1 - number) * sizeof *l->task);
    l->task[l->count - 1] = task;
}

motet_status pipe_list_take(pipe_list *l, const int64_t rows[RT_AXES], pipe_task *piece)
{
    TRY(reserve(l, RT_AXES));
    *piece = l->task[--l->count];
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t most = rows[i] - piece->first[i] % rows[i];
        if (piece->count[i] <= most) continue;
        pipe_task rest = *piece;
        rest.first[i] += most;
        rest.count[i] -= most;
        piece->count[i] = most;
        insert(l, &rest);
    }
    return MOTET_OK;
}

void pipe_list_take_whole(pipe_list *l, pipe_task *task) { *task = l->task[--l->count]; }

void pipe_list_free(pipe_list *l)
{
    mem_free(l->context, l->task);
    l->task = NULL;
    l->count = l->room = 0;
}
