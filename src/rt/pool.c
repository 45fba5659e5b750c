/* A block is used again only for exactly its bytes, so that a plan's bytes stay exact. Blocks are
 * taken out of the table under the lock and released outside of it: nothing is called meanwhile,
 * so memory of the host can be asked back from within an allocation (context->reclaim). */
#include "rt/pool.h"

#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "rt/hold.h"

typedef struct idle {
    dev_memory block[RT_POOL_BLOCKS]; /* the oldest first */
    int count;
} idle;

struct rt_pool {
    pthread_mutex_t lock;
    idle device[RT_DEVICES][RT_POOL_KINDS];
    idle host;
};

static void *no_longer(idle *all, int at, dev_memory *out)
{
    *out = all->block[at];
    memmove(&all->block[at], &all->block[at + 1], (size_t)(--all->count - at) * sizeof *all->block);
    return out->data;
}

static int find(idle *all, size_t bytes, uint64_t epoch, dev_memory *out)
{
    for (int i = all->count - 1; i >= 0; i--)
        if (all->block[i].bytes == bytes && all->block[i].epoch == epoch)
            return no_longer(all, i, out) != NULL;
    return 0;
}

/* Answers 1 if *out, the oldest, has to go for it. */
static int put(idle *all, const dev_memory *memory, dev_memory *out)
{
    const int full = all->count == RT_POOL_BLOCKS;
    if (full) no_longer(all, 0, out);
    all->block[all->count++] = *memory;
    return full;
}

/* Devices. */

static void release(rt_device *one, rt_pool_kind kind, dev_memory *memory)
{
    if (kind == RT_POOL_ARENA) rt_hold_taken(one, -(int64_t)memory->bytes);
    one->table->release(one->device, memory);
}

static int flush(motet_context *c, rt_device *one, rt_pool_kind kind)
{
    struct rt_pool *pool = c->pool;
    idle *all = &pool->device[one - c->devices->set][kind];
    for (int released = 0;; released++) {
        dev_memory memory = {.data = NULL};
        pthread_mutex_lock(&pool->lock);
        if (all->count) no_longer(all, 0, &memory);
        pthread_mutex_unlock(&pool->lock);
        if (!memory.data) return released;
        release(one, kind, &memory);
    }
}

int rt_pool_flush_device(motet_context *c, rt_device *one)
{
    return flush(c, one, RT_POOL_ARENA) + flush(c, one, RT_POOL_STAGING);
}

/* A device that is being closed gives its own back itself. */
static int flush_devices(motet_context *c, int staging_alone)
{
    int released = 0;
    for (int i = 0; i < c->devices->count; i++) {
        rt_device *one = &c->devices->set[i];
        if (!rt_device_hold(c, one)) continue;
        released += flush(c, one, RT_POOL_STAGING);
        if (!staging_alone) released += flush(c, one, RT_POOL_ARENA);
        rt_device_leave(c, one);
    }
    return released;
}

int rt_pool_flush_staging(motet_context *c) { return flush_devices(c, 1); }

static motet_status alloc(rt_device *one, rt_pool_kind kind, size_t bytes, dev_memory *out)
{
    static const dev_memory_kind kinds[RT_POOL_KINDS] = {DEV_DEVICE, DEV_PINNED};
    TRY(one->table->alloc(one->device, kinds[kind], bytes, out));
    if (kind == RT_POOL_ARENA) rt_hold_taken(one, (int64_t)bytes);
    return MOTET_OK;
}

motet_status rt_pool_alloc(motet_context *c, rt_device *one, rt_pool_kind kind, size_t bytes,
                           int64_t limit, dev_memory *out)
{
    const int64_t taken = atomic_load(&one->taken) + (int64_t)one->info.memory_context;
    if (kind == RT_POOL_ARENA && (taken > limit || (int64_t)bytes > limit - taken))
        flush(c, one, RT_POOL_ARENA);
    const motet_status st = alloc(one, kind, bytes, out);
    if (st != MOTET_NO_MEMORY) return st;
    const int released = kind == RT_POOL_ARENA ? flush(c, one, kind) : rt_pool_flush(c);
    return released ? alloc(one, kind, bytes, out) : st;
}

motet_status rt_pool_take(motet_context *c, rt_device *one, rt_pool_kind kind, size_t bytes,
                          int64_t limit, dev_memory *out)
{
    struct rt_pool *pool = c->pool;
    const int index = (int)(one - c->devices->set);
    pthread_mutex_lock(&pool->lock);
    const int found = find(&pool->device[index][kind], bytes, one->device->epoch, out);
    pthread_mutex_unlock(&pool->lock);
    return found ? MOTET_OK : rt_pool_alloc(c, one, kind, bytes, limit, out);
}

