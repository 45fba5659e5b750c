/* Memory of simulated devices: blocks with red zones, filled with NaNs when fresh and when
 * released.
 *
 * Device memory that was released stays aside for a while, so that a late access meets NaNs and is
 * noticed instead of hitting somebody else's memory. Where AddressSanitizer is at work, device
 * memory is poisoned but for the ranges of the command that runs. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "dev/sim/inside.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRAPS 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define TRAPS 1
#endif
#ifdef TRAPS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes)   ((void)(data), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#endif

enum { ZONE = 256, HOST_ZONE = 64, LINE = 64, QUARANTINE = 1 << 25, BLOCKS = 256 };
static const int zone_byte = 0xa5, empty_byte = 0xff; /* 0xff: a NaN in every type of real */

static void block_open(sim_block *b)
{
    ASAN_UNPOISON_MEMORY_REGION(b->data - b->zone, b->bytes + 2 * b->zone);
}

static void block_shut(sim_world *w, sim_block *b)
{
    if (w->config.trap && b->kind == DEV_DEVICE)
        ASAN_POISON_MEMORY_REGION(b->data - b->zone, b->bytes + 2 * b->zone);
}

static sim_range whole(const sim_block *b)
{
    return (sim_range){.at = (uintptr_t)b->data, .bytes = b->bytes, .writes = 1};
}

/* With its red zones, so that what lies just beyond a block is not taken for the caller's memory.
 */
static sim_block *around(sim_world *w, uintptr_t at)
{
    for (sim_block *b = w->blocks; b; b = b->next)
        if ((uintptr_t)b->data - b->zone <= at && at < (uintptr_t)b->data + b->bytes + b->zone)
            return b;
    return NULL;
}

sim_block *sim_block_at(sim_world *w, uintptr_t at)
{
    sim_block *b = around(w, at);
    return b && (uintptr_t)b->data <= at && at < (uintptr_t)b->data + b->bytes ? b : NULL;
}

const char *sim_place_text(sim_world *w, uintptr_t at, char text[96])
{
    const sim_block *b = around(w, at);
    if (!b)
        snprintf(text, 96, "the caller's memory at %p", (void *)at);
    else
        snprintf(text, 96, "%s (block %lld of sim:%d) %+lld", b->text, (long long)b->number,
                 b->device->number, (long long)(at - (uintptr_t)b->data));
    return text;
}

sim_side sim_side_of(sim_device *d, const sim_range *r, const sim_label *label)
{
    sim_world *w = d->world;
    char who[96], place[96];
    sim_label_text(label, who);
    sim_place_text(w, r->at, place);
    const size_t span = (r->rows ? r->rows - 1 : 0) * r->pitch + r->bytes;
    const sim_block *b = around(w, r->at);
    if (!b) {
        const sim_range all = {.at = r->at, .bytes = span};
        for (b = w->blocks; b; b = b->next) {
            const sim_range other = whole(b);
            if (b->state != SIM_LIVING || !sim_overlap(&all, &other)) continue;
            sim_found(w, "%s begins outside of %s", who, sim_place_text(w, other.at, place));
            return SIM_WRONG;
        }
        return SIM_CALLER;
    }
    if (b->device->closed)
        sim_found(w, "%s names %s, of a former epoch", who, place);
    else if (b->state != SIM_LIVING)
        sim_found(w, "%s names %s, which was released", who, place);
    else if (r->at < (uintptr_t)b->data || r->at + span > (uintptr_t)b->data + b->bytes)
        sim_found(w, "%s names %zu bytes at %s, which has %zu", who, span, place, b->bytes);
    else if (b->kind == DEV_DEVICE && b->device != d && !(d->linked & 1u << b->device->number))
        sim_found(w, "%s names %s, which is no peer", who, place);
    else
        return b->kind == DEV_DEVICE ? SIM_INSIDE : SIM_PINNED;
    return SIM_WRONG;
}

static int spoiled(const char *data, size_t bytes, int expected, size_t *where)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)data[i] != expected) {
            *where = i;
            return 1;
        }
    return 0;
}

