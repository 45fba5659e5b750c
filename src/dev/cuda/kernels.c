/* Kernels of the image, and launching them.
 *
 * Every kernel has an item form, NAME_entry: threads take items, stepping by the size of the grid.
 * A tuned form, NAME_blocks, says in NAME_blocks_shape how many threads work together on how many
 * items in how much shared memory. Both give the same bits (kern/define.h). */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "dev/cuda/image.h"
#include "dev/cuda/inside.h"

enum { THREADS = 128, MOST_BLOCKS = 1 << 30 };

/* Scratch is as large as a row of detector pixels: few workers, so that it stays small beside the
 * arrays. */
enum { WORKERS = 64 /* of a multiprocessor */ };

int cuda_workers(const cuda_device *d) { return d->multiprocessors * WORKERS; }

static motet_status find(cuda_device *d, const char *name, const char *end, CUfunction *out)
{
    char text[96];
    snprintf(text, sizeof text, "%s%s", name, end);
    const CUresult result = d->driver->cuModuleGetFunction(out, d->module, text);
    if (result == CUDA_SUCCESS) return MOTET_OK;
    *out = NULL;
    if (result == CUDA_ERROR_NOT_FOUND) return MOTET_NOT_FOUND;
    return cuda_check(d, result, "cuModuleGetFunction");
}

static motet_status find_blocks(cuda_device *d, const char *name, cuda_kernel *k)
{
    char text[96];
    CUdeviceptr data;
    size_t bytes = 0;
    int shape[3] = {0};
    const motet_status st = find(d, name, "_blocks", &k->blocks);
    if (st == MOTET_NOT_FOUND) return MOTET_OK;
    TRY(st);
    snprintf(text, sizeof text, "%s_blocks_shape", name);
    TRY(CUDA(d, cuModuleGetGlobal_v2, &data, &bytes, d->module, text));
    if (bytes != sizeof shape)
        return fail(d->base.context, MOTET_INTERNAL, "cuda:%d: %s has %zu bytes", d->number, text,
                    bytes);
    TRY(CUDA(d, cuMemcpyDtoH_v2, shape, data, bytes));
    k->shape.threads = shape[0];
    k->shape.items = shape[1];
    k->shape.shared = shape[2];
    /* A GPU with less shared memory than that runs the items. */
    const CUresult result = d->driver->cuFuncSetAttribute(
        k->blocks, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k->shape.shared);
    if (result == CUDA_ERROR_INVALID_VALUE) k->blocks = NULL;
    return k->blocks ? cuda_check(d, result, "cuFuncSetAttribute") : MOTET_OK;
}

/* Asking for an attribute has the code of the function loaded now, where it would be at its first
 * launch. */
static motet_status find_kernel(cuda_device *d, const char *name, cuda_kernel *k)
{
    int most = 0;
    const motet_status st = find(d, name, "_entry", &k->item);
    if (st == MOTET_NOT_FOUND)
        return fail(d->base.context, MOTET_INTERNAL, "cuda:%d: the image has no kernel %s",
                    d->number, name);
    TRY(st);
    TRY(CUDA(d, cuFuncGetAttribute, &most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k->item));
    k->threads = most < THREADS ? most : THREADS;
    return d->world->plain ? MOTET_OK : find_blocks(d, name, k);
}

/* The memory that a kernel's threads keep what does not fit in registers in is allocated at the
 * first launch that needs more of it; a launch of no items does that now. */
static motet_status warm_up(cuda_device *d, const k_kernel *kernel, const cuda_kernel *k)
{
    void *args = mem_zero(d->base.context, *kernel->args_bytes);
    if (!args)
        return fail(d->base.context, MOTET_NO_MEMORY, "cuda:%d: no memory to warm up", d->number);
    int64_t items = 0, scratch_bytes = 0;
    CUdeviceptr scratch = 0;
    void *arguments[] = {args, &items, &scratch, &scratch_bytes};
    motet_status st = CUDA(d, cuLaunchKernel, k->item, 1, 1, 1, (unsigned)k->threads, 1, 1, 0,
                           d->own, arguments, NULL);
    if (st == MOTET_OK && k->blocks)
        st = CUDA(d, cuLaunchKernel, k->blocks, 1, 1, 1, (unsigned)k->shape.threads, 1, 1,
                  (unsigned)k->shape.shared, d->own, arguments, NULL);
    mem_free(d->base.context, args);
    return st;
}