void rt_pool_give(motet_context *c, rt_device *one, rt_pool_kind kind, dev_memory *memory)
{
    struct rt_pool *pool = c->pool;
    dev_memory gone = *memory;
    int release_it = memory->data != NULL;
    const int keep = !one->host_visible && !atomic_load(&one->lost);
    if (release_it && keep && memory->epoch == one->device->epoch) {
        pthread_mutex_lock(&pool->lock);
        release_it = put(&pool->device[one - c->devices->set][kind], memory, &gone);
        pthread_mutex_unlock(&pool->lock);
    }
    if (release_it) release(one, kind, &gone);
    *memory = (dev_memory){.data = NULL};
}

/* The host. */

static int flush_host(motet_context *c)
{
    for (int released = 0;; released++) {
        dev_memory memory = {.data = NULL};
        pthread_mutex_lock(&c->pool->lock);
        if (c->pool->host.count) no_longer(&c->pool->host, 0, &memory);
        atomic_fetch_sub(&c->idle, memory.bytes); /* never less than 0: with the lock held */
        pthread_mutex_unlock(&c->pool->lock);
        if (!memory.data) return released;
        mem_free(c, memory.data);
    }
}

void *rt_pool_take_host(motet_context *c, size_t bytes, int zero)
{
    dev_memory memory = {.data = NULL};
    pthread_mutex_lock(&c->pool->lock);
    const int found = find(&c->pool->host, bytes, 0, &memory);
    if (found) atomic_fetch_sub(&c->idle, bytes);
    pthread_mutex_unlock(&c->pool->lock);
    if (!found) memory.data = mem_alloc(c, bytes);
    if (!memory.data && rt_pool_flush(c)) memory.data = mem_alloc(c, bytes);
    if (memory.data && zero) memset(memory.data, 0, bytes);
    return memory.data;
}

void rt_pool_give_host(motet_context *c, void *block, size_t bytes)
{
    const dev_memory memory = {.data = block, .bytes = bytes};
    dev_memory gone = {.data = NULL};
    if (!block) return;
    pthread_mutex_lock(&c->pool->lock);
    put(&c->pool->host, &memory, &gone);
    atomic_fetch_add(&c->idle, bytes);
    atomic_fetch_sub(&c->idle, gone.bytes);
    pthread_mutex_unlock(&c->pool->lock);
    mem_free(c, gone.data);
}

int rt_pool_flush(motet_context *c)
{
    const int released = flush_host(c);
    return released + flush_devices(c, 0);
}

/* Counts. */

static int64_t bytes_of(const idle *all)
{
    int64_t bytes = 0;
    for (int i = 0; i < all->count; i++) bytes += (int64_t)all->block[i].bytes;
    return bytes;
}

int64_t rt_pool_idle(motet_context *c, const rt_device *one)
{
    pthread_mutex_lock(&c->pool->lock);
    const int64_t bytes = bytes_of(&c->pool->device[one - c->devices->set][RT_POOL_ARENA]);
    pthread_mutex_unlock(&c->pool->lock);
    return bytes;
}

int64_t rt_pool_idle_staging(motet_context *c)
{
    int64_t bytes = 0;
    pthread_mutex_lock(&c->pool->lock);
    for (int i = 0; i < RT_DEVICES; i++) bytes += bytes_of(&c->pool->device[i][RT_POOL_STAGING]);
    pthread_mutex_unlock(&c->pool->lock);
    return bytes;
}

/* The pool. */

motet_status rt_pool_open(motet_context *c)
{
    c->pool = mem_new(c, struct rt_pool);
    if (!c->pool) return fail(c, MOTET_NO_MEMORY, "no memory for the pool");
    pthread_mutex_init(&c->pool->lock, NULL);
    c->reclaim = flush_host;
    return MOTET_OK;
}

void rt_pool_close(motet_context *c)
{
    if (!c->pool) return;
    rt_pool_flush(c);
    pthread_mutex_destroy(&c->pool->lock);
    c->reclaim = NULL;
    mem_free(c, c->pool);
    c->pool = NULL;
}

int rt_pool_trim_devices(motet_context *c)
{
    size_t bytes = 0;
    for (int i = 0; i < c->devices->count; i++) {
        rt_device *one = &c->devices->set[i];
        if (!rt_device_use(c, one)) continue;
        if (one->device->table->trim) bytes += one->device->table->trim(one->device);
        rt_device_leave(c, one);
    }
    return bytes > 0;
}

void motet_context_trim(motet_context *c)
{
    (void)rt_pool_flush(c);
    (void)rt_pool_trim_devices(c);
}
