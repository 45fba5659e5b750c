/* Arrays in files, as sources and sinks. */
#include "rt/disk.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/format.h"

enum {
    ROOM = 1 << 20,      /* of a piece that is turned */
    ASIDE = 1 << 20,     /* that reading boxes takes (store/box.c), */
    NARROWING = 1 << 22, /* and reading numbers of eight bytes; a row of them, if that is more, */
    TILE = 16            /* of turning: lines that stay in the caches */
};

/* Moving parts. */

typedef struct place {
    int64_t first[MOTET_MAX_AXES], count[MOTET_MAX_AXES];
} place;

/* Where a part of the array lies in the store. */
static place place_of(const rt_disk *d, const int64_t *first, const int64_t *count)
{
    place p = {.count = {1, 1, 1, 1, 1, 1}};
    for (int i = 0; i < d->axes; i++) {
        if (d->of[i] < 0) continue;
        p.first[d->of[i]] = first[i];
        p.count[d->of[i]] = count[i];
    }
    return p;
}

/* A piece of a part (n, u, v) that is turned in the buffer: some of n, or of one some rows v. */
typedef struct piece {
    int64_t first[3], count[3]; /* in the array */
    int64_t n, v;               /* what is done before the next one */
} piece;

static int next_piece(const rt_disk *d, const int64_t *first, const int64_t *count, piece *p)
{
    const int64_t room = (int64_t)(d->room / motet_type_bytes(d->type));
    const int64_t frame = count[1] * count[2];
    if (p->n == count[0] || !frame) return 0;
    int64_t n = frame <= room ? room / frame : 1, v = frame <= room ? count[2] : room / count[1];
    if (n > count[0] - p->n) n = count[0] - p->n;
    if (v > count[2] - p->v) v = count[2] - p->v;
    for (int i = 0; i < 3; i++) {
        p->first[i] = first[i] + (i == 0 ? p->n : i == 2 ? p->v : 0);
        p->count[i] = i == 0 ? n : i == 2 ? v : count[i];
    }
    p->v += v;
    if (p->v == count[2]) {
        p->v = 0;
        p->n += n;
    }
    return 1;
}

/* Between the buffer, (n, v, u), and the piece's place in its part. */
static void turn(const rt_disk *d, const int64_t *first, const int64_t *count, const piece *p,
                 char *part, int into_part)
{
    const int64_t u = count[1], v = p->count[2], line = count[2];
    for (int64_t n = 0; n < p->count[0]; n++) {
        uint32_t *frame = (uint32_t *)(void *)d->buffer + n * u * v;
        uint32_t *at = (uint32_t *)(void *)part + (p->first[0] - first[0] + n) * u * line +
                       p->first[2] - first[2];
        for (int64_t a = 0; a < u; a += TILE)
            for (int64_t b = 0; b < v; b += TILE)
                for (int64_t i = a; i < u && i < a + TILE; i++)
                    for (int64_t j = b; j < v && j < b + TILE; j++)
                        if (into_part)
                            at[i * line + j] = frame[j * u + i];
                        else
                            frame[j * u + i] = at[i * line + j];
    }
}

static motet_status read_part(const rt_disk *d, const int64_t *first, const int64_t *count,
                              void *out)
{
    if (!d->turned) {
        const place p = place_of(d, first, count);
        return motet_store_read_box(d->store, p.first, p.count, d->type, out);
    }
    for (piece p = {.n = 0}; next_piece(d, first, count, &p);) {
        const place at = place_of(d, p.first, p.count);
        TRY(motet_store_read_box(d->store, at.first, at.count, d->type, d->buffer));
        turn(d, first, count, &p, out, 1);
    }
    return MOTET_OK;
}

static motet_status put(const rt_disk *d, const place *at, const void *values)
{
    if (store_takes_boxes(d->store)) return store_write_box(d->store, at->first, at->count, values);
    return motet_store_write(d->store, at->first[0], at->count[0], values);
}

static motet_status write_part(const rt_disk *d, const int64_t *first, const int64_t *count,
                               const void *values)
{
    if (!d->turned) {
        const place at = place_of(d, first, count);
        return put(d, &at, values);
    }
    for (piece p = {.n = 0}; next_piece(d, first, count, &p);) {
        turn(d, first, count, &p, (char *)(uintptr_t)values, 0);
        const place at = place_of(d, p.first, p.count);
        TRY(put(d, &at, d->buffer));
    }
    return MOTET_OK;
}

