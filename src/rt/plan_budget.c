/* How large a chunk may be: bytes of a cut, and the largest cut that fits.
 *
 * Cuts are tried along one path on which no side ever shrinks: from one grain of every axis, axis 2
 * grows to its end, then axis 1, then the blocks of the stream to a useful size, then axis 0, then
 * the blocks to the whole stream. The farthest point that fits is taken; so more memory never
 * gives smaller chunks. Where nothing on the path fits with RT_SLOTS buffers of each kind, its
 * smallest point is tried with fewer, down to one; then it is refused with the least that would do.
 *
 * Bytes grow along one side as long as it is cut in three pieces or more; with two pieces, or one,
 * fewer buffers are needed and the bytes may drop. So every side is searched in three ranges. */
#include <stdio.h>

#include "rt/plan_inside.h"

enum {
    BLOCK_BYTES = 1 << 22,  /* a block of the stream worth a transfer of its own; */
    SOURCE_BYTES = 1 << 26, /* of one that comes from a source: few seeks, few passes of sums, */
    SOURCE_PART = 12,       /* but no more than this part of what there is room for, */
    SOURCE_BLOCKS = 8       /* and so many that one is read while others are computed */
};

int64_t plan_round_rows(int64_t rows, int64_t grain, int64_t extent)
{
    if (grain < 1) grain = 1;
    if (rows < 1) rows = 1;
    if (rows >= extent) return extent < 1 ? 1 : extent;
    const int64_t missing = rows % grain ? grain - rows % grain : 0;
    return extent - rows <= missing ? extent : rows + missing;
}

/* Bytes. */

static int64_t align(int64_t bytes)
{
    return bytes > INT64_MAX - RT_ALIGN ? INT64_MAX : (bytes + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN;
}

/* The most elements that so many rows of a ragged port have, wherever they begin, so that any
 * piece of the box fits that is no longer than a chunk. Of 32 rows or more it is an upper bound,
 * seen by windows up to a sixteenth longer, as plans ask often. It never falls with the rows. */
static int64_t widest_rows(const rt_op *op, const rt_port *p, int64_t rows, int64_t *first)
{
    const int64_t extent = op->extent[0];
    int64_t most = 0, step = 1;
    if (rows >= extent) return p->offset[extent] - p->offset[0];
    while (step <= rows / 32) step *= 2;
    const int64_t length = rows + step - 1;
    for (int64_t i = 0; i < extent; i += step) {
        const int64_t end = length < extent - i ? i + length : extent;
        const int64_t size = p->offset[end] - p->offset[i];
        if (size <= most) continue;
        most = size;
        if (first) *first = i;
    }
    return most;
}

static int64_t bytes_of(const rt_op *op, const rt_port *p, const rt_cut *cut, motet_type type)
{
    int64_t size[MOTET_MAX_AXES];
    for (int i = 0; i < p->array->axes; i++) size[i] = p->array->shape[i];
    if (p->list) size[p->cut[0]] = p->list_count;
    for (int i = 0; i < op->axes; i++) {
        if (p->cut[i] == RT_WHOLE) continue;
        const int64_t halo = i == 0 ? plan_mul(2, p->halo) : 0;
        int64_t rows = plan_add(cut->rows[i], halo);
        if (i == 0 && p->offset) rows = widest_rows(op, p, rows, NULL);
        if (rows < size[p->cut[i]]) size[p->cut[i]] = rows;
    }
    if (p->streamed && cut->stream_rows < size[p->stream_axis])
        size[p->stream_axis] = cut->stream_rows;
    int64_t bytes = (int64_t)motet_type_bytes(type);
    for (int i = 0; i < p->array->axes; i++)
        if (size[i] == 0) return 0;
    for (int i = 0; i < p->array->axes; i++) bytes = plan_mul(bytes, size[i]);
    return bytes;
}

int64_t rt_share_port_bytes(const rt_share *share, const rt_op *op, const rt_port *port)
{
    return align(bytes_of(op, port, &share->cut, port->array->type));
}

int64_t rt_share_made_bytes(const rt_share *share, const rt_op *op, const rt_port *port)
{
    return port->transform ? align(bytes_of(op, port, &share->cut, port->made_type)) : 0;
}

static int moves(const rt_share *s, const rt_port *p, int axes)
{
    for (int i = 0; i < axes; i++)
        if (p->cut[i] != RT_WHOLE && s->pieces[i] > 1) return 1;
    return 0;
}

rt_port_kind rt_share_port(const rt_share *s, const rt_port *p, int axes)
{
    if (p->access != RT_READ) return RT_OF_CHUNK;
    const int moved = moves(s, p, axes);
    if (p->streamed && (moved || s->blocks > 1)) return RT_OF_BLOCK;
    return moved ? RT_OF_CHUNK : RT_FIXED;
}

int rt_share_still(const rt_share *s, const rt_op *op, const rt_port *p)
{
    return p->transform && s->blocks == 1 && !moves(s, p, op->axes);
}

int rt_share_made_places(const rt_share *s, const rt_op *op, int host_visible)
{
    int changing = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        changing |= p->array && p->transform && !rt_share_still(s, op, p);
    }
    return host_visible && changing && s->slots > 1 ? 2 : 1;
}

