/* What a run sees of arrays that stay on devices.
 *
 * A device has, of each such array, the box that its share needs: one that is there already, or a
 * new part, which is filled from what the device has of it and, for the rest (the halo rows of its
 * neighbours, all of it the first time), from the home, where that was brought before the run
 * began. Outputs go to new parts alone, so that a run that fails has changed nothing. */
#include "rt/resident.h"

#include <string.h>

#include "base/context.h"
#include "base/mem.h"

static motet_array *mutable(const motet_array *array) { return (motet_array *)(uintptr_t)array; }

static int stays(const rt_port *p) { return p->array && p->array->residence; }
static int reads(const rt_port *p) { return stays(p) && p->access != RT_WRITE; }

/* What a share needs. */

/* Lists and ragged rows go by way of the host. Parts are those of shares, so an operation whose
 * devices take any piece, in order, has none. */
unsigned rt_resident_ports(const rt_op *op)
{
    unsigned ports = 0;
    if (rt_op_ordered(op)) return 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (stays(p) && p->access != RT_ADD && !p->list && !p->offset && !p->source)
            ports |= 1u << i;
    }
    return ports;
}

static pipe_box needed(const rt_op *op, int port, const rt_share *share)
{
    const rt_port *p = &op->port[port];
    if (p->list || p->offset || p->access == RT_ADD) return pipe_box_whole(p->array);
    const rt_chunk all = rt_share_whole(op, share);
    return pipe_box_of(op, p, &all);
}

static void enclose(pipe_box *box, const pipe_box *other, int axes)
{
    for (int i = 0; i < axes; i++) {
        const int64_t x = box->first[i] + box->count[i], y = other->first[i] + other->count[i];
        if (other->first[i] < box->first[i]) box->first[i] = other->first[i];
        box->count[i] = (x > y ? x : y) - box->first[i];
    }
}

/* The first of the ports that read the array; a written port stands for itself. */
static int leader(const rt_op *op, unsigned ports, int port)
{
    if (op->port[port].access != RT_READ) return port;
    for (int i = 0; i < port; i++)
        if (ports >> i & 1 && op->port[i].array == op->port[port].array &&
            op->port[i].access == RT_READ)
            return i;
    return port;
}

pipe_box rt_resident_box(const rt_op *op, int port, const rt_share *share)
{
    const rt_port *p = &op->port[port];
    if (p->access == RT_READ && p->array->residence == RT_RESIDE_REPLICATED)
        return pipe_box_whole(p->array);
    const int first = leader(op, share->resident, port);
    pipe_box box = needed(op, first, share);
    for (int i = first + 1; i < RT_PORTS; i++)
        if (share->resident >> i & 1 && i != first && leader(op, share->resident, i) == first) {
            const pipe_box other = needed(op, i, share);
            enclose(&box, &other, p->array->axes);
        }
    return box;
}

/* Bytes of one row of axis 0. */
static size_t row_bytes(const motet_array *a, const pipe_box *box)
{
    size_t bytes = motet_type_bytes(a->type);
    for (int i = 1; i < a->axes; i++) bytes *= (size_t)box->count[i];
    return bytes;
}

/* The part of the device that has most of the box's rows, whole. */
static void find_own(const motet_array *a, int device, const pipe_box *box, rt_use *use)
{
    use->own = NULL;
    use->low = use->high = use->own_offset = 0;
    pthread_mutex_lock(&a->context->lock);
    for (rt_part *part = a->parts; part; part = part->next) {
        pipe_box common;
        if (part->device != device || !rt_box_common(&part->box, box, a->axes, &common)) continue;
        int rows = 1;
        for (int i = 1; i < a->axes; i++)
            rows &= part->box.first[i] == box->first[i] && part->box.count[i] == box->count[i];
        const size_t row = row_bytes(a, box), bytes = (size_t)common.count[0] * row;
        if (!rows || bytes <= use->high - use->low) continue;
        use->own = part;
        use->low = (size_t)(common.first[0] - box->first[0]) * row;
        use->high = use->low + bytes;
        use->own_offset = (size_t)(common.first[0] - part->box.first[0]) * row;
    }
    if (use->own) use->own->users++;
    pthread_mutex_unlock(&a->context->lock);
}

static int64_t bytes_of(const rt_port *p, const pipe_box *box)
{
    return (int64_t)pipe_box_bytes(p, box); /* no more than the array has */
}

void rt_resident_bytes(const rt_op *op, const rt_share *share, int place, int64_t *bytes,
                       int64_t *fill)
{
    *bytes = *fill = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!(share->resident >> i & 1) || leader(op, share->resident, i) != i) continue;
        const pipe_box box = rt_resident_box(op, i, share);
        if (p->access == RT_READ && place && rt_part_find(p->array, place - 1, &box, 0)) continue;
        *bytes += bytes_of(p, &box);
        if (p->access == RT_WRITE) continue;
        *fill += bytes_of(p, &box);
        if (!place) continue;
        rt_use use;
        find_own(p->array, place - 1, &box, &use);
        *fill -= (int64_t)(use.high - use.low);
        rt_part_unuse(p->array->context, use.own);
    }
    *fill = (*fill + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN;
}

