/* A libcuda.so.1 that hands everything to the real one, and breaks what it is told to break: for
 * programs that find it by LD_LIBRARY_PATH. MOTET_FAULT says what, counted from 1 over launches
 * that have items and are not the health kernel's:
 *
 *     trap:K     launch K is a kernel that traps
 *     hang:K     launch K is a kernel that goes on for 100 seconds
 *     spoil:K    after launch K, what is copied to the host next has a wrong element
 *     health:K   after launch K, all health kernels give wrong bits; 0: from the beginning
 *
 * MOTET_FAULT_ONCE is a file that is made when it happens; where it is there already, nothing does.
 * MOTET_DRIVER is the path of the real one, where it is not at a usual place; the one of the tests,
 * which runs no kernels of ours, is asked to trap and hang by itself. Functions are passed on by a
 * jump, whatever their arguments. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev/cuda/driver.h"
#include "support/fake_cuda/fake_cuda.h"

static struct {
#define POINTER(name, arguments) CUresult(*name) arguments;
    CUDA_FUNCTIONS(POINTER)
#undef POINTER
} real;

#define SLOT(name, arguments)                                                                      \
    extern void *name##_to;                                                                        \
    void *name##_to;                                                                               \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp *" #name       \
            "_to(%rip)\n.size " #name ", . - " #name "\n");
CUDA_FUNCTIONS(SLOT)
#undef SLOT

static enum { NOTHING, TRAP, HANG, SPOIL, HEALTH } fault;
static long at;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long launches;
static int spoiled;

/* Text for the driver to translate. */
static const char kernels[] = ".version 7.0\n"
                              ".target sm_75\n"
                              ".address_size 64\n"
                              ".visible .entry fault_trap() { trap; }\n"
                              ".visible .entry fault_hang()\n"
                              "{\n"
                              "    .reg .u64 %begin, %now;\n"
                              "    .reg .pred %more;\n"
                              "    mov.u64 %begin, %globaltimer;\n"
                              "again:\n"
                              "    mov.u64 %now, %globaltimer;\n"
                              "    sub.u64 %now, %now, %begin;\n"
                              "    setp.lt.u64 %more, %now, 100000000000;\n"
                              "    @%more bra again;\n"
                              "    ret;\n"
                              "}\n";

static void give_up(const char *what)
{
    fprintf(stderr, "faulty driver: %s\n", what);
    _exit(99);
}

static const fake_cuda_control *fake; /* NULL: a real driver */

static int may_happen(void)
{
    const char *path = getenv("MOTET_FAULT_ONCE");
    const int file = path ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (file >= 0) close(file);
    return !path || file >= 0;
}

/* Runs one of them, in the current context. */
static void run_it(const char *name, CUstream stream)
{
    CUmodule module;
    CUfunction function;
    if (!may_happen()) return;
    if (fake && fault == TRAP) fake->trap(1, CUDA_ERROR_LAUNCH_FAILED);
    if (fake && fault == HANG) fake->hang(1);
    if (fake) return;
    if (real.cuModuleLoadData(&module, kernels) != CUDA_SUCCESS ||
        real.cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS ||
        real.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) != CUDA_SUCCESS)
        give_up("its kernels do not run");
}

/* What is at `where` becomes something that no computation gives: a float of more than 1e38, or a
 * NaN. */
static void spoil(CUdeviceptr where, CUstream stream)
{
    if (may_happen()) real.cuMemsetD8Async(where + 3, 0x7f, 1, stream);
}

/* Which functions are the health kernel's. */
enum { DEVICES = 16 };
static CUfunction health[DEVICES];
static int healths;

static CUresult faulty_get_function(CUfunction *function, CUmodule module, const char *name)
{
    const CUresult result = real.cuModuleGetFunction(function, module, name);
    if (result != CUDA_SUCCESS || strncmp(name, "k_health_", 9) != 0) return result;
    pthread_mutex_lock(&lock);
    if (healths < DEVICES) health[healths++] = *function;
    pthread_mutex_unlock(&lock);
    return result;
}

static int is_health(CUfunction function)
{
    for (int i = 0; i < healths; i++)
        if (health[i] == function) return 1;
    return 0;
}

static CUresult faulty_launch(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                              unsigned bx, unsigned by, unsigned bz, unsigned shared,
                              CUstream stream, void **arguments, void **extra)
{
    const int has_items = *(const int64_t *)arguments[1] > 0;
    pthread_mutex_lock(&lock);
    const int checks = is_health(function);
    const long number = has_items && !checks ? ++launches : 0, so_far = launches;
    pthread_mutex_unlock(&lock);
    if (fault == TRAP && number == at) run_it("fault_trap", stream);
    if (fault == HANG && number == at) run_it("fault_hang", stream);
    const CUresult result =
        real.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra);
    if (fault == HEALTH && checks && has_items && so_far >= at && result == CUDA_SUCCESS)
        spoil(*(const CUdeviceptr *)arguments[0], stream);
    return result;
}