int64_t plan_row_bytes(const rt_op *op, int axis)
{
    rt_cut one = {{INT64_MAX, INT64_MAX, INT64_MAX}, INT64_MAX};
    int64_t bytes = 0;
    one.rows[axis] = 1;
    for (int i = 0; i < RT_PORTS; i++) {
        rt_port p = op->port[i];
        if (!p.array || p.cut[axis] == RT_WHOLE) continue;
        p.halo = 0;
        bytes = plan_add(bytes, bytes_of(op, &p, &one, p.array->type));
    }
    return bytes;
}

static int least(int64_t count, int most) { return count < most ? (int)count : most; }

/* A host runs fast ranges, a device with memory of its own runs items. */
int64_t plan_scratch(const rt_op *op, const rt_plan_device *device)
{
    const size_t each = device->host_visible ? op->scratch.fast : op->scratch.plain;
    if (each > INT64_MAX - RT_ALIGN) return INT64_MAX;
    return plan_mul(device->workers, ((int64_t)each + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN);
}

int plan_rereads(const rt_op *op)
{
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].streamed && op->port[i].source) return 1;
    return 0;
}

void plan_measure(const rt_op *op, const rt_plan_device *device, int slots, int ring, rt_share *s)
{
    s->chunks = 1;
    for (int i = 0; i < RT_AXES; i++) {
        s->pieces[i] = plan_pieces(plan_share_extent(op, s, i), s->cut.rows[i]);
        s->chunks = plan_mul(s->chunks, s->pieces[i]);
    }
    s->blocks = plan_pieces(op->stream_extent, s->cut.stream_rows);
    if (s->blocks < 1) s->blocks = 1;
    s->slots = least(s->chunks, slots);
    s->ring = least(plan_mul(s->chunks, s->blocks), ring);
    s->fixed_bytes = s->chunk_bytes = s->block_bytes = s->made_bytes = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        s->made_bytes = plan_add(s->made_bytes, rt_share_made_bytes(s, op, p));
        if (s->resident >> i & 1) continue;
        if (device->host_visible && !rt_port_buffered(op, p)) continue;
        const rt_port_kind kind = rt_share_port(s, p, op->axes);
        int64_t *sum = kind == RT_FIXED      ? &s->fixed_bytes
                       : kind == RT_OF_BLOCK ? &s->block_bytes
                                             : &s->chunk_bytes;
        *sum = plan_add(*sum, rt_share_port_bytes(s, op, p));
    }
    if (!s->block_bytes) s->ring = 0;
    s->made_bytes = plan_mul(rt_share_made_places(s, op, device->host_visible), s->made_bytes);
    const int64_t moving =
        plan_add(plan_mul(s->slots, s->chunk_bytes), plan_mul(s->ring, s->block_bytes));
    const int64_t arena = plan_add(s->fixed_bytes, plan_add(moving, s->made_bytes));
    const int64_t scratch = plan_scratch(op, device);
    s->peak_bytes = s->reserved_bytes = device->reserved;
    if (device->host_visible) {
        s->staging_bytes = plan_add(arena, scratch);
        return;
    }
    s->fixed_bytes = plan_add(s->fixed_bytes, scratch);
    s->peak_bytes =
        plan_add(plan_add(device->reserved, s->resident_bytes), plan_add(arena, scratch));
    const int64_t sent = plan_add(s->fixed_bytes, s->fill_bytes);
    s->staging_bytes = plan_add(moving, sent < RT_STAGE_FIXED ? sent : RT_STAGE_FIXED);
}