/* Beginning. */

/* The box but for what `use` has from the device itself. */
static motet_status pull_rest(const motet_array *a, const pipe_box *box, const rt_use *use)
{
    if (!use->own) return rt_array_pull(a, box);
    const size_t row = row_bytes(a, box);
    pipe_box rest = *box;
    rest.count[0] = (int64_t)(use->low / row);
    if (rest.count[0]) TRY(rt_array_pull(a, &rest));
    rest.first[0] = box->first[0] + (int64_t)(use->high / row);
    rest.count[0] = box->first[0] + box->count[0] - rest.first[0];
    return rest.count[0] ? rt_array_pull(a, &rest) : MOTET_OK;
}

static motet_status begin_port(rt_resident *r, const rt_share *share, int device, int port)
{
    const rt_port *p = &r->op->port[port];
    rt_use *use = &r->use[device][port];
    const int first = leader(r->op, share->resident, port);
    if (first != port) {
        *use = (rt_use){.part = r->use[device][first].part};
        pthread_mutex_lock(&r->context->lock);
        use->part->users++;
        pthread_mutex_unlock(&r->context->lock);
        return MOTET_OK;
    }
    const pipe_box box = rt_resident_box(r->op, port, share);
    if (p->access == RT_READ) use->part = rt_part_find(p->array, device, &box, 1);
    if (use->part) return MOTET_OK;
    use->part = rt_part_new(r->context, device, &box);
    if (!use->part)
        return fail(r->context, MOTET_NO_MEMORY, "%s: no memory for the account of %s", r->op->name,
                    p->name);
    use->fresh = 1;
    if (p->access == RT_WRITE) return MOTET_OK;
    use->fill = 1;
    find_own(p->array, device, &box, use);
    return pull_rest(p->array, &box, use);
}

static motet_status begin_device(rt_resident *r, const rt_share *share, int device)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &r->op->port[i];
        if (share->resident >> i & 1) {
            TRY(begin_port(r, share, device, i));
        } else if (reads(p)) {
            const pipe_box box = needed(r->op, i, share);
            TRY(rt_array_pull(p->array, &box));
        }
    }
    return MOTET_OK;
}

/* New parts of the device take no more than planned. */
static int as_planned(const rt_resident *r, const rt_share *share, int device)
{
    int64_t bytes = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_use *use = &r->use[device][i];
        if (use->fresh) bytes += bytes_of(&r->op->port[i], &use->part->box);
    }
    return bytes <= share->resident_bytes &&
           (int64_t)rt_resident_fill(r, device) <= share->fill_bytes;
}

motet_status rt_resident_begin(motet_context *c, const rt_op *op, const rt_plan *plan,
                               const int *index, rt_resident **out)
{
    *out = NULL;
    int any = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        if (!stays(&op->port[i])) continue;
        any = 1;
        rt_array_drop_lost(op->port[i].array);
        if (reads(&op->port[i])) TRY(rt_array_whole(op->port[i].array));
    }
    if (!any || !plan->chunks) return MOTET_OK;
    rt_resident *r = mem_new(c, rt_resident);
    if (!r) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its arrays' account", op->name);
    *r = (rt_resident){.context = c, .op = op, .plan = plan, .index = index};
    motet_status st = MOTET_OK;
    for (int i = 0; i < plan->devices && st == MOTET_OK; i++)
        if (plan->share[i].chunks) st = begin_device(r, &plan->share[i], index[i]);
    for (int i = 0; i < plan->devices && st == MOTET_OK; i++)
        if (!as_planned(r, &plan->share[i], index[i])) st = MOTET_BUSY;
    if (st != MOTET_OK) {
        rt_resident_end(r);
        return st;
    }
    *out = r;
    return MOTET_OK;
}

/* On the way. */

motet_status rt_resident_take(rt_resident *r, int device, int64_t limit)
{
    for (int i = 0; r && i < RT_PORTS; i++) {
        rt_use *use = &r->use[device][i];
        if (!use->fresh || use->part->kept.memory[0].data) continue;
        const rt_port *p = &r->op->port[i];
        const size_t bytes = pipe_box_bytes(p, &use->part->box);
        if (bytes) TRY(rt_part_alloc(r->context, use->part, bytes, limit, p->name));
    }
    return MOTET_OK;
}