/* Memory of devices. */
enum { RANGES = 4096 };
static struct {
    CUdeviceptr data;
    size_t bytes;
} range[RANGES];

static CUresult faulty_alloc(CUdeviceptr *data, size_t bytes)
{
    const CUresult result = real.cuMemAlloc_v2(data, bytes);
    int i = 0;
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&lock);
    while (i < RANGES && range[i].bytes) i++;
    if (i == RANGES) give_up("too many allocations");
    range[i].data = *data;
    range[i].bytes = bytes;
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult faulty_free(CUdeviceptr data)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < RANGES; i++)
        if (range[i].data == data) range[i].bytes = 0;
    pthread_mutex_unlock(&lock);
    return real.cuMemFree_v2(data);
}

static int on_device(CUdeviceptr data)
{
    for (int i = 0; i < RANGES; i++)
        if (data - range[i].data < range[i].bytes) return 1;
    return 0;
}

/* 1 for the one copy that is to have a wrong bit. */
static int is_the_one(CUdeviceptr to, CUdeviceptr from)
{
    if (fault != SPOIL || spoiled || launches < at || !on_device(from) || on_device(to)) return 0;
    spoiled = 1;
    return 1;
}

static CUresult faulty_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    pthread_mutex_lock(&lock);
    const int wrong = bytes >= sizeof(float) && is_the_one(to, from);
    pthread_mutex_unlock(&lock);
    if (wrong) spoil(from, stream);
    return real.cuMemcpyAsync(to, from, bytes, stream);
}

static CUresult faulty_copy_rows(const CUDA_MEMCPY2D *c, CUstream stream)
{
    pthread_mutex_lock(&lock);
    const int wrong = c->WidthInBytes >= sizeof(float) && is_the_one(c->dstDevice, c->srcDevice);
    pthread_mutex_unlock(&lock);
    if (wrong) spoil(c->srcDevice, stream);
    return real.cuMemcpy2DAsync_v2(c, stream);
}

static void *library_of_driver(void)
{
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                         "/usr/lib64/libcuda.so.1", "/usr/lib/libcuda.so.1",
                                         "/usr/local/nvidia/lib64/libcuda.so.1",
                                         "/usr/lib/wsl/lib/libcuda.so.1"};
    const char *given = getenv("MOTET_DRIVER");
    void *library = given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; !given && !library && i < sizeof places / sizeof *places; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {"", "trap", "hang", "spoil", "health"};
    char word[16] = "";
    const char *text = getenv("MOTET_FAULT");
    if (text && *text && sscanf(text, "%15[a-z]:%ld", word, &at) != 2) give_up("MOTET_FAULT");
    for (int i = TRAP; i <= HEALTH; i++)
        if (!strcmp(word, names[i])) fault = i;
    if (*word && fault == NOTHING) give_up("MOTET_FAULT");
    void *library = library_of_driver();
    if (!library) give_up("there is no driver to hand things to");
#define RESOLVE(name, arguments)                                                                   \
    do {                                                                                           \
        name##_to = dlsym(library, #name);                                                         \
        if (!name##_to) give_up("the driver has no " #name);                                       \
        memcpy(&real.name, &name##_to, sizeof name##_to);                                          \
    } while (0);
    CUDA_FUNCTIONS(RESOLVE)
#undef RESOLVE
    const __typeof__(real.cuModuleGetFunction) get_function = faulty_get_function;
    const __typeof__(real.cuLaunchKernel) launch = faulty_launch;
    const __typeof__(real.cuMemcpyAsync) copy = faulty_copy;
    const __typeof__(real.cuMemcpy2DAsync_v2) copy_rows = faulty_copy_rows;
    memcpy(&cuModuleGetFunction_to, &get_function, sizeof get_function);
    memcpy(&cuLaunchKernel_to, &launch, sizeof launch);
    memcpy(&cuMemcpyAsync_to, &copy, sizeof copy);
    memcpy(&cuMemcpy2DAsync_v2_to, &copy_rows, sizeof copy_rows);
    const __typeof__(real.cuMemAlloc_v2) alloc = faulty_alloc;
    const __typeof__(real.cuMemFree_v2) release = faulty_free;
    memcpy(&cuMemAlloc_v2_to, &alloc, sizeof alloc);
    memcpy(&cuMemFree_v2_to, &release, sizeof release);
    fake = dlsym(library, "fake_cuda");
}