void sim_zones_check(sim_world *w, const sim_block *block, const char *after)
{
    sim_block *b = (sim_block *)(uintptr_t)block;
    block_open(b);
    size_t i;
    long long where = 0;
    if (spoiled(b->data - b->zone, b->zone, zone_byte, &i))
        where = (long long)i - (long long)b->zone;
    else if (spoiled(b->data + b->bytes, b->zone, zone_byte, &i))
        where = (long long)(b->bytes + i);
    if (where) {
        char place[96];
        snprintf(place, sizeof place, "%s (block %lld of sim:%d)", b->text, (long long)b->number,
                 b->device->number);
        sim_found(w, "%s has %zu bytes and was written at %lld, seen at %s", place, b->bytes, where,
                  after);
        memset(b->data - b->zone, zone_byte, b->zone);
        memset(b->data + b->bytes, zone_byte, b->zone);
    }
    block_shut(w, b);
}

static void late_check(sim_world *w, sim_block *b)
{
    size_t i;
    block_open(b);
    if (b->kind == DEV_DEVICE && spoiled(b->data, b->bytes, empty_byte, &i)) {
        char place[96];
        sim_found(w, "%s was written after its release",
                  sim_place_text(w, (uintptr_t)b->data + i, place));
        memset(b->data, empty_byte, b->bytes);
    }
    block_shut(w, b);
}

void sim_memory_check(sim_world *w)
{
    for (sim_block *b = w->blocks; b; b = b->next) {
        sim_zones_check(w, b, "the check");
        if (b->state != SIM_LIVING) late_check(w, b);
    }
}

static uint64_t shrunk(const sim_world *w, const sim_slot *s)
{
    const double bytes = (double)s->fault.shrink_per_second * ((double)w->now * 1e-9);
    return bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX;
}

uint64_t sim_memory_free(sim_device *d)
{
    const sim_slot *s = &d->world->slot[d->number];
    const sim_device_config *config = &d->world->config.device[d->number];
    const uint64_t gone = shrunk(d->world, s);
    const uint64_t all = config->memory > config->context ? config->memory - config->context : 0;
    return gone + s->counts.used >= all || gone >= all ? 0 : all - gone - s->counts.used;
}

static motet_status take(sim_device *d, dev_memory_kind kind, size_t bytes, sim_block *b)
{
    sim_world *w = d->world;
    motet_context *c = w->context;
    sim_slot *s = &w->slot[d->number];
    TRY(sim_call(d, "alloc"));
    s->counts.allocs++;
    s->allocs++;
    if (s->fault.fail_alloc && (s->allocs == s->fault.fail_alloc ||
                                (s->fault.fail_alloc_on && s->allocs > s->fault.fail_alloc)))
        return fail(c, MOTET_NO_MEMORY, "sim:%d: allocation %lld fails, as it was told to",
                    d->number, (long long)s->allocs);
    if (kind == DEV_DEVICE && bytes > sim_memory_free(d))
        return fail(c, MOTET_NO_MEMORY, "sim:%d: %zu bytes asked for, %llu are free", d->number,
                    bytes, (unsigned long long)sim_memory_free(d));
    b->kind = kind;
    b->bytes = bytes;
    b->device = d;
    b->zone = kind == DEV_DEVICE ? ZONE : HOST_ZONE;
    if (kind == DEV_DEVICE)
        b->base = bytes < SIZE_MAX / 2 ? sim_take(w, bytes + 2 * ZONE) : NULL;
    else
        b->base = bytes < SIZE_MAX / 2 ? mem_alloc(c, bytes + 2 * HOST_ZONE) : NULL;
    if (!b->base)
        return fail(c, MOTET_NO_MEMORY, "sim:%d: no memory for %zu bytes", d->number, bytes);
    return MOTET_OK;
}