/* The path. */

enum { STREAM = RT_AXES, SIDES, STEPS = 5 };
static const int side_of_step[STEPS] = {2, 1, STREAM, 0, STREAM};

typedef struct search {
    const rt_op *op;
    const rt_plan_device *device;
    int64_t extent[SIDES], grain[SIDES];
    int64_t from[STEPS], to[STEPS]; /* what the side of a step grows between */
    int64_t limit, staging;
    int slots, ring;                   /* at most */
    rt_share at;                       /* the point looked at */
    int64_t least_peak, least_staging; /* of all points; of those that fit the device */
} search;

static int64_t *side(rt_cut *cut, int number)
{
    return number == STREAM ? &cut->stream_rows : &cut->rows[number];
}

static void look(search *s, int step, int64_t rows)
{
    for (int i = 0; i < step; i++) *side(&s->at.cut, side_of_step[i]) = s->to[i];
    for (int i = STEPS - 1; i > step; i--) *side(&s->at.cut, side_of_step[i]) = s->from[i];
    *side(&s->at.cut, side_of_step[step]) = rows;
    plan_measure(s->op, s->device, s->slots, s->ring, &s->at);
}

static int fits(const search *s)
{
    return s->at.peak_bytes <= s->limit && s->at.staging_bytes <= s->staging;
}

/* The sizes of one side between first and last grain that leave the same number of buffers. */
typedef struct span {
    int64_t first, last; /* in grains */
    int whole;           /* the extent instead */
} span;

static int64_t rows_of(const search *s, int number, const span *r, int64_t grains)
{
    return r->whole ? s->extent[number] : grains * s->grain[number];
}

/* The spans of a step: one piece, two pieces, more. */
static int spans_of(const search *s, int step, span out[3])
{
    const int number = side_of_step[step];
    const int64_t extent = s->extent[number], grain = s->grain[number];
    const int64_t from = s->from[step], to = s->to[step];
    int n = 0;
    if (to >= extent) out[n++] = (span){0, 0, 1};
    if (from >= extent) return n;
    const int64_t half = extent - extent / 2, top = to < extent ? to : extent - 1;
    const int64_t bounds[2][2] = {{from > half ? from : half, top},
                                  {from, top < half ? top : half - 1}};
    for (int i = 0; i < 2; i++) {
        const int64_t low = bounds[i][0], high = bounds[i][1];
        if (low > high) continue;
        const span r = {(low - 1) / grain + 1, high / grain, 0};
        if (r.first <= r.last) out[n++] = r;
    }
    return n;
}

/* Looks, keeps the least that was seen for messages, answers whether it fits. */
static int try(search *s, int step, int64_t rows)
{
    look(s, step, rows);
    if (s->at.peak_bytes < s->least_peak) s->least_peak = s->at.peak_bytes;
    if (s->at.peak_bytes <= s->limit && s->at.staging_bytes < s->least_staging)
        s->least_staging = s->at.staging_bytes;
    return fits(s);
}

