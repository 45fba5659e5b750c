/* Making a plan: shares, then the chunks of each, then what they take; and addressing its chunks.
 */
#include "rt/plan.h"

#include <string.h>

#include "rt/plan_inside.h"
#include "rt/resident.h"

enum {
    CHUNKS = 32,     /* wanted where arrays are used in place, for progress and cancellation; */
    MADE_CHUNKS = 4, /* where each of them transforms the stream anew */
    CHUNK_BYTES = 1 << 14, /* but no smaller ones than this, as far as ports tell */
    BLOCKS = 8,
    BLOCK_BYTES = 1 << 24,
    CHUNKS_PER_DEVICE = 4
};

const char *rt_mode_text(rt_mode mode)
{
    static const char *const texts[] = {
#define RT_MODE_TEXT(name, text) text,
        RT_MODE_LIST(RT_MODE_TEXT)
#undef RT_MODE_TEXT
    };
    return texts[mode];
}

/* In place. */

/* Grains of a share: the least that chunks can be cut into. */
static int64_t grains(const rt_op *op, const rt_share *share)
{
    int64_t count = 1;
    for (int i = 0; i < op->axes; i++)
        count = plan_mul(count, plan_pieces(plan_share_extent(op, share, i),
                                            op->grain[i] > 1 ? op->grain[i] : 1));
    return count;
}

/* What comes from a source and is the same for all rows of an axis would be read for each chunk. */
static int is_read_again(const rt_op *op, int axis)
{
    for (int i = 0; i < RT_PORTS && axis < op->axes; i++)
        if (op->port[i].array && op->port[i].source && op->port[i].cut[axis] == RT_WHOLE) return 1;
    return 0;
}

/* Enough chunks for progress and cancellation, but none so small that workers run out of grains. */
void plan_cut_in_place(const rt_op *op, const rt_cut *asked, int64_t workers, rt_share *share)
{
    rt_cut *cut = &share->cut;
    size_t bytes = 0, streamed = 0;
    int made = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        made |= p->transform != NULL;
        if (__builtin_add_overflow(bytes, p->array->bytes, &bytes)) bytes = SIZE_MAX;
        if (p->streamed && __builtin_add_overflow(streamed, p->array->bytes, &streamed))
            streamed = SIZE_MAX;
    }
    const size_t most = bytes / CHUNK_BYTES;
    int64_t wanted = most < 1 ? 1 : most < CHUNKS ? (int64_t)most : CHUNKS;
    if (made && wanted > MADE_CHUNKS) wanted = MADE_CHUNKS;
    if (workers > 0 && wanted > grains(op, share) / (2 * workers))
        wanted = grains(op, share) / (2 * workers);
    if (asked->rows[0] > 0) wanted = 1; /* the other axes stay whole */
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t extent = plan_share_extent(op, share, i);
        int64_t rows = asked->rows[i];
        if (rows <= 0)
            rows = wanted > 1 && !is_read_again(op, i) ? extent / wanted + (extent % wanted != 0)
                                                       : INT64_MAX;
        cut->rows[i] = plan_round_rows(rows, i < op->axes ? op->grain[i] : 1, extent);
        const int64_t pieces = plan_pieces(extent, cut->rows[i]);
        wanted = pieces > 0 ? (wanted - 1) / pieces + 1 : 1;
    }
    int64_t rows = asked->stream_rows;
    if (rows <= 0) {
        const size_t blocks = streamed / BLOCK_BYTES + 1;
        const int64_t count = blocks < BLOCKS ? (int64_t)blocks : BLOCKS;
        rows = op->stream_extent / count + (op->stream_extent % count != 0);
    }
    cut->stream_rows = plan_round_rows(rows, op->stream_block, op->stream_extent);
}

rt_cut rt_cut_choose(const rt_op *op, int64_t chunk)
{
    const rt_cut asked = {{chunk}, chunk}; /* the stream, too: so that the option tries every cut */
    rt_share whole = {.rows = op->extent[0]};
    plan_cut_in_place(op, &asked, 0, &whole);
    return whole.cut;
}