motet_status sim_alloc(dev *device, dev_memory_kind kind, size_t bytes, dev_memory *out)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = d->world;
    pthread_mutex_lock(&w->lock);
    sim_block *b = sim_take(w, sizeof *b);
    motet_status st = MOTET_NO_MEMORY;
    if (!b)
        fail(w->context, st, "sim:%d: no memory for its books", d->number);
    else
        st = take(d, kind, bytes, b);
    if (st != MOTET_OK) {
        sim_give(w, b);
        pthread_mutex_unlock(&w->lock);
        return st;
    }
    b->data = b->base + b->zone;
    b->number = ++w->numbers;
    snprintf(b->text, sizeof b->text, "%s", kind == DEV_DEVICE ? "memory" : "host memory");
    memset(b->data - b->zone, zone_byte, bytes + 2 * b->zone);
    memset(b->data, empty_byte, bytes);
    b->next = w->blocks;
    w->blocks = b;
    block_shut(w, b);
    sim_book_forget_range(w, (uintptr_t)b->data,
                          bytes); /* of a caller that had this address before */
    if (kind == DEV_DEVICE) {
        sim_counts *counts = &w->slot[d->number].counts;
        counts->used += bytes;
        if (counts->used > counts->used_peak) counts->used_peak = counts->used;
    }
    *out = (dev_memory){b->data, bytes, device->epoch, kind};
    pthread_mutex_unlock(&w->lock);
    return MOTET_OK;
}

static int in_use(sim_world *w, const sim_block *b)
{
    const sim_range all = whole(b);
    for (const sim_device *d = w->devices; d; d = d->next)
        for (const dev_stream *s = d->streams; s; s = s->next)
            for (const sim_command *k = s->first; k; k = k->following)
                for (int i = 0; i < k->ranges; i++)
                    if (sim_overlap(&all, &k->range[i])) return 1;
    return 0;
}

static void bury(sim_world *w, sim_block **at)
{
    sim_block *b = *at;
    *at = b->next;
    late_check(w, b);
    block_open(b);
    if (b->kind == DEV_DEVICE)
        sim_give(w, b->base);
    else
        mem_free(w->context, b->base);
    sim_give(w, b);
}

/* The oldest are the last of the list. */
static void evict(sim_world *w)
{
    while (w->quarantined > QUARANTINE || w->quarantined_blocks > BLOCKS) {
        sim_block **oldest = NULL;
        for (sim_block **at = &w->blocks; *at; at = &(*at)->next)
            if ((*at)->state == SIM_RELEASED && (*at)->kind == DEV_DEVICE && !in_use(w, *at))
                oldest = at;
        if (!oldest) return;
        w->quarantined -= (*oldest)->bytes;
        w->quarantined_blocks--;
        bury(w, oldest);
    }
}

static void empty(sim_world *w, sim_block *b)
{
    block_open(b);
    memset(b->data, empty_byte, b->bytes);
    block_shut(w, b);
}

void sim_release(dev *device, dev_memory *memory)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = d->world;
    if (!memory->data) return;
    pthread_mutex_lock(&w->lock);
    sim_block **at = &w->blocks;
    while (*at && !((*at)->data == memory->data && (*at)->device->number == d->number &&
                    (*at)->device->base.epoch == memory->epoch))
        at = &(*at)->next;
    sim_block *b = *at;
    if (!b || b->state == SIM_RELEASED) {
        sim_found(w, "release of %p on sim:%d, which is not there or was released", memory->data,
                  d->number);
    } else {
        const sim_label label = {"release", ++w->numbers, -1, -1};
        const sim_range range = whole(b);
        sim_book_add(w, NULL, &w->host, SIM_HOST, &label, &range);
        sim_book_forget_range(w, range.at, range.bytes);
        sim_zones_check(w, b, "its release");
        if (b->state == SIM_LIVING && b->kind == DEV_DEVICE)
            w->slot[d->number].counts.used -= b->bytes;
        b->state = SIM_RELEASED;
        if (b->kind == DEV_DEVICE) {
            empty(w, b);
            w->quarantined += b->bytes;
            w->quarantined_blocks++;
            evict(w);
        } else if (!in_use(w, b)) { /* else it stays until the end, so that nothing crashes */
            empty(w, b);
            bury(w, at);
        }
    }
    *memory = (dev_memory){.data = NULL};
    pthread_mutex_unlock(&w->lock);
}

