/* Work comes from three places: a device's own share, the list of what others left behind (or of
 * all, where results must leave in order), and what was done and is to be computed once more. */
#include "rt/pipe_work.h"

#include <string.h>

#include "kern/digest.h"
#include "rt/journal.h"

static double volume(const pipe_task *task)
{
    double size = 1;
    for (int i = 0; i < RT_AXES; i++) size *= (double)task->count[i];
    return size;
}

/* 1 if the journal had all of it: it counts as done. */
static int is_known(pipeline *p, const pipe_task *task)
{
    if (!rt_journal_covers(p->job->journal, task->first, task->count)) return 0;
    p->done += volume(task);
    return 1;
}

/* To the next chunk of its share that is to be computed. */
static void skip_known(pipeline *p, pipe_device *d)
{
    pipe_task task;
    for (; p->job->journal && d->next < d->share.chunks; d->next++) {
        rt_share_chunk(&d->share, p->job->op, d->next, task.first, task.count);
        if (!is_known(p, &task)) return;
    }
}

motet_status pipe_work_begin(pipeline *p)
{
    const rt_op *op = p->job->op;
    for (int i = 0; i < p->count; i++)
        if (!p->device[i].listed) skip_known(p, &p->device[i]);
    if (!p->job->plan->listed) return MOTET_OK;
    pipe_task all = {.count = {1, 1, 1}};
    for (int i = 0; i < op->axes; i++) all.count[i] = op->extent[i];
    return pipe_list_add(&p->left, &all);
}

/* As up to RT_AXES boxes. */
motet_status pipe_work_leave(pipeline *p, const pipe_device *d)
{
    const rt_share *s = &d->share;
    for (int64_t local = d->next; local < s->chunks;) {
        pipe_task box = {.by = 0};
        rt_share_chunk(s, p->job->op, local, box.first, box.count);
        int axis = RT_AXES - 1; /* the box goes to the end of this axis; axes behind it are whole */
        int64_t chunks = 1;     /* of one step along that axis */
        while (axis > 0 && local % (chunks * s->pieces[axis]) == 0) chunks *= s->pieces[axis--];
        for (int i = axis; i < RT_AXES; i++) {
            const int64_t extent = i < p->job->op->axes ? p->job->op->extent[i] : 1;
            const int64_t end = i == s->axis ? s->first + s->rows : extent;
            box.count[i] = end - box.first[i];
        }
        TRY(pipe_list_add(&p->left, &box));
        const int64_t at = local / chunks % s->pieces[axis];
        local += (s->pieces[axis] - at) * chunks;
    }
    return MOTET_OK;
}

motet_status pipe_work_return(pipeline *p, const pipe_task *task)
{
    return pipe_list_add(task->by ? &p->again : &p->left, task);
}

void pipe_work_again_rows(const pipeline *p, int64_t rows[RT_AXES])
{
    for (int64_t k = 0; p->adds && k < p->again.count; k++)
        for (int i = 0; i < p->job->op->axes; i++)
            if (rows[i] < p->again.task[k].count[i]) rows[i] = p->again.task[k].count[i];
}

static int picked(const pipeline *p, const pipe_task *task)
{
    if (p->verify <= 0) return 0;
    int64_t words[1 + 2 * RT_AXES];
    memcpy(&words[0], &p->name, sizeof p->name);
    memcpy(&words[1], task->first, sizeof task->first);
    memcpy(&words[1 + RT_AXES], task->count, sizeof task->count);
    const digest d = digest_bytes(words, sizeof words);
    return (double)(d.low >> 11) * 0x1p-53 < p->verify;
}