static motet_status read_view(const rt_view *part, void *user)
{
    return read_part(user, part->first, part->count, part->data);
}

static motet_status take_view(const rt_view *part, void *user)
{
    return write_part(user, part->first, part->count, part->data);
}

motet_status rt_disk_read(const motet_array *a, const int64_t *first, const int64_t *count,
                          void *out)
{
    return read_part(a->disk, first, count, out);
}

motet_status rt_disk_write(const motet_array *a, const int64_t *first, const int64_t *count,
                           const void *values)
{
    return write_part(a->disk, first, count, values);
}

static size_t row_bytes(const motet_array *a)
{
    return a->shape[0] ? a->bytes / (size_t)a->shape[0] : 0;
}

int64_t rt_disk_rows(const motet_array *a)
{
    const size_t row = row_bytes(a);
    const int64_t rows = row && row < ROOM ? (int64_t)(ROOM / row) : 1;
    return rows < a->shape[0] ? rows : a->shape[0];
}

motet_status rt_disk_read_rows(const motet_array *a, int64_t first, int64_t count, void *out)
{
    int64_t from[MOTET_MAX_AXES] = {first}, part[MOTET_MAX_AXES];
    memcpy(part, a->shape, sizeof part);
    part[0] = count;
    if (a->disk) return read_part(a->disk, from, part, out);
    const size_t row = row_bytes(a);
    if (row) memcpy(out, (char *)a->data + (size_t)first * row, (size_t)count * row);
    return MOTET_OK;
}

motet_status rt_disk_write_rows(const motet_array *a, int64_t first, int64_t count,
                                const void *rows)
{
    int64_t from[MOTET_MAX_AXES] = {first}, part[MOTET_MAX_AXES];
    memcpy(part, a->shape, sizeof part);
    part[0] = count;
    if (a->disk) return write_part(a->disk, from, part, rows);
    const size_t row = row_bytes(a);
    if (row) memcpy((char *)a->data + (size_t)first * row, rows, (size_t)count * row);
    return MOTET_OK;
}

/* Memory for rt_disk_rows of it. */
static motet_status make_buffer(const motet_array *a, void **out)
{
    *out = mem_alloc_array(a->context, rt_disk_rows(a), row_bytes(a));
    if (*out) return MOTET_OK;
    return fail(a->context, MOTET_NO_MEMORY, "no memory to move rows of %zu bytes", row_bytes(a));
}

static int64_t rows_from(const motet_array *a, int64_t first)
{
    const int64_t left = a->shape[0] - first, most = rt_disk_rows(a);
    return left < most ? left : most;
}

motet_status rt_disk_digest(const motet_array *a, digest_rows *state)
{
    void *buffer;
    motet_status st = MOTET_OK;
    TRY(make_buffer(a, &buffer));
    log_phase phase = log_phase_begin(a->context, "digest", a->shape[0]);
    for (int64_t at = 0, count; at < a->shape[0]; at += count) {
        TRY_GOTO(log_phase_step(&phase, at));
        count = rows_from(a, at);
        TRY_GOTO(rt_disk_read_rows(a, at, count, buffer));
        digest_rows_add(state, buffer, count, row_bytes(a), motet_type_bytes(a->type));
    }
out:
    mem_free(a->context, buffer);
    return st;
}

motet_status rt_disk_copy(const motet_array *from, motet_array *to)
{
    void *buffer;
    motet_status st = MOTET_OK;
    TRY(make_buffer(from, &buffer));
    log_phase phase = log_phase_begin(from->context, "copy", from->shape[0]);
    for (int64_t at = 0, count; at < from->shape[0]; at += count) {
        TRY_GOTO(log_phase_step(&phase, at));
        count = rows_from(from, at);
        TRY_GOTO(rt_disk_read_rows(from, at, count, buffer));
        TRY_GOTO(rt_disk_write_rows(to, at, count, buffer));
    }
out:
    mem_free(from->context, buffer);
    return st;
}