/* Options. */

static motet_status check_options(motet_context *c, const rt_plan_device *devices, int count,
                                  const rt_plan_options *o)
{
    if (count < 1 || count > RT_DEVICES)
        return fail(c, MOTET_BAD_ARGUMENT, "%d devices, expected 1 to %d", count, RT_DEVICES);
    for (int i = 0; i < count; i++)
        if (devices[i].budget < 0 || devices[i].reserved < 0 || devices[i].wanted_rows < 0)
            return fail(c, MOTET_BAD_ARGUMENT,
                        "%s: budget, reserved and wanted_rows are %lld, %lld and %lld, expected at "
                        "least 0",
                        devices[i].name, (long long)devices[i].budget,
                        (long long)devices[i].reserved, (long long)devices[i].wanted_rows);
    for (int i = 0; i < RT_AXES; i++)
        if (o->cut.rows[i] < 0)
            return fail(c, MOTET_BAD_ARGUMENT,
                        "chunk: %lld rows of axis %d, expected at least 1, or 0",
                        (long long)o->cut.rows[i], i);
    if (o->cut.stream_rows < 0)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "chunk: %lld rows of the stream, expected at least 1, or 0",
                    (long long)o->cut.stream_rows);
    if (o->chunks_per_device < 0 || o->chunks_per_device == 1)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "chunks_per_device is %lld, expected at least 2; unpipelined runs have one",
                    (long long)o->chunks_per_device);
    if (o->host_memory < 0 || o->host_held < 0 || o->shard_rows < 0 || o->weightings < 0)
        return fail(
            c, MOTET_BAD_ARGUMENT,
            "host_memory, host_held, shard_rows and weightings are %lld, %lld, %lld and %d, "
            "expected at least 0",
            (long long)o->host_memory, (long long)o->host_held, (long long)o->shard_rows,
            o->weightings);
    return MOTET_OK;
}

/* The host. */

/* What stays on devices needs a copy on the host only where that computes a part of it. */
static void set_private(const rt_op *op, const rt_plan_device *devices, rt_plan *plan)
{
    int host = 0;
    for (int i = 0; i < plan->devices; i++) host |= plan->share[i].rows && devices[i].host_visible;
    const unsigned resident = host ? 0 : rt_resident_ports(op);
    for (int i = 0; i < RT_PORTS; i++)
        if (rt_port_private(op, i) && !(resident >> i & 1)) {
            const size_t b = op->port[i].array->bytes;
            plan->private_ports |= 1u << i;
            plan->private_bytes =
                plan_add(plan->private_bytes, b > INT64_MAX ? INT64_MAX : (int64_t)b);
        }
}

static motet_status refuse_host(motet_context *c, const rt_plan *plan, const rt_plan_options *o,
                                int64_t staging)
{
    const int64_t needed = plan_add(plan->private_bytes, plan_add(staging, o->host_held));
    return fail(
        c, MOTET_OVER_BUDGET,
        "%s on the host: the bound is %lld bytes; %lld are held, private copies take %lld, a "
        "row takes %lld; with 1 chunk in flight staging and scratch take %lld: at least "
        "%lld bytes",
        plan->operation, (long long)o->host_memory, (long long)o->host_held,
        (long long)plan->private_bytes, (long long)plan->row_bytes, (long long)staging,
        (long long)needed);
}

/* What has a source or a sink may be larger than memory. */
static int comes_from_elsewhere(const rt_op *op)
{
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && (op->port[i].source || op->port[i].sink)) return 1;
    return 0;
}

/* Staging for each device that needs some: an equal part of what the host has left. */
static int64_t staging_room(const rt_op *op, const rt_plan *plan, const rt_plan_device *devices,
                            const rt_plan_options *o, int remotes)
{
    if (!o->host_memory && remotes && comes_from_elsewhere(op) && o->host_free > 0)
        return o->host_free / 4 * 3 / remotes;
    if (!o->host_memory || !remotes) return INT64_MAX;
    int64_t taken = plan_add(plan->private_bytes, o->host_held);
    for (int i = 0; i < plan->devices; i++)
        if (plan->share[i].rows && devices[i].host_visible && !rt_op_buffered(op))
            taken = plan_add(taken, plan_scratch(op, &devices[i]));
    return taken < o->host_memory ? (o->host_memory - taken) / remotes : 0;
}

