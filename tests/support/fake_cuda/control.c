/* Settings, faults and findings; the beginning and end of every call. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

fake_world fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

#define X(name) #name,
static const char *const function_names[] = {FAKE_FUNCTIONS(X) NULL};
#undef X

void fake_find(const char *format, ...)
{
    if (fake.findings < FAKE_FINDINGS) {
        va_list list;
        va_start(list, format);
        vsnprintf(fake.finding[fake.findings], sizeof fake.finding[0], format, list);
        va_end(list);
    }
    fake.findings++;
}

/* splitmix64 */
uint64_t fake_random(void)
{
    uint64_t z = fake.random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int function_of(const char *name)
{
    for (int i = 0; i < FAKE_FUNCTION_COUNT; i++)
        if (!strcmp(function_names[i], name)) return i;
    return -1;
}

static int set_fault(const char *name, int64_t nth, int result, int64_t more)
{
    const int i = function_of(name);
    if (i >= 0) fake.fault[i] = (fake_fault){.nth = nth, .more = more, .result = result};
    return i >= 0;
}

static uint64_t bytes_of(const char *text, uint64_t otherwise)
{
    if (!text) return otherwise;
    char *end;
    const uint64_t n = strtoull(text, &end, 10);
    return n << (*end == 'G' ? 30 : *end == 'M' ? 20 : *end == 'K' ? 10 : 0);
}

/* FAKE_CUDA_FAIL=function:nth:result */
static void fault_of(const char *text)
{
    char name[64];
    long long nth;
    int result;
    if (text && sscanf(text, "%63[^:]:%lld:%d", name, &nth, &result) == 3)
        set_fault(name, nth, result, 0);
}

static void configure(int devices, uint64_t memory, uint64_t seed)
{
    fake.devices = devices < FAKE_DEVICES ? devices : FAKE_DEVICES;
    fake.version = 13000;
    fake.random = seed;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake.device[i].ordinal = i;
        fake.device[i].total = memory;
    }
    fake.configured = 1;
}

static void configure_by_environment(void)
{
    if (fake.configured) return;
    configure((int)bytes_of(getenv("FAKE_CUDA_DEVICES"), 1),
              bytes_of(getenv("FAKE_CUDA_MEMORY"), (uint64_t)256 << 20),
              bytes_of(getenv("FAKE_CUDA_SEED"), 1));
    fake.version = (int)bytes_of(getenv("FAKE_CUDA_VERSION"), 13000);
    fake.trap_at = (int64_t)bytes_of(getenv("FAKE_CUDA_TRAP"), 0);
    fake.trap_result = 719;
    fake.hang_at = (int64_t)bytes_of(getenv("FAKE_CUDA_HANG"), 0);
    fault_of(getenv("FAKE_CUDA_FAIL"));
}