motet_status pipe_work_done(pipeline *p, const pipe_device *d, const pipe_task *task)
{
    if (task->by) { /* two devices agree: now it may be relied upon */
        rt_journal_add(p->job->journal, task->first, task->count);
        return MOTET_OK;
    }
    p->done += volume(task);
    p->job->elements[d - p->device] += volume(task);
    if (!picked(p, task)) {
        rt_journal_add(p->job->journal, task->first, task->count);
        return MOTET_OK;
    }
    pipe_task again = *task;
    again.by = (int)(d - p->device) + 1;
    again.sums = d->sums;
    return pipe_list_add(&p->again, &again);
}

/* A device without weight helps only when no other is left. */
static int has_a_say(const pipeline *p, const pipe_device *d)
{
    if (!d->weightless) return 1;
    for (int i = 0; i < p->count; i++)
        if (!p->device[i].out && !p->device[i].weightless) return 0;
    return 1;
}

/* Which one of those to be computed once more the device may take: one of another device's, or its
 * own if there is no other. */
static int64_t again_for(const pipeline *p, const pipe_device *d)
{
    int others = 0;
    for (int i = 0; i < p->count; i++) {
        const pipe_device *o = &p->device[i];
        others += o != d && !o->out && has_a_say(p, o);
    }
    for (int64_t k = p->again.count; k-- > 0;)
        if (!others || p->again.task[k].by - 1 != d - p->device) return k;
    return -1;
}

/* In order: a device takes nothing that comes before what it has, as its own chunks leave in the
 * order in which they were begun. */
static int in_order(const pipeline *p, const pipe_device *d)
{
    if (!p->ordered || d->begun == d->retired) return 1;
    return pipe_task_compare(pipe_list_first(&p->left), pipe_task_of(d, d->begun - 1)) > 0;
}

int pipe_work_for(const pipeline *p, const pipe_device *d)
{
    if (d->out) return 0;
    if (!d->listed && d->next < d->share.chunks) return 1;
    if (!p->left.count && !p->again.count) return 0;
    return has_a_say(p, d) && (p->left.count || again_for(p, d) >= 0);
}

/* Sums are compared by whole chunks; those that do not fit the device are left as they are. */
static motet_status next_again(pipeline *p, const pipe_device *d, pipe_task *task, int *got)
{
    for (int64_t k; !*got && (k = again_for(p, d)) >= 0;) {
        *got = 1;
        pipe_list_prefer(&p->again, k);
        if (!p->adds) return pipe_list_take(&p->again, d->share.cut.rows, task);
        pipe_list_take_whole(&p->again, task);
        for (int i = 0; i < RT_AXES; i++) *got &= task->count[i] <= d->share.cut.rows[i];
        if (!*got)
            log_warning(p->job->context, "device", "%s: not all chunks fit %s, to be verified",
                        p->job->op->name, d->on->info.name);
    }
    return MOTET_OK;
}

motet_status pipe_work_next(pipe_device *d, pipe_task *task, int *got)
{
    pipeline *p = d->pipe;
    pipe_turn *turn = p->job->turn;
    const int number = d->device->index;
    *got = 0;
    if (turn->over[number] || !pipe_work_for(p, d)) return MOTET_OK;
    if (!d->listed && d->next < d->share.chunks) {
        *got = 1;
        task->by = 0;
        rt_share_chunk(&d->share, p->job->op, d->next++, task->first, task->count);
        skip_known(p, d);
    }
    while (d->listed && !*got && p->left.count && in_order(p, d)) {
        TRY(pipe_list_take(&p->left, d->share.cut.rows, task));
        *got = !is_known(p, task);
    }
    if (d->listed && !*got && !p->left.count) TRY(next_again(p, d, task, got));
    if (*got && rt_turn_over(&turn->turn, number)) turn->over[number] = turn->ending = 1;
    return MOTET_OK;
}

int pipe_work_none(const pipeline *p)
{
    for (int i = 0; i < p->count; i++) {
        const pipe_device *d = &p->device[i];
        if (!d->out && !d->listed && d->next < d->share.chunks) return 0;
        if (d->kept && d->feeding) return 0;
    }
    return p->left.count == 0 && p->again.count == 0;
}