motet_status rt_disk_fill(motet_array *a, const void *value)
{
    const size_t element = motet_type_bytes(a->type);
    void *buffer;
    motet_status st = MOTET_OK;
    if (!a->disk) { /* in place, without memory for rows of it */
        for (size_t i = 0; i < a->bytes; i += element) memcpy((char *)a->data + i, value, element);
        return MOTET_OK;
    }
    TRY(make_buffer(a, &buffer));
    const size_t bytes = (size_t)rt_disk_rows(a) * row_bytes(a);
    for (size_t i = 0; i < bytes; i += element) memcpy((char *)buffer + i, value, element);
    log_phase phase = log_phase_begin(a->context, "fill", a->shape[0]);
    for (int64_t at = 0, count; at < a->shape[0]; at += count) {
        TRY_GOTO(log_phase_step(&phase, at));
        count = rows_from(a, at);
        TRY_GOTO(rt_disk_write_rows(a, at, count, buffer));
    }
out:
    mem_free(a->context, buffer);
    return st;
}

/* Making them. */

static void shape_text(int axes, const int64_t *shape, char *out, size_t room)
{
    size_t used = 0;
    for (int i = 0; i < axes && used < room; i++)
        used +=
            (size_t)snprintf(out + used, room - used, "%s%lld", i ? ", " : "", (long long)shape[i]);
}

/* Finds the store's axis for each of the array's, where those of size 1 may be missing. */
static int map_axes(rt_disk *d, const motet_store_info *info, const int64_t *shape, int turned)
{
    int64_t wanted[MOTET_MAX_AXES]; /* in the store's order */
    int order[MOTET_MAX_AXES], at = 0;
    for (int i = 0; i < d->axes; i++) order[i] = i;
    if (turned) {
        order[d->axes - 1] = d->axes - 2;
        order[d->axes - 2] = d->axes - 1;
    }
    for (int i = 0; i < d->axes; i++) wanted[i] = shape[order[i]];
    int missing = d->axes - info->axes;
    for (int i = 0; i < d->axes; i++) {
        d->of[order[i]] = -1;
        if (at < info->axes && info->shape[at] == wanted[i])
            d->of[order[i]] = at++;
        else if (wanted[i] != 1 || missing-- <= 0)
            return 0;
    }
    d->turned = turned && shape[d->axes - 1] > 1 && shape[d->axes - 2] > 1;
    return at == info->axes;
}

static int64_t least(int64_t elements, size_t bytes, int64_t most)
{
    return elements < most / (int64_t)bytes ? elements * (int64_t)bytes : most;
}

/* Most bytes that numbers of eight bytes take while they are read (store/store.c). */
static int64_t narrowing(const motet_store *store)
{
    const int64_t row = (int64_t)store->row_bytes;
    return row > NARROWING ? row : NARROWING;
}

static motet_status make(motet_context *c, motet_store *store, const char *name, motet_type type,
                         int axes, const int64_t *shape, int turned, motet_array **out)
{
    motet_array *a;
    motet_status st = MOTET_OK;
    TRY(rt_array_bare(c, type, axes, shape, &a));
    rt_disk *d = a->disk = mem_new(c, rt_disk);
    if (!d) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for its account", store->path));
    *d = (rt_disk){.source = {read_view, d, 1},
                   .sink = {take_view, NULL, d},
                   .context = c,
                   .store = store,
                   .type = type,
                   .axes = axes,
                   .reads = !store->writing,
                   .writes = store->writing,
                   .whole_rows = !store_takes_boxes(store)};
    if (!map_axes(d, &store->info, shape, turned)) {
        char has[160], wanted[160];
        int64_t order[MOTET_MAX_AXES];
        memcpy(order, shape, (size_t)axes * sizeof *order);
        if (turned) order[axes - 1] = shape[axes - 2], order[axes - 2] = shape[axes - 1];
        shape_text(store->info.axes, store->info.shape, has, sizeof has);
        shape_text(axes, order, wanted, sizeof wanted);
        TRY_GOTO(fail(c, MOTET_BAD_SHAPE, "%s: %s has the shape (%s), expected (%s)", store->path,
                      name, has, wanted));
    }
    if (store->writing && store->info.type != type)
        TRY_GOTO(fail(c, MOTET_BAD_ARGUMENT, "%s: %s is written as %s, expected %s", store->path,
                      name, motet_type_text(store->info.type), motet_type_text(type)));
    d->aside = least(a->elements, kind_bytes(store->kind), ASIDE);
    if (kind_bytes(store->kind) > motet_type_bytes(type))
        d->aside += least(a->elements, kind_bytes(store->kind), narrowing(store));
    if (!d->turned || !a->elements) goto done;
    if (motet_type_bytes(type) != 4)
        TRY_GOTO(fail(c, MOTET_UNSUPPORTED,
                      "%s: %s would have to be turned, which elements of four "
                      "bytes can be",
                      store->path, name));
    d->room = a->bytes < ROOM ? a->bytes : ROOM;
    const size_t line = (size_t)shape[axes - 2] * 4, frame = line * (size_t)shape[axes - 1];
    const size_t least = d->whole_rows && d->writes ? frame : line;
    if (d->room < least) d->room = least;
    d->buffer = mem_alloc(c, d->room);
    if (!d->buffer)
        TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory to turn %s, %zu bytes", store->path, name,
                      d->room));