motet_status cuda_kernels_load(cuda_device *d)
{
    int count = 0;
    while (k_kernels[count]) count++;
    d->kernel = mem_array(d->base.context, cuda_kernel, count);
    if (!d->kernel)
        return fail(d->base.context, MOTET_NO_MEMORY, "cuda:%d: no memory for its kernels",
                    d->number);
    const CUresult result = d->driver->cuModuleLoadData(&d->module, cuda_image);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return fail_native(d->base.context, MOTET_UNSUPPORTED, result,
                           "cuda:%d: this build has no kernels for a GPU of its kind", d->number);
    TRY(cuda_check(d, result, "cuModuleLoadData"));
    for (int i = 0; i < count; i++) {
        TRY(find_kernel(d, k_kernels[i]->name, &d->kernel[i]));
        TRY(warm_up(d, k_kernels[i], &d->kernel[i]));
    }
    return MOTET_OK;
}

/* Scratch of at least so many bytes, the stream's own: commands of two streams may run at once. A
 * smaller one stays with the stream, as commands use it still. */
static motet_status take_scratch(dev_stream *s, size_t bytes)
{
    cuda_device *d = s->device;
    motet_context *c = d->base.context;
    if (s->scratch && s->scratch->bytes >= bytes) return MOTET_OK;
    cuda_scratch *found = NULL;
    pthread_mutex_lock(&d->lock);
    for (cuda_scratch **at = &d->spare; *at && !found; at = &(*at)->next)
        if ((*at)->bytes >= bytes) {
            found = *at;
            *at = found->next;
            break;
        }
    pthread_mutex_unlock(&d->lock);
    if (!found) {
        found = mem_new(c, cuda_scratch);
        if (!found) return fail(c, MOTET_NO_MEMORY, "cuda:%d: no memory for scratch", d->number);
        const motet_status st = CUDA(d, cuMemAlloc_v2, &found->data, bytes);
        if (st != MOTET_OK) {
            mem_free(c, found);
            return st;
        }
        found->bytes = bytes;
    }
    found->next = s->scratch;
    s->scratch = found;
    return MOTET_OK;
}

size_t cuda_trim(dev *device)
{
    cuda_device *d = (cuda_device *)device;
    size_t bytes = 0;
    if (!cuda_enter_still(d)) return 0;
    pthread_mutex_lock(&d->lock);
    cuda_scratch *all = d->spare;
    d->spare = NULL;
    pthread_mutex_unlock(&d->lock);
    for (cuda_scratch *s = all, *next; s; s = next) {
        next = s->next;
        bytes += s->bytes;
        d->driver->cuMemFree_v2(s->data);
        mem_free(device->context, s);
    }
    cuda_leave(d);
    return bytes;
}

static const cuda_kernel *kernel_of(const cuda_device *d, const k_kernel *kernel)
{
    for (int i = 0; k_kernels[i]; i++)
        if (k_kernels[i] == kernel) return &d->kernel[i];
    return NULL;
}

static motet_status launch_items(dev_stream *s, const dev_launch *l, const cuda_kernel *k)
{
    cuda_device *d = s->device;
    int64_t items = l->items, blocks = (items + k->threads - 1) / k->threads;
    int64_t scratch_bytes = (int64_t)((l->scratch.plain + 63) / 64 * 64);
    CUdeviceptr scratch = 0;
    unsigned threads = (unsigned)k->threads;
    if (scratch_bytes) {
        threads = WORKERS < threads ? WORKERS : threads;
        blocks = (items + threads - 1) / threads;
        const int64_t most = cuda_workers(d) / (int64_t)threads;
        if (blocks > most) blocks = most;
        TRY(take_scratch(s, (size_t)cuda_workers(d) * (size_t)scratch_bytes));
        scratch = s->scratch->data;
    }
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    void *arguments[] = {(void *)(uintptr_t)l->args, &items, &scratch, &scratch_bytes};
    return CUDA(d, cuLaunchKernel, k->item, (unsigned)blocks, 1, 1, threads, 1, 1, 0, s->stream,
                arguments, NULL);
}

static motet_status launch_blocks(dev_stream *s, const dev_launch *l, const cuda_kernel *k)
{
    int64_t items = l->items;
    const int64_t blocks = (items - 1) / k->shape.items + 1;
    void *arguments[] = {(void *)(uintptr_t)l->args, &items};
    return CUDA(s->device, cuLaunchKernel, k->blocks, (unsigned)blocks, 1, 1,
                (unsigned)k->shape.threads, 1, 1, (unsigned)k->shape.shared, s->stream, arguments,
                NULL);
}

motet_status cuda_kernel_launch(dev_stream *s, const dev_launch *l)
{
    const cuda_kernel *k = kernel_of(s->device, l->kernel);
    if (!k)
        return fail(s->device->base.context, MOTET_INTERNAL, "cuda:%d: the image has no kernel %s",
                    s->device->number, l->kernel->name);
    if (l->items <= 0) return MOTET_OK;
    if (k->blocks && (l->items - 1) / k->shape.items < MOST_BLOCKS) return launch_blocks(s, l, k);
    return launch_items(s, l, k);
}
