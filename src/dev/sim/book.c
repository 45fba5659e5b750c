/* Who touched which memory, and what happened before what (vector clocks, as Fidge and Mattern
 * introduced them in 1988).
 *
 * Actors are the host and the streams. A command happens after the earlier ones of its stream,
 * after what its stream waited for, and after all that the host had seen when it put the command
 * there. The host has seen what an event or a stream said to be done when it was polled. All this
 * is known when a command is put in its stream, so accesses are compared then, and a missing edge
 * shows in any order of execution. What the host has seen happens before everything that is still
 * to come, so it leaves the book, and streams need not carry what the host knew. */
#include <string.h>

#include "dev/sim/inside.h"

static size_t rows_of(const sim_range *r) { return r->rows ? r->rows : 1; }
static uintptr_t end_of(const sim_range *r)
{
    return r->at + (rows_of(r) - 1) * r->pitch + r->bytes;
}

int sim_overlap(const sim_range *a, const sim_range *b)
{
    if (!a->bytes || !b->bytes || end_of(a) <= b->at || end_of(b) <= a->at) return 0;
    if (rows_of(a) > rows_of(b)) {
        const sim_range *c = a;
        a = b;
        b = c;
    }
    for (size_t i = 0; i < rows_of(a); i++) {
        const uintptr_t x = a->at + i * a->pitch;
        size_t j = 0; /* the first row of b that ends behind x */
        if (rows_of(b) > 1 && b->pitch && x >= b->at + b->bytes)
            j = (x - b->at - b->bytes) / b->pitch + 1;
        if (j >= rows_of(b)) return 0;
        const uintptr_t y = b->at + j * b->pitch;
        if (y < x + a->bytes && x < y + b->bytes) return 1;
    }
    return 0;
}

int sim_book_reserve(sim_world *w, int accesses)
{
    if (w->accesses + accesses <= w->room) return 1;
    const int64_t room = 2 * w->room + accesses + 64;
    sim_access *grown = sim_take(w, (size_t)room * sizeof *grown);
    if (!grown) return 0;
    if (w->accesses) memcpy(grown, w->book, (size_t)w->accesses * sizeof *grown);
    sim_give(w, w->book);
    w->book = grown;
    w->room = room;
    return 1;
}

static int covers(const sim_range *a, const sim_range *b)
{
    return rows_of(a) == 1 && a->at <= b->at && end_of(b) <= end_of(a);
}

void sim_book_add(sim_world *w, sim_device *device, const sim_time *time, int actor,
                  const sim_label *label, const sim_range *range)
{
    if (!range->bytes) return;
    int64_t kept = 0;
    for (int64_t i = 0; i < w->accesses; i++) {
        const sim_access *a = &w->book[i];
        const int before = time->at[a->actor] >= a->time;
        const int same = a->actor == actor && a->time == time->at[actor];
        /* Whoever comes later and conflicts with the former access conflicts with this one, too. */
        const int outdated = before && !same && actor != SIM_HOST &&
                             (range->writes || !a->range.writes) && covers(range, &a->range);
        if (!before && (a->range.writes || range->writes) && sim_overlap(range, &a->range)) {
            char one[96], other[96], place[96];
            sim_found(w, "%s %s %s, %s %s it, and no event orders them",
                      sim_label_text(&a->label, one), a->range.writes ? "writes" : "reads",
                      sim_place_text(w, range->at > a->range.at ? range->at : a->range.at, place),
                      sim_label_text(label, other), range->writes ? "writes" : "reads");
        }
        if (!outdated) w->book[kept++] = *a;
    }
    w->accesses = kept;
    /* The host's accesses happen before all commands to come. */
    if (actor == SIM_HOST) return;
    w->book[w->accesses++] = (sim_access){*range, *label, actor, time->at[actor], device};
}

void sim_time_join(sim_time *into, const sim_time *other)
{
    for (int i = 0; i < SIM_ACTORS; i++)
        if (into->at[i] < other->at[i]) into->at[i] = other->at[i];
}

void sim_host_join(sim_world *w, const sim_time *other)
{
    sim_time_join(&w->host, other);
    int64_t kept = 0;
    for (int64_t i = 0; i < w->accesses; i++)
        if (w->host.at[w->book[i].actor] < w->book[i].time) w->book[kept++] = w->book[i];
    w->accesses = kept;
}

void sim_book_forget_device(sim_world *w, const sim_device *device)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < w->accesses; i++)
        if (w->book[i].device != device) w->book[kept++] = w->book[i];
    w->accesses = kept;
    for (const dev_stream *s = device->streams; s; s = s->next)
        w->host.at[s->actor] = w->actor[s->actor].last;
}

void sim_book_forget_range(sim_world *w, uintptr_t at, size_t bytes)
{
    const sim_range range = {.at = at, .bytes = bytes};
    int64_t kept = 0;
    for (int64_t i = 0; i < w->accesses; i++)
        if (!sim_overlap(&range, &w->book[i].range)) w->book[kept++] = w->book[i];
    w->accesses = kept;
}

/* A number is used again when the host has seen all that its former stream did, so that nothing of
 * that can be taken for the new one's. */
int sim_actor_take(sim_world *w)
{
    for (int i = 1; i < SIM_ACTORS; i++)
        if (!w->actor[i].taken && w->host.at[i] >= w->actor[i].last) {
            w->actor[i].taken = 1;
            return i;
        }
    return 0;
}