done:
    *out = a;
    return MOTET_OK;
out:
    motet_array_free(a);
    return st;
}

motet_status rt_disk_store(motet_context *c, motet_store *store, const char *name, motet_type type,
                           int axes, const int64_t *shape, int turned, motet_array **out)
{
    if (turned && axes != 3)
        return fail(c, MOTET_INTERNAL, "%s: %d axes cannot be turned", name, axes);
    return make(c, store, name, type, axes, shape, turned, out);
}

motet_status rt_disk_scratch(motet_context *c, const char *folder, motet_type type, int axes,
                             const int64_t *shape, motet_array **out)
{
    motet_store *store;
    TRY(store_scratch(c, folder, type, axes, shape, &store));
    const motet_status st = make(c, store, "it", type, axes, shape, 0, out);
    if (st != MOTET_OK) {
        motet_store_free(store);
        return st;
    }
    (*out)->disk->owned = (*out)->disk->writes = 1;
    return MOTET_OK;
}

void rt_disk_close(rt_disk *d)
{
    if (!d) return;
    if (d->owned) motet_store_free(d->store);
    mem_free(d->context, d->buffer);
    mem_free(d->context, d);
}

/* Using them. */

int rt_disk_used(const rt_op *op)
{
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].array->disk) return 1;
    return 0;
}

int64_t rt_disk_aside(const rt_op *op)
{
    int64_t bytes = 0;
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].array->disk) bytes += op->port[i].array->disk->aside;
    return bytes;
}

static motet_status refuse(motet_context *c, const rt_op *op, const rt_port *p, const char *what)
{
    return fail(c, MOTET_UNSUPPORTED, "%s: %s is on disk, where it cannot be %s", op->name, p->name,
                what);
}

static motet_status bind_port(motet_context *c, rt_op *op, int port)
{
    rt_port *p = &op->port[port];
    const rt_disk *d = p->array->disk;
    if (p->access == RT_ADD || p->list)
        return refuse(c, op, p, p->list ? "read by a list of rows" : "added to");
    if (p->access != RT_WRITE && !d->reads) return refuse(c, op, p, "read while it is written");
    if (p->access != RT_READ && !d->writes) return refuse(c, op, p, "written: it was opened");
    for (int i = 0; i < RT_PORTS; i++)
        if (i != port && op->port[i].array == p->array && p->access != RT_READ)
            return refuse(c, op, p, "written and used by another port");
    if (p->access != RT_WRITE) p->source = &d->source;
    if (p->access == RT_READ) return MOTET_OK;
    p->sink = &d->sink;
    for (int i = 0; i < op->axes && d->whole_rows; i++)
        if (p->cut[i] != RT_WHOLE && d->of[p->cut[i]] != 0) op->grain[i] = op->extent[i];
    return MOTET_OK;
}

motet_status rt_disk_bind(motet_context *c, const rt_op *op, rt_op *bound)
{
    *bound = *op;
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].array->disk) TRY(bind_port(c, bound, i));
    return MOTET_OK;
}