/* The plan. */

static void set_limit(const rt_plan_device *d, rt_share *s)
{
    s->limit = d->budget ? d->budget : d->free >= 0 ? d->free / 4 * 3 : INT64_MAX;
    if (d->free >= 0 && s->limit > d->free) s->limit = d->free;
}

/* Arrays that stay on the device; where they leave no room for a chunk, those that are read come
 * from the host as others do. */
static motet_status cut_with_resident(motet_context *c, const rt_op *op, const rt_plan_device *d,
                                      const rt_plan_options *o, int64_t most, int64_t room,
                                      rt_share *s)
{
    s->resident = o->from_home || d->host_visible ? 0 : rt_resident_ports(op);
    if (s->resident) rt_resident_bytes(op, s, d->place, &s->resident_bytes, &s->fill_bytes);
    const motet_status st = plan_cut_to_fit(c, op, d, o, most, room, s);
    unsigned written = 0;
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].access != RT_READ) written |= s->resident & 1u << i;
    if (st != MOTET_OVER_BUDGET || written == s->resident) return st;
    s->resident = written;
    rt_resident_bytes(op, s, d->place, &s->resident_bytes, &s->fill_bytes);
    return plan_cut_to_fit(c, op, d, o, most, room, s);
}

/* Rows of a chunk on devices with memory of their own, if there is room. */
static int64_t wanted_rows(const rt_plan *plan, const rt_plan_options *o, int rereads)
{
    int64_t widest = 0;
    for (int i = 0; i < plan->devices; i++)
        if (plan->share[i].rows > widest) widest = plan->share[i].rows;
    if (o->unpipelined) return widest;
    int64_t chunks = o->chunks_per_device ? o->chunks_per_device : CHUNKS_PER_DEVICE;
    if (rereads) chunks = 1;
    if (plan->listed) {
        int working = 0;
        for (int i = 0; i < plan->devices; i++) working += plan->share[i].rows > 0;
        chunks = plan_mul(chunks, working ? working : 1);
    }
    return widest / chunks + (widest % chunks != 0);
}

static motet_status cut_shares(motet_context *c, const rt_op *op, const rt_plan_device *devices,
                               const rt_plan_options *o, rt_plan *plan)
{
    const int buffered = rt_op_buffered(op); /* so that the host's own workers need room, too */
    int remotes = 0;
    int64_t least = 0;
    for (int i = 0; i < plan->devices; i++)
        remotes += plan->share[i].rows > 0 && (buffered || !devices[i].host_visible);
    const int rereads = plan_rereads(op);
    const int64_t room = staging_room(op, plan, devices, o, remotes);
    const int64_t wanted = wanted_rows(plan, o, rereads);
    int short_of_host = 0;
    for (int i = 0; i < plan->devices; i++) {
        rt_share *s = &plan->share[i];
        const rt_plan_device *d = &devices[i];
        if (!s->rows) continue;
        set_limit(d, s);
        int64_t most = wanted;
        if (d->wanted_rows && d->wanted_rows < wanted && !rereads) most = d->wanted_rows;
        if (d->host_visible && !rereads) {
            plan_cut_in_place(op, &o->cut, d->workers, s);
            if (plan->listed && o->cut.rows[s->axis] <= 0 &&
                s->cut.rows[s->axis] > wanted) /* some are left for the others */
                s->cut.rows[s->axis] = plan_round_rows(wanted, op->grain[s->axis], s->rows);
            plan_measure(op, d, RT_SLOTS, RT_SLOTS, s);
            if (!buffered || s->staging_bytes <= room) continue;
            most = s->cut.rows[s->axis];
        }
        const motet_status st = cut_with_resident(c, op, d, o, most, room, s);
        if (st == MOTET_OVER_BUDGET && s->staging_bytes > room)
            short_of_host = 1;
        else
            TRY(st);
        if (s->staging_bytes > least) least = s->staging_bytes;
    }
    if (short_of_host) return refuse_host(c, plan, o, plan_mul(remotes, least));
    return MOTET_OK;
}

