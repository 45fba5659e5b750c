/* One run of an operation with a journal: what is found is unpacked before the first chunk, what is
 * finished is appended.
 *
 * Records may come from runs that were cut otherwise. Those that are taken do not overlap, so a
 * part of the box is covered when the volumes of what it shares with each add up to its own. */
#include <string.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/journal.h"
#include "rt/journal_inside.h"
#include "rt/pipe_move.h"

static const int64_t most_steps = (int64_t)1 << 28; /* of looking for overlaps, then it is enough */

struct rt_journal_run {
    rt_journal *journal;
    const rt_op *op;
    void *data[RT_PORTS];
    digest key;
    const rt_journal_record *found; /* of the key, in the order of `first` */
    int64_t count, taken;
    int64_t longest;     /* of those, along axis 0 */
    unsigned char *take; /* a bit for each */
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

static int64_t shared(const rt_journal_record *r, const int64_t first[RT_AXES],
                      const int64_t count[RT_AXES])
{
    int64_t volume = 1;
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t low = r->first[i] > first[i] ? r->first[i] : first[i];
        const int64_t a = r->first[i] + r->count[i], b = first[i] + count[i];
        const int64_t high = a < b ? a : b;
        if (high <= low) return 0;
        volume *= high - low;
    }
    return volume;
}

static int is_taken(const rt_journal_run *r, int64_t k) { return r->take[k / 8] >> (k % 8) & 1; }

/* What of a part of the box lies in the records taken so far, of those before `end`. They are in
 * order of their first row, and none is longer than the longest. */
static int64_t covered(const rt_journal_run *r, const int64_t first[RT_AXES],
                       const int64_t count[RT_AXES], int64_t end, int64_t *steps)
{
    int64_t volume = 0, low = 0, high = end; /* the first record that begins behind the part */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (r->found[middle].first[0] < first[0] + count[0])
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t k = low; k-- > 0;) {
        if (r->found[k].first[0] <= first[0] - r->longest) break;
        if (is_taken(r, k)) volume += shared(&r->found[k], first, count);
        (*steps)++;
    }
    return volume;
}

static void take_found(rt_journal_run *r)
{
    int64_t steps = 0;
    for (int64_t k = 0; k < r->count && steps < most_steps; k++) {
        const rt_journal_record *one = &r->found[k];
        if (!within(r->op, one)) continue;
        if (covered(r, one->first, one->count, k, &steps)) continue;
        payload p = payload_of(r, one->first, one->count);
        if (p.all != (size_t)one->bytes) continue;
        if (!rt_journal_read(r->journal, one, unpack_piece, &p)) {
            restore(&p);
            continue;
        }
        r->take[k / 8] = (unsigned char)(r->take[k / 8] | 1u << k % 8);
        r->taken++;
        if (one->count[0] > r->longest) r->longest = one->count[0];
    }
}

motet_status rt_journal_begin(motet_context *c, const rt_op *op, void *const data[RT_PORTS],
                              rt_journal_run **out)
{
    *out = NULL;
    if (!c->journal || !rt_journal_takes(op)) return MOTET_OK;
    rt_journal_run *r = mem_new(c, rt_journal_run);
    if (!r) return fail(c, MOTET_NO_MEMORY, "%s: no memory to look into the journal", op->name);
    r->journal = c->journal;
    r->op = op;
    memcpy(r->data, data, sizeof r->data);
    r->key = rt_journal_key(op, data);
    r->count = rt_journal_find(r->journal, r->key, &r->found);
    if (r->count) {
        r->take = mem_zero(c, (size_t)(r->count + 7) / 8);
        if (!r->take) {
            mem_free(c, r);
            return fail(c, MOTET_NO_MEMORY, "%s: no memory for what the journal has of it",
                        op->name);
        }
        take_found(r);
    }
    *out = r;
    return MOTET_OK;
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

int rt_journal_covers(const rt_journal_run *r, const int64_t first[RT_AXES],
                      const int64_t count[RT_AXES])
{
    if (!r || !r->taken) return 0;
    int64_t a[RT_AXES], b[RT_AXES], volume = 1, steps = 0;
    normal(r->op, first, count, a, b);
    for (int i = 0; i < RT_AXES; i++) volume *= b[i];
    return covered(r, a, b, r->count, &steps) == volume;
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
    mem_free(c, r->take);
    mem_free(c, r);
}
