/* One run of an operation with a journal: what is found is unpacked before the first chunk, what is
 * finished is appended.
 *
 * Records may come from runs that were cut otherwise, and overlap: what they say of one element is
 * the same, as no cut changes a result. */
#include <string.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/journal.h"
#include "rt/journal_inside.h"
#include "rt/pipe_move.h"

enum { MOST_DEEP = 1000 };
static const int64_t most_steps = (int64_t)1 << 28; /* of looking for overlaps: then it is enough */

struct rt_journal_run {
    rt_journal *journal;
    const rt_op *op;
    void *data[RT_PORTS];
    digest key;
    const rt_journal_record *found; /* of the key, in the order of `first` */
    int64_t count, taken;
    int64_t longest;             /* of those, along axis 0 */
    int updates;                 /* something is RT_UPDATE */
    unsigned char *taken_bits;   /* of each: it is unpacked */
    unsigned char *trusted_bits; /* of those: what it unpacked is still there */
};

/* The written ports' parts, one behind the other, as a payload has them. */
typedef struct payload {
    const rt_journal_run *run;
    rt_chunk chunk;
    pipe_box box[RT_PORTS];
    size_t bytes[RT_PORTS], all; /* bytes: 0 where nothing is written */
} payload;

static payload payload_of(const rt_journal_run *r, const int64_t first[RT_AXES],
                          const int64_t count[RT_AXES])
{
    payload p;
    memset(&p, 0, sizeof p);
    p.run = r;
    memcpy(p.chunk.first, first, sizeof p.chunk.first);
    memcpy(p.chunk.count, count, sizeof p.chunk.count);
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *port = &r->op->port[i];
        if (!port->array || port->access == RT_READ) continue;
        p.box[i] = pipe_box_of(r->op, port, &p.chunk);
        p.bytes[i] = pipe_box_bytes(port, &p.box[i]);
        p.all += p.bytes[i];
    }
    return p;
}

/* Gives each port its part of a piece of the payload. */
static void for_ports(size_t offset, size_t bytes, char *piece, const payload *p, int unpack)
{
    for (int i = 0; i < RT_PORTS && bytes; i++) {
        if (offset >= p->bytes[i]) {
            offset -= p->bytes[i];
            continue;
        }
        const size_t left = p->bytes[i] - offset, part = left < bytes ? left : bytes;
        const rt_port *port = &p->run->op->port[i];
        if (unpack)
            pipe_unpack(port, p->run->data[i], &p->box[i], offset, part, piece);
        else
            pipe_pack(port, p->run->data[i], &p->box[i], offset, part, piece);
        piece += part;
        bytes -= part;
        offset = 0;
    }
}

static void unpack_piece(size_t offset, size_t bytes, void *piece, void *user)
{
    for_ports(offset, bytes, piece, user, 1);
}

static void pack_piece(size_t offset, size_t bytes, void *piece, void *user)
{
    for_ports(offset, bytes, piece, user, 0);
}

/* A record was damaged, and some of it is unpacked: what is updated gets its former values again.
 */
static void restore(const payload *p)
{
    rt_journal *j = p->run->journal;
    pthread_mutex_lock(&j->lock);
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *port = &p->run->op->port[i];
        if (!p->bytes[i] || port->access != RT_UPDATE) continue;
        for (size_t at = 0, part; at < p->bytes[i]; at += part) {
            part = p->bytes[i] - at < RT_JOURNAL_BUFFER ? p->bytes[i] - at : RT_JOURNAL_BUFFER;
            pipe_pack(port, port->array->data, &p->box[i], at, part, j->buffer);
            pipe_unpack(port, p->run->data[i], &p->box[i], at, part, j->buffer);
        }
    }
    pthread_mutex_unlock(&j->lock);
}

static int within(const rt_op *op, const rt_journal_record *r)
{
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t extent = i < op->axes ? op->extent[i] : 1;
        if (r->first[i] + r->count[i] > extent) return 0;
    }
    return 1;
}

static int has(const unsigned char *bits, int64_t k) { return bits[k / 8] >> (k % 8) & 1; }