static int largest_in(search *s, int step, const span *r)
{
    const int number = side_of_step[step];
    if (!try(s, step, rows_of(s, number, r, r->first))) return 0;
    int64_t low = r->first, high = r->last;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2 + 1; /* low < middle <= high */
        look(s, step, rows_of(s, number, r, middle));
        if (fits(s))
            low = middle;
        else
            high = middle - 1;
    }
    look(s, step, rows_of(s, number, r, low));
    return 1;
}

static int farthest(search *s)
{
    for (int step = STEPS - 1; step >= 0; step--) {
        span spans[3];
        const int n = spans_of(s, step, spans);
        for (int i = 0; i < n; i++)
            if (largest_in(s, step, &spans[i])) return 1;
    }
    return 0;
}

/* Of all numbers of slots that fit, the one with the fewest chunks; of those the most slots. */
static int fewest_chunks(search *s)
{
    rt_share best = {.chunks = 0};
    for (s->slots = RT_SLOTS; s->slots; s->slots--)
        if (farthest(s) && (!best.chunks || s->at.chunks < best.chunks)) best = s->at;
    s->slots = RT_SLOTS;
    if (!best.chunks) return 0;
    s->at = best;
    return 1;
}

static int find(search *s)
{
    if (plan_rereads(s->op) ? fewest_chunks(s) : farthest(s)) return 1;
    while (--s->slots) {
        s->ring = s->slots;
        if (try(s, 0, s->from[0])) return 1;
    }
    s->slots = s->ring = 1; /* for the message */
    return 0;
}

/* What a block of the stream may take. */
static int64_t useful_bytes(const search *s)
{
    if (!plan_rereads(s->op)) return BLOCK_BYTES;
    const int64_t room = s->limit < s->staging ? s->limit : s->staging;
    return room / SOURCE_PART < SOURCE_BYTES ? room / SOURCE_PART : SOURCE_BYTES;
}

/* Blocks of a useful size for one grain of axis 0: never more than the whole stream. */
static int64_t useful_block(search *s)
{
    const int64_t grain = s->grain[STREAM], extent = s->extent[STREAM], most = useful_bytes(s);
    int64_t low = 1, high = (extent - 1) / grain;
    if (high < 1) return extent;
    if (plan_rereads(s->op) && high > extent / grain / SOURCE_BLOCKS)
        high = extent / grain / SOURCE_BLOCKS > 1 ? extent / grain / SOURCE_BLOCKS : 1;
    rt_cut cut = {{s->from[3], s->to[1], s->to[0]}, 0};
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        int64_t bytes = 0;
        cut.stream_rows = middle * grain;
        for (int i = 0; i < RT_PORTS; i++)
            if (s->op->port[i].array && s->op->port[i].streamed)
                bytes = plan_add(
                    bytes, bytes_of(s->op, &s->op->port[i], &cut, s->op->port[i].array->type));
        if (bytes <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low * grain;
}

static void set_path(search *s, const rt_plan_options *o, int64_t most)
{
    const rt_op *op = s->op;
    int64_t low[SIDES], high[SIDES];
    for (int i = 0; i < SIDES; i++) {
        const int64_t asked = i == STREAM ? o->cut.stream_rows : o->cut.rows[i];
        const int64_t grain = i == STREAM ? op->stream_block : i < op->axes ? op->grain[i] : 1;
        const int64_t extent = i == STREAM ? op->stream_extent : plan_share_extent(op, &s->at, i);
        s->grain[i] = grain < 1 ? 1 : grain;
        s->extent[i] = extent < 1 ? 1 : extent;
        low[i] = plan_round_rows(asked > 0 ? asked : 1, s->grain[i], s->extent[i]);
        high[i] = asked > 0 ? low[i] : s->extent[i];
    }
    const int shared = s->at.axis;
    if (o->cut.rows[shared] <= 0)
        high[shared] = plan_round_rows(most, s->grain[shared], s->extent[shared]);
    /* rows that were asked for are not divided along the other axes instead */
    if (o->cut.rows[0] > 0)
        for (int i = 1; i < RT_AXES; i++) low[i] = high[i];
    for (int i = 0; i < STEPS; i++) {
        s->from[i] = low[side_of_step[i]];
        s->to[i] = high[side_of_step[i]];
    }
    const int64_t block = o->cut.stream_rows > 0 ? high[STREAM] : useful_block(s);
    s->to[2] = s->from[4] = block;
    if (plan_rereads(op)) s->to[4] = block;
}

/* Of a ragged port, the rows that make a chunk so large. */
static void name_longest(const rt_op *op, int64_t rows, char *text, size_t room)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array || !p->offset) continue;
        int64_t first = 0;
        const int64_t elements = widest_rows(op, p, rows, &first);
        snprintf(text, room,
                 rows > 1 ? "; rows %lld.. of %s have %lld elements"
                          : "; row %lld of %s has %lld elements",
                 (long long)first, p->name, (long long)elements);
    }
}

