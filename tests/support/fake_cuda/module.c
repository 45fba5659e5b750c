/* Modules and launches. An image is code for GPUs, which cannot run here: so a module has the entry
 * of every kernel of the library, carried out by the CPU's plain loop, an item at a time. */
#include <stdlib.h>
#include <string.h>

#include "dev/cpu/isa.h"
#include "inside.h"

enum { FATBIN = 0xba55ed50u, THREADS = 1024, SHARED = 49152, SHARED_AT_MOST = 232448 };

void fake_modules_clear(CUcontext c)
{
    while (c->modules) {
        CUmodule m = c->modules;
        c->modules = m->next;
        while (m->functions) {
            CUfunction f = m->functions;
            m->functions = f->next;
            free(f);
        }
        free(m);
    }
}

/* What nvcc makes begins like this, and so does the image of a test. */
static int is_image(const void *image)
{
    uint32_t first;
    if (!image) return 0;
    memcpy(&first, image, sizeof first);
    return first == FATBIN;
}

FAKE_API(cuModuleLoadData, CUmodule *out, const void *image)
{
    CUresult r = fake_enter(FAKE_cuModuleLoadData, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS && !is_image(image)) r = CUDA_ERROR_INVALID_IMAGE;
    if (r == CUDA_SUCCESS) {
        CUmodule m = calloc(1, sizeof *m);
        if (!m) return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
        m->context = fake_current();
        m->next = m->context->modules;
        m->context->modules = m;
        *out = m;
    }
    return fake_leave(r);
}

static CUresult enter_module(fake_function function, CUmodule module)
{
    const CUresult r = fake_enter(function, FAKE_CONTEXT);
    if (r != CUDA_SUCCESS) return r;
    for (CUmodule m = fake_current()->modules; m; m = m->next)
        if (m == module) return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_HANDLE;
}

FAKE_API(cuModuleUnload, CUmodule module)
{
    const CUresult r = enter_module(FAKE_cuModuleUnload, module);
    if (r == CUDA_SUCCESS && fake_idle(module->context, "cuModuleUnload")) {
        CUcontext c = module->context;
        CUmodule *at = &c->modules, others;
        while (*at != module) at = &(*at)->next;
        *at = module->next;
        others = c->modules;
        module->next = NULL;
        c->modules = module;
        fake_modules_clear(c);
        c->modules = others;
    }
    return fake_leave(r);
}

static int find(const char *entry, struct CUfunc_st *out)
{
    const size_t length = strlen(entry), end = strlen("_entry");
    if (length <= end || strcmp(entry + length - end, "_entry") != 0) return 0;
    const size_t name = length - end;
    for (const k_kernel *const *k = k_kernels; *k; k++)
        if (strlen((*k)->name) == name && !memcmp((*k)->name, entry, name)) {
            out->range = (*k)->plain[isa_index(isa_best())];
            out->args_bytes = *(*k)->args_bytes;
            out->is_health = !strcmp((*k)->name, "k_health");
            return 1;
        }
    for (int i = 0; i < fake.kernels; i++)
        if (strlen(fake.kernel[i].name) == name && !memcmp(fake.kernel[i].name, entry, name)) {
            out->range = fake.kernel[i].range;
            out->args_bytes = fake.kernel[i].args_bytes;
            return 1;
        }
    return 0;
}

FAKE_API(cuModuleGetFunction, CUfunction *out, CUmodule module, const char *name)
{
    CUresult r = enter_module(FAKE_cuModuleGetFunction, module);
    struct CUfunc_st found = {.shared_limit = SHARED};
    if (r == CUDA_SUCCESS && !find(name, &found)) r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS) {
        CUfunction f = malloc(sizeof *f);
        if (!f) return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
        *f = found;
        f->module = module;
        f->next = module->functions;
        module->functions = f;
        *out = f;
    }
    return fake_leave(r);
}

FAKE_API(cuModuleGetGlobal_v2, CUdeviceptr *data, size_t *bytes, CUmodule module, const char *name)
{
    CUresult r = enter_module(FAKE_cuModuleGetGlobal_v2, module);
    (void)data;
    (void)bytes;
    (void)name; /* there are none */
    return fake_leave(r == CUDA_SUCCESS ? CUDA_ERROR_NOT_FOUND : r);
}

static CUresult enter_function(fake_function function, CUfunction of)
{
    const CUresult r = fake_enter(function, FAKE_CONTEXT);
    if (r != CUDA_SUCCESS) return r;
    for (CUmodule m = fake_current()->modules; m; m = m->next)
        for (CUfunction f = m->functions; f; f = f->next)
            if (f == of) return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_HANDLE;
}

/* By CUfunction_attribute. */
enum { MAX_THREADS = 0, SHARED_BYTES = 1, LOCAL_BYTES = 3, REGISTERS = 4, DYNAMIC_SHARED = 8 };

FAKE_API(cuFuncGetAttribute, int *value, int attribute, CUfunction function)
{
    CUresult r = enter_function(FAKE_cuFuncGetAttribute, function);
    if (r == CUDA_SUCCESS) {
        if (attribute == MAX_THREADS)
            *value = THREADS;
        else if (attribute == SHARED_BYTES || attribute == LOCAL_BYTES)
            *value = 0;
        else if (attribute == REGISTERS)
            *value = 32;
        else if (attribute == DYNAMIC_SHARED)
            *value = function->shared_limit;
        else
            r = CUDA_ERROR_INVALID_VALUE;
    }
    return fake_leave(r);
}

FAKE_API(cuFuncSetAttribute, CUfunction function, int attribute, int value)
{
    CUresult r = enter_function(FAKE_cuFuncSetAttribute, function);
    if (r == CUDA_SUCCESS) {
        if (attribute == DYNAMIC_SHARED && value >= 0 && value <= SHARED_AT_MOST)
            function->shared_limit = value;
        else
            r = CUDA_ERROR_INVALID_VALUE;
    }
    return fake_leave(r);
}

FAKE_API(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, CUfunction function, int threads,
         size_t shared)
{
    CUresult r = enter_function(FAKE_cuOccupancyMaxActiveBlocksPerMultiprocessor, function);
    if (r == CUDA_SUCCESS && (threads <= 0 || threads > THREADS)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        const size_t by_shared = shared ? 233472 / shared : 32;
        *blocks = 2048 / threads < 32 ? 2048 / threads : 32;
        if ((size_t)*blocks > by_shared) *blocks = (int)by_shared;
    }
    return fake_leave(r);
}

FAKE_API(cuLaunchKernel, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
         void **parameters, void **extra)
{
    CUresult r = enter_function(FAKE_cuLaunchKernel, function);
    if (r == CUDA_SUCCESS && !fake_stream_valid(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (!grid_x || grid_x > 2147483647 || grid_y != 1 || grid_z != 1 ||
                              !block_x || block_x > THREADS || block_y != 1 || block_z != 1 ||
                              extra || !parameters || shared > (unsigned)function->shared_limit))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        fake_launch l = {.range = function->range,
                         .workers = (int64_t)grid_x * block_x,
                         .is_health = function->is_health};
        memcpy(&l.items, parameters[1], sizeof l.items);
        memcpy(&l.scratch, parameters[2], sizeof l.scratch);
        memcpy(&l.scratch_bytes, parameters[3], sizeof l.scratch_bytes);
        r = fake_enqueue_launch(stream, &l, parameters[0], function->args_bytes);
    }
    return fake_leave(r);
}