static int overlap(const rt_journal_record *r, const int64_t first[RT_AXES],
                   const int64_t count[RT_AXES])
{
    for (int i = 0; i < RT_AXES; i++)
        if (r->first[i] >= first[i] + count[i] || first[i] >= r->first[i] + r->count[i]) return 0;
    return 1;
}

typedef struct search {
    const rt_journal_run *run;
    int64_t steps;
    int deep;
} search;

/* The number of records, of those before `end`, that do not begin behind this row. */
static int64_t records_to(const rt_journal_run *r, int64_t row, int64_t end)
{
    int64_t low = 0, high = end;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (r->found[middle].first[0] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* 1 if the first `k` records, as far as they are trusted, cover the part. They are in the order of
 * their first row, and none is longer than the longest: the last that overlaps is cut out, and what
 * is left of the part, up to two pieces along each axis, must be in those before. */
static int in_records(search *s, int64_t k, const int64_t first[RT_AXES],
                      const int64_t count[RT_AXES])
{
    const rt_journal_run *r = s->run;
    int64_t a[RT_AXES], b[RT_AXES];
    memcpy(a, first, sizeof a);
    memcpy(b, count, sizeof b);
    for (; k > 0; k--) {
        const rt_journal_record *one = &r->found[k - 1];
        if (++s->steps > most_steps || s->deep > MOST_DEEP) return 0;
        if (one->first[0] <= a[0] - r->longest) return 0;
        if (!has(r->trusted_bits, k - 1) || !overlap(one, a, b)) continue;
        for (int i = RT_AXES - 1; i >= 0; i--) {
            const int64_t low = one->first[i], high = low + one->count[i], end = a[i] + b[i];
            for (int above = 0; above < 2; above++) {
                if (above ? end <= high : low <= a[i] || i == 0) continue;
                int64_t piece[RT_AXES], size[RT_AXES];
                memcpy(piece, a, sizeof piece);
                memcpy(size, b, sizeof size);
                if (above) piece[i] = high;
                size[i] = above ? end - high : low - a[i];
                s->deep++;
                const int known = in_records(s, k - 1, piece, size);
                s->deep--;
                if (!known) return 0;
            }
            const int64_t begin = low > a[i] ? low : a[i];
            if (i > 0) {
                b[i] = (high < end ? high : end) - begin;
                a[i] = begin;
            } else if (low <= a[0]) {
                return 1;
            } else { /* the piece below is gone on with here: there may be very many */
                memcpy(a, first, sizeof a);
                memcpy(b, count, sizeof b);
                b[0] = low - a[0];
            }
        }
    }
    return 0;
}

/* 1 if one of the first `k` records that are taken overlaps the part; it is not trusted any more if
 * `distrust`. */
static int touched(search *s, int64_t k, const int64_t first[RT_AXES], const int64_t count[RT_AXES],
                   int distrust)
{
    const rt_journal_run *r = s->run;
    int any = 0;
    for (; k > 0 && r->found[k - 1].first[0] > first[0] - r->longest; k--) {
        s->steps++;
        if (!has(r->taken_bits, k - 1) || !overlap(&r->found[k - 1], first, count)) continue;
        any = 1;
        if (!distrust) break;
        unsigned char *bits = &r->trusted_bits[(k - 1) / 8];
        *bits = (unsigned char)(*bits & ~(1u << (k - 1) % 8));
    }
    return any;
}

/* A record that overlaps others is read twice: had it damaged them, all would have to be dropped,
 * which is done if it changes between the two. Answers 0 then. */
static int take_one(rt_journal_run *r, search *s, int64_t k)
{
    const rt_journal_record *one = &r->found[k];
    if (!within(r->op, one) || in_records(s, k, one->first, one->count)) return 1;
    payload p = payload_of(r, one->first, one->count);
    if (p.all != (size_t)one->bytes) return 1;
    const int overlaps = touched(s, k, one->first, one->count, 0);
    if (overlaps && !rt_journal_read(r->journal, one, NULL, NULL)) return 1;
    if (!rt_journal_read(r->journal, one, unpack_piece, &p)) {
        if (overlaps) return 0;
        restore(&p);
        return 1;
    }
    r->taken_bits[k / 8] = (unsigned char)(r->taken_bits[k / 8] | 1u << k % 8);
    r->trusted_bits[k / 8] = (unsigned char)(r->trusted_bits[k / 8] | 1u << k % 8);
    r->taken++;
    if (one->count[0] > r->longest) r->longest = one->count[0];
    return 1;
}

static motet_status take_found(rt_journal_run *r, log_phase *phase)
{
    search s = {.run = r};
    for (int64_t k = 0; k < r->count && s.steps < most_steps; k++) {
        TRY(log_phase_step(phase, 0));
        if (take_one(r, &s, k)) continue;
        int64_t whole[RT_AXES] = {0}, all[RT_AXES] = {1, 1, 1};
        memcpy(all, r->op->extent, (size_t)r->op->axes * sizeof *all);
        const payload p = payload_of(r, whole, all);
        restore(&p);
        r->taken = 0;
        break;
    }
    return MOTET_OK;
}

motet_status rt_journal_begin(motet_context *c, const rt_op *op, void *const data[RT_PORTS],
                              rt_journal_run **out)
{
    *out = NULL;
    if (!c->journal || !rt_journal_takes(op)) return MOTET_OK;
    rt_journal_run *r = mem_new(c, rt_journal_run);
    if (!r) return fail(c, MOTET_NO_MEMORY, "%s: no memory to look into the journal", op->name);
    log_phase phase = log_phase_begin(c, op->name, op->extent[0]);
    motet_status st = MOTET_OK;
    r->journal = c->journal;
    r->op = op;
    memcpy(r->data, data, sizeof r->data);
    for (int i = 0; i < RT_PORTS; i++)
        r->updates |= op->port[i].array && op->port[i].access == RT_UPDATE;
    TRY_GOTO(rt_journal_key_of(op, data, &phase, &r->key));
    r->count = rt_journal_find(r->journal, r->key, &r->found);
    if (r->count) {
        const size_t bytes = (size_t)(r->count + 7) / 8;
        r->taken_bits = mem_zero(c, 2 * bytes);
        if (!r->taken_bits)
            TRY_GOTO(
                fail(c, MOTET_NO_MEMORY, "%s: no memory for what the journal has of it", op->name));
        r->trusted_bits = r->taken_bits + bytes;
        TRY_GOTO(take_found(r, &phase));
    }
    *out = r;
    return MOTET_OK;
out:
    rt_journal_end(r);
    return st;
}

/* Axes that the operation has not are 0, 1 in records. */
static void normal(const rt_op *op, const int64_t first[RT_AXES], const int64_t count[RT_AXES],
                   int64_t a[RT_AXES], int64_t b[RT_AXES])
{
    for (int i = 0; i < RT_AXES; i++) {
        a[i] = i < op->axes ? first[i] : 0;
        b[i] = i < op->axes ? count[i] : 1;
    }
}

int rt_journal_covers(rt_journal_run *r, const int64_t first[RT_AXES], const int64_t count[RT_AXES])
{
    if (!r || !r->taken) return 0;
    search s = {.run = r};
    int64_t a[RT_AXES], b[RT_AXES];
    normal(r->op, first, count, a, b);
    const int64_t end = records_to(r, a[0] + b[0], r->count);
    if (in_records(&s, end, a, b)) return 1;
    if (r->updates && touched(&s, end, a, b, 1)) {
        const payload p = payload_of(r, a, b);
        restore(&p);
    }
    return 0;
}

void rt_journal_add(rt_journal_run *r, const int64_t first[RT_AXES], const int64_t count[RT_AXES])
{
    if (!r) return;
    rt_journal_record record = {.key = r->key};
    normal(r->op, first, count, record.first, record.count);
    payload p = payload_of(r, record.first, record.count);
    record.bytes = (int64_t)p.all;
    rt_journal_append(r->journal, &record, pack_piece, &p);
}

void rt_journal_end(rt_journal_run *r)
{
    if (!r) return;
    motet_context *c = r->journal->context;
    mem_free(c, r->taken_bits);
    mem_free(c, r);
}