size_t rt_resident_fill(const rt_resident *r, int device)
{
    size_t bytes = 0;
    for (int i = 0; r && i < RT_PORTS; i++) {
        const rt_use *use = &r->use[device][i];
        if (use->fill)
            bytes += pipe_box_bytes(&r->op->port[i], &use->part->box) - (use->high - use->low);
    }
    return (bytes + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN;
}

static void leave(rt_resident *r, int device)
{
    for (int i = 0; r && i < RT_PORTS; i++) {
        rt_use *use = &r->use[device][i];
        rt_part_unuse(r->context, use->own);
        rt_part_unuse(r->context, use->part);
        *use = (rt_use){0};
    }
}

/* Some device has results that stay there. */
static int results_stay(const rt_resident *r)
{
    for (int d = 0; d < RT_DEVICES; d++)
        for (int i = 0; i < RT_PORTS; i++)
            if (r->use[d][i].part && r->op->port[i].access != RT_READ) return 1;
    return 0;
}

motet_status rt_resident_lost(rt_resident *r, int device, motet_status status)
{
    if (!r) return MOTET_OK;
    int chunks = 0; /* it had some to do, which others would have no place for */
    for (int i = 0; i < r->plan->devices; i++)
        chunks |= r->index[i] == device && r->plan->share[i].chunks > 0;
    const int fails = chunks && results_stay(r);
    leave(r, device);
    if (!fails) return MOTET_OK;
    motet_error error;
    motet_context_error(r->context, &error);
    const int lost = status == MOTET_DEVICE_LOST || status == MOTET_DEVICE_HUNG;
    return fail(r->context, lost ? MOTET_DEVICE_LOST : status,
                "%s: results stay on devices, and none takes over from %s: %s", r->op->name,
                r->context->devices->set[device].info.name, error.message);
}

motet_status rt_resident_home(rt_resident *r, int device)
{
    if (!r) return MOTET_OK;
    leave(r, device);
    for (int i = 0; i < RT_PORTS; i++)
        if (reads(&r->op->port[i])) {
            const pipe_box whole = pipe_box_whole(r->op->port[i].array);
            TRY(rt_array_pull(r->op->port[i].array, &whole));
        }
    return MOTET_OK;
}

/* The end. */

static void copy_box(const motet_array *a, char *to, const char *from, const pipe_box *box)
{
    const size_t element = motet_type_bytes(a->type);
    int64_t runs = 1;
    for (int i = 0; i < a->axes - 1; i++) runs *= box->count[i];
    const size_t bytes = (size_t)box->count[a->axes - 1] * element;
    for (int64_t run = 0; run < runs; run++) {
        int64_t number = run, stride = 1, at = 0;
        for (int i = a->axes - 1; i >= 0; i--) {
            int64_t index = box->first[i];
            if (i < a->axes - 1) {
                index += number % box->count[i];
                number /= box->count[i];
            }
            at += index * stride;
            stride *= a->shape[i];
        }
        memcpy(to + (size_t)at * element, from + (size_t)at * element, bytes);
    }
}

static void commit_output(rt_resident *r, int port, const char *private)
{
    motet_array *a = mutable(r->op->port[port].array);
    rt_parts_drop_all(a);
    a->broken[0] = 0;
    for (int i = 0; i < r->plan->devices; i++) {
        const rt_share *share = &r->plan->share[i];
        rt_use *use = &r->use[r->index[i]][port];
        if (!share->chunks) continue;
        if (use->fresh) {
            use->part->owner = 1;
            use->fresh = 0;
            rt_part_add(a, use->part);
        } else if (private) {
            const pipe_box box = needed(r->op, port, share);
            copy_box(a, a->data, private, &box);
        }
    }
}

static void keep_input(rt_resident *r, int device, int port)
{
    rt_use *use = &r->use[device][port];
    if (!use->fresh) return;
    use->fresh = 0;
    rt_part_add(mutable(r->op->port[port].array), use->part);
}

void rt_resident_commit(rt_resident *r, void *const private[RT_PORTS])
{
    if (!r) return;
    unsigned written = 0;
    for (int i = 0; i < RT_PORTS; i++)
        if (stays(&r->op->port[i]) && r->op->port[i].access != RT_READ) written |= 1u << i;
    for (int i = 0; i < RT_PORTS; i++) {
        int stale = r->op->port[i].access != RT_READ;
        for (int j = 0; j < RT_PORTS; j++)
            stale |= written >> j & 1 && r->op->port[j].array == r->op->port[i].array;
        for (int d = 0; !stale && d < RT_DEVICES; d++) keep_input(r, d, i);
    }
    for (int i = 0; i < RT_PORTS; i++)
        if (written >> i & 1) commit_output(r, i, private[i]);
}

void rt_resident_end(rt_resident *r)
{
    if (!r) return;
    for (int d = 0; d < RT_DEVICES; d++) leave(r, d);
    mem_free(r->context, r);
}