void sim_memory_name(dev *device, const dev_memory *memory, const char *text)
{
    sim_world *w = ((sim_device *)device)->world;
    pthread_mutex_lock(&w->lock);
    for (sim_block *b = w->blocks; b; b = b->next) {
        if (b->data != memory->data || b->state != SIM_LIVING) continue;
        const sim_label label = {"a new name", ++w->numbers, -1, -1};
        const sim_range range = whole(b);
        sim_book_add(w, NULL, &w->host, SIM_HOST, &label, &range); /* finds what goes on still */
        sim_book_forget_range(w, range.at, range.bytes);
        sim_zones_check(w, b, "its new name");
        empty(w, b);
        snprintf(b->text, sizeof b->text, "%s", text);
    }
    pthread_mutex_unlock(&w->lock);
}

void sim_memory_close(sim_device *d)
{
    sim_world *w = d->world;
    for (sim_block *b = w->blocks; b; b = b->next) {
        if (b->device != d || b->state != SIM_LIVING) continue;
        sim_zones_check(w, b, "the close");
        if (b->kind != DEV_DEVICE) continue; /* the host's: its owner may look at it still */
        b->state = SIM_CLOSED;
        empty(w, b);
        w->slot[d->number].counts.used -= b->bytes;
    }
}

void sim_memory_spoil(sim_device *d)
{
    for (sim_block *b = d->world->blocks; b; b = b->next)
        if (b->device == d && b->kind == DEV_DEVICE) empty(d->world, b);
}

void sim_memory_end(sim_world *w)
{
    while (w->blocks) {
        sim_block *b = w->blocks;
        sim_zones_check(w, b, "the end");
        if (b->state != SIM_RELEASED)
            sim_found(w, "%s (block %lld of sim:%d) was never released", b->text,
                      (long long)b->number, b->device->number);
        if (b->state == SIM_LIVING) empty(w, b);
        bury(w, &w->blocks);
    }
}

void sim_memory_open(sim_world *w, const sim_command *k)
{
    (void)w;
    for (int i = 0; i < k->ranges; i++) {
        const sim_range *r = &k->range[i];
        for (size_t j = 0; j < (r->rows ? r->rows : 1); j++)
            ASAN_UNPOISON_MEMORY_REGION((char *)r->at + j * r->pitch, r->bytes);
    }
}

void sim_memory_shut(sim_world *w, const sim_command *k)
{
    for (int i = 0; i < k->ranges; i++) {
        sim_block *b = sim_block_at(w, k->range[i].at);
        if (b) block_shut(w, b);
    }
}

static int watched(const sim_world *w, const sim_block *b)
{
    return b->state == SIM_LIVING && (b->kind == DEV_DEVICE || w->config.watch_host);
}

char *sim_watch_begin(sim_world *w)
{
    size_t bytes = 0;
    for (const sim_block *b = w->blocks; b; b = b->next)
        if (watched(w, b)) bytes += b->bytes;
    if (bytes > w->config.watch_bytes) return NULL;
    char *copy = sim_take(w, bytes), *to = copy;
    for (sim_block *b = w->blocks; copy && b; b = b->next) {
        if (!watched(w, b)) continue;
        block_open(b);
        memcpy(to, b->data, b->bytes);
        block_shut(w, b);
        to += b->bytes;
    }
    return copy;
}

void sim_watch_end(sim_world *w, char *copy, const sim_command *k)
{
    if (!copy) return;
    const char *was = copy;
    for (sim_block *b = w->blocks; b; b = b->next) {
        if (!watched(w, b)) continue;
        block_open(b);
        const size_t changed = memcmp(b->data, was, b->bytes) ? b->bytes : 0;
        for (size_t i = 0; i < changed; i++) {
            if (b->data[i] == was[i]) continue;
            const sim_range one = {.at = (uintptr_t)b->data + i, .bytes = 1};
            int said = 0;
            for (int j = 0; j < k->ranges && !said; j++)
                said = k->range[j].writes && sim_overlap(&one, &k->range[j]);
            if (said) continue;
            char who[96], place[96];
            sim_found(w, "%s wrote %s and did not say so", sim_label_text(&k->label, who),
                      sim_place_text(w, one.at, place));
            break;
        }
        block_shut(w, b);
        was += b->bytes;
    }
    sim_give(w, copy);
}
