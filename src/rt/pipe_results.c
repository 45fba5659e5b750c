/* What becomes of a finished chunk: its results go to the arrays or a sink, or are compared with
 * what another device computed of them before. */
#include <string.h>

#include "rt/pipe_inside.h"
#include "rt/pipe_move.h"

int pipe_comes_down(const pipe_device *d, int port)
{
    const rt_port *p = &d->job->op->port[port];
    return p->array && p->access != RT_READ && d->buffered[port] && d->kind[port] != RT_RESIDENT;
}

static motet_status take_out(pipe_device *d, int port, const pipe_box *box, char *from)
{
    const rt_port *p = &d->job->op->port[port];
    d->device->table->host_access(d->device, from, pipe_box_bytes(p, box), p->limbs > 0);
    const motet_status st =
        pipe_scatter(d->job->context, d->job->op, p, d->job->data[port], box, from);
    if (st != MOTET_OK) d->job->refused = 1;
    return st;
}

/* Sums go into an array that other chunks add to as well: what is compared is a digest of them. */
static void digest_sums(pipe_device *d, int port, const pipe_box *box, const char *from)
{
    const rt_port *p = &d->job->op->port[port];
    const size_t bytes = pipe_box_bytes(p, box);
    d->device->table->host_access(d->device, from, bytes, 0);
    const digest of[2] = {d->sums, digest_bytes(from, bytes)};
    d->sums = digest_bytes(of, sizeof of);
}

static motet_status compare_sums(const pipe_device *d, const pipe_task *task)
{
    if (digest_equal(d->sums, task->sums)) return MOTET_OK;
    return fail(d->job->context, MOTET_CHECK_FAILED,
                "%s: %s and %s gave other sums of rows %lld to %lld", d->job->op->name,
                d->job->devices[task->by - 1].name, d->on->info.name, (long long)task->first[0],
                (long long)(task->first[0] + task->count[0] - 1));
}

/* What was computed once more has the same bits, or one of two devices computes wrongly. */
static motet_status compare(pipe_device *d, const pipe_task *task, int port, const pipe_box *box,
                            const char *from)
{
    const rt_port *p = &d->job->op->port[port];
    d->device->table->host_access(d->device, from, pipe_box_bytes(p, box), 0);
    const int64_t at = pipe_differs(p, d->job->data[port], box, from);
    if (at < 0) return MOTET_OK;
    char where[PIPE_PLACE];
    pipe_place(p, at, where);
    return fail(d->job->context, MOTET_CHECK_FAILED,
                "%s: %s and %s gave other bits for element (%s) of %s, in rows %lld to %lld",
                d->job->op->name, d->job->devices[task->by - 1].name, d->on->info.name, where,
                p->name, (long long)task->first[0],
                (long long)(task->first[0] + task->count[0] - 1));
}

motet_status pipe_take_results(pipe_device *d, const rt_chunk *chunk, const pipe_task *task,
                               int slot)
{
    memset(&d->sums, 0, sizeof d->sums);
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &d->job->op->port[i];
        if (!pipe_comes_down(d, i)) continue;
        const pipe_box box = pipe_box_of(d->job->op, p, chunk);
        char *from = pipe_host_side(d, i, slot, 0);
        if (p->access == RT_ADD && d->job->verify > 0) digest_sums(d, i, &box, from);
        if (p->access == RT_ADD && task->by) continue;
        TRY(task->by ? compare(d, task, i, &box, from) : take_out(d, i, &box, from));
    }
    return task->by ? compare_sums(d, task) : MOTET_OK;
}