CUresult fake_enter(fake_function function, int needs)
{
    pthread_mutex_lock(&fake.lock);
    configure_by_environment();
    fake.calls[function]++;
    fake_fault *f = &fake.fault[function];
    if (f->nth > 0 && --f->nth == 0) {
        if (f->more > 0) {
            f->more--;
            f->nth = 1;
        }
        return f->result;
    }
    if (needs >= FAKE_INIT && !fake.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (needs >= FAKE_INIT && fake.broken && function != FAKE_cuCtxPopCurrent_v2)
        return fake.broken;
    if (needs < FAKE_CONTEXT) return CUDA_SUCCESS;
    const CUcontext current = fake_current();
    if (!current) return CUDA_ERROR_INVALID_CONTEXT;
    return current->retained ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult fake_leave(CUresult result)
{
    pthread_mutex_unlock(&fake.lock);
    return result;
}

/* The control. */

static void reset(int devices, uint64_t memory, uint64_t seed)
{
    pthread_mutex_lock(&fake.lock);
    while (fake.running) pthread_cond_wait(&fake.changed, &fake.lock);
    for (int i = 0; i < FAKE_DEVICES; i++) {
        CUcontext d = &fake.device[i];
        fake_queue_clear(d);
        fake_modules_clear(d);
        fake_memory_clear(d);
        memset(d, 0, sizeof *d);
    }
    fake_stack_clear();
    memset(fake.calls, 0, sizeof fake.calls);
    memset(fake.fault, 0, sizeof fake.fault);
    fake.launches = fake.copies = fake.trap_at = fake.hang_at = fake.corrupt_at = 0;
    fake.initialised = fake.held = fake.findings = fake.broken = 0;
    configure(devices, memory, seed);
    pthread_mutex_unlock(&fake.lock);
}

static void count(fake_cuda_counts *out)
{
    pthread_mutex_lock(&fake.lock);
    *out = (fake_cuda_counts){
        .launches = fake.launches, .copies = fake.copies, .findings = fake.findings};
    for (int i = 0; i < FAKE_DEVICES; i++) {
        CUcontext d = &fake.device[i];
        for (fake_memory *m = d->memory; m; m = m->next)
            ++*(m->host ? &out->host_allocations : &out->allocations);
        for (CUstream s = d->streams; s; s = s->next)
            out->streams += !s->destroyed, out->hung += s->hung;
        for (CUevent e = d->events; e; e = e->next) out->events += !e->destroyed;
        for (CUmodule m = d->modules; m; m = m->next) out->modules++;
        out->retained += d->retained;
        out->used[i] = d->used;
        out->used_peak[i] = d->used_peak;
        out->device_launches[i] = d->launches;
    }
    pthread_mutex_unlock(&fake.lock);
}

static const char *finding(int i)
{
    return i >= 0 && i < FAKE_FINDINGS && i < fake.findings ? fake.finding[i] : "";
}

static int64_t calls(const char *name)
{
    const int i = function_of(name);
    pthread_mutex_lock(&fake.lock);
    const int64_t n = i < 0 ? -1 : fake.calls[i];
    pthread_mutex_unlock(&fake.lock);
    return n;
}

static const char *function(int i)
{
    return i >= 0 && i < FAKE_FUNCTION_COUNT ? function_names[i] : NULL;
}

#define LOCKED(...)                                                                                \
    do {                                                                                           \
        pthread_mutex_lock(&fake.lock);                                                            \
        __VA_ARGS__;                                                                               \
        pthread_cond_broadcast(&fake.changed);                                                     \
        pthread_mutex_unlock(&fake.lock);                                                          \
    } while (0)

static int refuse(const char *name, int64_t nth, int result, int64_t more)
{
    int known;
    LOCKED(known = set_fault(name, nth, result, more));
    return known;
}

static void trap(int64_t nth, int result)
{
    LOCKED(fake.trap_at = nth ? fake.launches + nth : 0, fake.trap_result = result);
}

static void hang(int64_t nth) { LOCKED(fake.hang_at = nth ? fake.launches + nth : 0); }
static void corrupt(int64_t nth) { LOCKED(fake.corrupt_at = nth ? fake.copies + nth : 0); }
static void wrong_health(int i, int times) { LOCKED(fake.device[i].wrong_health = times); }
static void taken(int i, uint64_t bytes) { LOCKED(fake.device[i].taken = bytes); }
static void version(int v) { LOCKED(fake.version = v); }
static void hold(int held) { LOCKED(fake.held = held); }

static void add_kernel(const char *name, size_t args_bytes, fake_cuda_range *range)
{
    pthread_mutex_lock(&fake.lock);
    int i = 0;
    while (i < fake.kernels && strcmp(fake.kernel[i].name, name) != 0) i++;
    if (i < FAKE_KERNELS) {
        snprintf(fake.kernel[i].name, sizeof fake.kernel[i].name, "%s", name);
        fake.kernel[i].args_bytes = args_bytes;
        fake.kernel[i].range = range;
        if (i == fake.kernels) fake.kernels++;
    }
    pthread_mutex_unlock(&fake.lock);
}

static const void *current(void) { return fake_current(); }

extern const fake_cuda_control fake_cuda;
__attribute__((visibility("default"))) const fake_cuda_control fake_cuda = {
    .reset = reset,
    .count = count,
    .finding = finding,
    .calls = calls,
    .function = function,
    .refuse = refuse,
    .trap = trap,
    .hang = hang,
    .wrong_health = wrong_health,
    .corrupt = corrupt,
    .taken = taken,
    .version = version,
    .hold = hold,
    .kernel = add_kernel,
    .depth = fake_stack_depth,
    .current = current,
};
