/* Memory, each piece between pages that nobody may touch. That of a device may not be touched
 * either, but while a command of a device that can reach it is executed: code of the host that
 * follows such a pointer traps. Fresh memory holds no zeros, and what is written between its end
 * and the end of its page is found when it is freed. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside.h"

enum { ALIGN = 256, FRESH = 0xa5, MARGIN = 0x5c };

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static fake_memory *make(CUcontext c, size_t bytes, int host)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t room = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    const size_t inner = (room + page() - 1) / page() * page();
    fake_memory *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->mapped = inner + 2 * page();
    m->map = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m->map == MAP_FAILED) {
        free(m);
        return NULL;
    }
    m->context = c;
    m->bytes = bytes;
    m->host = host;
    m->data = m->map + page() + inner - room;
    memset(m->map + page(), MARGIN, inner);
    memset(m->data, FRESH, bytes);
    mprotect(m->map, page(), PROT_NONE);
    mprotect(m->map + page() + inner, page(), PROT_NONE);
    if (!host) mprotect(m->map, m->mapped, PROT_NONE);
    m->next = c->memory;
    c->memory = m;
    return m;
}

static void protect(fake_memory *m, int open)
{
    mprotect(m->map + page(), m->mapped - 2 * page(), open ? PROT_READ | PROT_WRITE : PROT_NONE);
    m->open = open;
}

static int intact(const fake_memory *m)
{
    for (const char *p = m->map + page(); p < m->map + m->mapped - page(); p++)
        if ((p < m->data || p >= m->data + m->bytes) && *p != MARGIN) return 0;
    return 1;
}

static void drop(fake_memory **at)
{
    fake_memory *m = *at;
    if (!m->host) protect(m, 1);
    if (!intact(m))
        fake_find("%zu bytes of %s memory: something was written outside of them", m->bytes,
                  m->host ? "host" : "device");
    munmap(m->map, m->mapped);
    if (!m->host) m->context->used -= m->bytes;
    *at = m->next;
    free(m);
}

void fake_memory_clear(CUcontext c)
{
    while (c->memory) drop(&c->memory);
}

static void open_all(CUcontext c, int open)
{
    for (fake_memory *m = c->memory; m; m = m->next)
        if (!m->host && m->open != open) protect(m, open);
}

void fake_memory_open(CUcontext c, fake_memory *one, int open)
{
    if (one && !one->host) protect(one, open);
    if (!c) return;
    open_all(c, open);
    for (int i = 0; i < FAKE_DEVICES; i++)
        if (c->peer[i]) open_all(&fake.device[i], open);
}

fake_place fake_where(const void *data, size_t bytes, fake_memory **out)
{
    const char *at = data;
    *out = NULL;
    for (int i = 0; i < FAKE_DEVICES; i++)
        for (fake_memory *m = fake.device[i].memory; m; m = m->next) {
            if (at >= m->map + m->mapped || at + bytes <= m->map) continue;
            if (at < m->data || at + bytes > m->data + m->bytes) return FAKE_NOWHERE;
            *out = m;
            return m->host ? FAKE_PINNED : FAKE_ON_DEVICE;
        }
    return FAKE_PAGEABLE;
}

static size_t left(const struct CUctx_st *c)
{
    const uint64_t gone = c->used + c->taken;
    return gone < c->total ? c->total - gone : 0;
}

FAKE_API(cuMemGetInfo_v2, size_t *available, size_t *total)
{
    const CUresult r = fake_enter(FAKE_cuMemGetInfo_v2, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS) {
        *available = left(fake_current());
        *total = fake_current()->total;
    }
    return fake_leave(r);
}

FAKE_API(cuMemAlloc_v2, CUdeviceptr *out, size_t bytes)
{
    CUresult r = fake_enter(FAKE_cuMemAlloc_v2, FAKE_CONTEXT);
    CUcontext c = fake_current();
    if (r == CUDA_SUCCESS && !bytes) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && bytes > left(c)) r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        fake_memory *m = make(c, bytes, 0);
        if (!m) return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
        c->used += bytes;
        if (c->used_peak < c->used) c->used_peak = c->used;
        *out = (CUdeviceptr)(uintptr_t)m->data;
    }
    return fake_leave(r);
}

FAKE_API(cuMemHostAlloc, void **out, size_t bytes, unsigned flags)
{
    CUresult r = fake_enter(FAKE_cuMemHostAlloc, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS && (!bytes || flags > 7)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        fake_memory *m = make(fake_current(), bytes, 1);
        if (!m) return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
        m->portable = flags & 1;
        *out = m->data;
    }
    return fake_leave(r);
}

/* Waits for whatever might use it. */
static CUresult release(const void *data, int host, const char *function)
{
    for (int i = 0; i < FAKE_DEVICES; i++)
        for (fake_memory *m = fake.device[i].memory; m; m = m->next) {
            if (m->data != data || m->host != host) continue;
            if (!fake_idle(m->context, function)) return CUDA_SUCCESS;
            fake_memory **at = &fake.device[i].memory;
            while (*at && *at != m) at = &(*at)->next;
            if (*at) drop(at);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

FAKE_API(cuMemFree_v2, CUdeviceptr data)
{
    CUresult r = fake_enter(FAKE_cuMemFree_v2, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS && data) r = release((void *)(uintptr_t)data, 0, "cuMemFree");
    return fake_leave(r);
}

FAKE_API(cuMemFreeHost, void *data)
{
    CUresult r = fake_enter(FAKE_cuMemFreeHost, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS) r = release(data, 1, "cuMemFreeHost");
    return fake_leave(r);
}