static motet_status refuse_device(motet_context *c, const search *s, const rt_plan_options *o)
{
    const rt_share *m = &s->at;
    const rt_plan_device *d = s->device;
    char source[96] = "", what[64], longest[96] = "", held[160] = "";
    if (d->reserved > 0)
        snprintf(held, sizeof held,
                 " (%lld are held already: kernels, other runs, arrays that stay, as a solver's do "
                 "until it ends: wait for that, or allow more)",
                 (long long)d->reserved);
    if (d->budget <= 0 && d->free < 0)
        snprintf(source, sizeof source, ", the most that can be counted");
    else if (d->free >= 0 && s->limit == d->free)
        snprintf(source, sizeof source, ", all that is free");
    else if (d->budget <= 0)
        snprintf(source, sizeof source, ", three quarters of the %lld free", (long long)d->free);
    snprintf(what, sizeof what,
             o->cut.rows[0] > 0 ? "a chunk of %lld rows, as asked for,"
                                : "the smallest chunk, of %lld rows,",
             (long long)m->cut.rows[0]);
    name_longest(s->op, m->cut.rows[0], longest, sizeof longest);
    return fail(
        c, MOTET_OVER_BUDGET,
        "%s on %s: the budget is %lld bytes%s; %lld are fixed%s, a row takes %lld; with 1 chunk "
        "in flight %s takes at least %lld bytes%s",
        s->op->name, d->name, (long long)s->limit, source,
        (long long)plan_add(m->fixed_bytes, plan_add(m->resident_bytes, d->reserved)), held,
        (long long)plan_row_bytes(s->op, s->at.axis), what, (long long)s->least_peak, longest);
}

motet_status plan_cut_to_fit(motet_context *c, const rt_op *op, const rt_plan_device *device,
                             const rt_plan_options *options, int64_t most, int64_t staging,
                             rt_share *share)
{
    search s = {.op = op,
                .device = device,
                .slots = RT_SLOTS,
                .ring = RT_SLOTS,
                .limit = share->limit < INT64_MAX ? share->limit : INT64_MAX - 1,
                .staging = staging < INT64_MAX ? staging : INT64_MAX - 1,
                .at = *share,
                .least_peak = INT64_MAX,
                .least_staging = INT64_MAX};
    set_path(&s, options, most);
    if (find(&s)) {
        *share = s.at;
        return MOTET_OK;
    }
    look(&s, 0, s.from[0]); /* the smallest, for the message */
    if (s.least_staging == INT64_MAX) return refuse_device(c, &s, options);
    share->staging_bytes = s.least_staging; /* for the message, which knows all devices */
    return MOTET_OVER_BUDGET;
}