static motet_status add_up(motet_context *c, const rt_plan_options *o, rt_plan *plan)
{
    int64_t staging = 0;
    for (int i = 0; i < plan->devices; i++) {
        const rt_share *s = &plan->share[i];
        staging = plan_add(staging, s->staging_bytes);
        if (!plan->listed)
            plan->chunks = plan_add(plan->chunks, s->chunks);
        else if (s->chunks > plan->chunks)
            plan->chunks = s->chunks;
        if (plan->mode == RT_CHUNKED && s->blocks > 1) plan->mode = RT_STREAMED;
    }
    plan->host_bytes = plan_add(plan->private_bytes, staging);
    if (plan->chunks == INT64_MAX)
        return fail(c, MOTET_BAD_ARGUMENT, "%s: more than 2^63 chunks", plan->operation);
    if (o->host_memory && plan_add(plan->host_bytes, o->host_held) > o->host_memory)
        return refuse_host(c, plan, o, staging);
    return MOTET_OK;
}

motet_status rt_plan_make(motet_context *c, const rt_op *op, const rt_plan_device *devices,
                          int count, const rt_plan_options *options, rt_plan *out)
{
    static const rt_plan_options defaults;
    const rt_plan_options *o = options ? options : &defaults;
    rt_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.operation = op->name;
    plan.devices = count;
    TRY(rt_op_check(c, op));
    TRY(check_options(c, devices, count, o));
    TRY(plan_shares(c, op, devices, count, o, &plan));
    for (int i = 0; i < op->axes; i++)
        if (op->extent[i] == 0)
            for (int j = 0; j < count; j++) plan.share[j].rows = 0; /* an empty box */
    set_private(op, devices, &plan);
    TRY(cut_shares(c, op, devices, o, &plan));
    TRY(add_up(c, o, &plan));
    *out = plan;
    return MOTET_OK;
}

/* Chunks. */

int rt_plan_chunk(const rt_plan *plan, int64_t number, int64_t *local)
{
    /* Rounds in which the same devices take part are skipped at once. */
    int64_t round = 0, rest = number;
    for (;;) {
        int64_t next = INT64_MAX, busy = 0;
        for (int i = 0; i < plan->devices; i++) {
            const int64_t left = plan->share[i].chunks - round;
            if (left <= 0) continue;
            busy++;
            if (left < next) next = left;
        }
        if (busy && rest / busy >= next) {
            rest -= next * busy;
            round += next;
            continue;
        }
        const int64_t turn = busy ? rest % busy : 0;
        round += busy ? rest / busy : 0;
        *local = round;
        int64_t seen = 0;
        for (int i = 0; i < plan->devices; i++)
            if (plan->share[i].chunks > round && seen++ == turn) return i;
        return 0; /* number is past the end */
    }
}

rt_chunk rt_share_whole(const rt_op *op, const rt_share *s)
{
    rt_chunk all;
    memset(&all, 0, sizeof all);
    for (int i = 0; i < op->axes; i++) all.count[i] = op->extent[i];
    all.first[s->axis] = s->first;
    all.count[s->axis] = s->rows;
    all.stream_count = op->stream_extent;
    return all;
}

void rt_share_chunk(const rt_share *s, const rt_op *op, int64_t local, int64_t first[RT_AXES],
                    int64_t count[RT_AXES])
{
    for (int i = RT_AXES - 1; i >= 0; i--) {
        const int64_t extent = plan_share_extent(op, s, i);
        first[i] = local % s->pieces[i] * s->cut.rows[i];
        local /= s->pieces[i];
        const int64_t left = extent - first[i];
        count[i] = left < s->cut.rows[i] ? left : s->cut.rows[i];
    }
    first[s->axis] += s->first;
}
