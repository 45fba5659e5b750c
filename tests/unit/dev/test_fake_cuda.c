/* The driver without a GPU behaves as CUDA does where that matters to who uses it, and tells what a
 * real one would punish otherwise. Seen from outside, as a program sees libcuda. */
#include <string.h>
#include <unistd.h>

#include "kern/health.k.h"
#include "support/cuda.h"

typedef unsigned long long address;
enum { NOT_READY = 600, N = 1000 };

static struct {
    int (*init)(unsigned), (*retain)(void **, int), (*release)(int), (*push)(void *),
        (*pop)(void **), (*alloc)(address *, size_t), (*free)(address),
        (*host_alloc)(void **, size_t, unsigned), (*host_free)(void *),
        (*stream_create)(void **, unsigned), (*stream_destroy)(void *), (*stream_query)(void *),
        (*wait)(void *, void *, unsigned), (*event_create)(void **, unsigned),
        (*event_destroy)(void *), (*event_query)(void *), (*record)(void *, void *),
        (*copy)(address, address, size_t, void *), (*fill)(address, unsigned char, size_t, void *),
        (*copy_now)(void *, address, size_t), (*load)(void **, const void *), (*unload)(void *),
        (*function)(void **, void *, const char *),
        (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **),
        (*info)(size_t *, size_t *);
} cu;

static void resolve(void *library)
{
    static const struct {
        void *to;
        const char *name;
    } all[] = {{&cu.init, "cuInit"},
               {&cu.retain, "cuDevicePrimaryCtxRetain"},
               {&cu.release, "cuDevicePrimaryCtxRelease_v2"},
               {&cu.push, "cuCtxPushCurrent_v2"},
               {&cu.pop, "cuCtxPopCurrent_v2"},
               {&cu.alloc, "cuMemAlloc_v2"},
               {&cu.free, "cuMemFree_v2"},
               {&cu.host_alloc, "cuMemHostAlloc"},
               {&cu.host_free, "cuMemFreeHost"},
               {&cu.stream_create, "cuStreamCreate"},
               {&cu.stream_destroy, "cuStreamDestroy_v2"},
               {&cu.stream_query, "cuStreamQuery"},
               {&cu.wait, "cuStreamWaitEvent"},
               {&cu.event_create, "cuEventCreate"},
               {&cu.event_destroy, "cuEventDestroy_v2"},
               {&cu.event_query, "cuEventQuery"},
               {&cu.record, "cuEventRecord"},
               {&cu.copy, "cuMemcpyAsync"},
               {&cu.fill, "cuMemsetD8Async"},
               {&cu.copy_now, "cuMemcpyDtoH_v2"},
               {&cu.load, "cuModuleLoadData"},
               {&cu.unload, "cuModuleUnload"},
               {&cu.function, "cuModuleGetFunction"},
               {&cu.launch, "cuLaunchKernel"},
               {&cu.info, "cuMemGetInfo_v2"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *at = dlsym(library, all[i].name);
        memcpy(all[i].to, &at, sizeof at);
    }
}

#define OK(call)         assert_int_equal((call), 0)
#define ANSWERS(n, call) assert_int_equal((call), (n))
#define CU(pointer)      ((address)(uintptr_t)(pointer))

typedef struct world {
    void *context, *stream[2], *event, *host;
    address data;
} world;

static void begin(world *w)
{
    fake->reset(2, 1 << 20, 7);
    OK(cu.init(0));
    OK(cu.retain(&w->context, 0));
    OK(cu.push(w->context));
    for (int i = 0; i < 2; i++) OK(cu.stream_create(&w->stream[i], 1));
    OK(cu.event_create(&w->event, 2));
    OK(cu.host_alloc(&w->host, N, 1));
    OK(cu.alloc(&w->data, N));
}

static void end(world *w)
{
    OK(cu.free(w->data));
    OK(cu.host_free(w->host));
    OK(cu.event_destroy(w->event));
    for (int i = 0; i < 2; i++) OK(cu.stream_destroy(w->stream[i]));
    void *popped;
    OK(cu.pop(&popped));
    assert_ptr_equal(popped, w->context);
    OK(cu.release(0));
}

static void wait_for(void *stream)
{
    int r;
    while ((r = cu.stream_query(stream)) == NOT_READY) usleep(50);
    OK(r);
}

static void a_wait_names_the_record_before_it(void **state)
{
    (void)state;
    world w;
    begin(&w);
    unsigned char got[N];
    OK(cu.event_query(w.event)); /* never recorded */
    fake->hold(1);
    OK(cu.wait(w.stream[1], w.event, 0)); /* of nothing: does not wait */
    OK(cu.fill(w.data, 1, N, w.stream[0]));
    OK(cu.record(w.event, w.stream[0]));
    ANSWERS(NOT_READY, cu.event_query(w.event));
    ANSWERS(NOT_READY, cu.stream_query(w.stream[0]));
    OK(cu.wait(w.stream[1], w.event, 0));
    OK(cu.fill(w.data, 2, N, w.stream[1]));
    fake->hold(0);
    wait_for(w.stream[1]);
    wait_for(w.stream[0]);
    OK(cu.event_query(w.event));
    OK(cu.copy_now(got, w.data, N));
    for (int i = 0; i < N; i++) assert_int_equal(got[i], 2);
    end(&w);
    cuda_assert_clean();
}

static void a_copy_reads_when_it_is_executed(void **state)
{
    (void)state;
    world w;
    begin(&w);
    unsigned char got[N];
    memset(w.host, 1, N);
    fake->hold(1);
    OK(cu.copy(w.data, CU(w.host), N, w.stream[0]));
    memset(w.host, 2, N);
    fake->hold(0);
    wait_for(w.stream[0]);
    OK(cu.copy_now(got, w.data, N));
    for (int i = 0; i < N; i++) assert_int_equal(got[i], 2);
    end(&w);
    cuda_assert_clean();
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    world w;
    fake->reset(2, 1 << 20, 7);
    void *other;
    address data;
    ANSWERS(3, cu.retain(&other, 0));
    begin(&w);
    ANSWERS(101, cu.retain(&other, 2));
    ANSWERS(400, cu.stream_query(&w));
    ANSWERS(400, cu.event_query(w.stream[0]));
    ANSWERS(1, cu.free(w.data + 1));
    ANSWERS(1, cu.copy(w.data + 1, CU(w.host), N, w.stream[0])); /* beyond its end */
    ANSWERS(2, cu.alloc(&data, 1 << 20));
    ANSWERS(1, cu.alloc(&data, 0));
    OK(cu.retain(&other, 1));
    OK(cu.push(other));
    ANSWERS(400, cu.stream_query(w.stream[0])); /* of another context */
    OK(cu.pop(NULL));
    OK(cu.release(1));
    ANSWERS(201, cu.push(other));
    end(&w);
    ANSWERS(201, cu.stream_create(&other, 1)); /* no context */
    ANSWERS(201, cu.pop(NULL));
    cuda_assert_clean();
    fake->reset(0, 1 << 20, 7);
    ANSWERS(100, cu.init(0));
}

static void mistakes_are_found(void **state)
{
    (void)state;
    world w;
    begin(&w);
    char pageable[N] = "";
    OK(cu.copy(w.data, CU(pageable), N, w.stream[0]));
    wait_for(w.stream[0]);
    assert_int_equal(cuda_counts().findings, 1);
    assert_non_null(strstr(fake->finding(0), "page-locked"));
    ((char *)w.host)[N] = 0;
    end(&w);
    assert_int_equal(cuda_counts().findings, 2);
    assert_non_null(strstr(fake->finding(1), "outside"));
}

/* The health kernel on the fake GPU, read back. */
static uint64_t health(world *w, int expected)
{
    void *module, *function;
    address words;
    uint64_t got[K_HEALTH_ITEMS] = {0};
    OK(cu.load(&module, cuda_image));
    OK(cu.function(&function, module, "k_health_entry"));
    OK(cu.alloc(&words, sizeof got));
    k_health_args args = {(uint64_t *)(uintptr_t)words};
    int64_t items = K_HEALTH_ITEMS, scratch_bytes = 0;
    char *scratch = NULL;
    void *parameters[] = {&args, &items, &scratch, &scratch_bytes};
    OK(cu.launch(function, 2, 1, 1, 64, 1, 1, 0, w->stream[0], parameters, NULL));
    int r;
    while ((r = cu.stream_query(w->stream[0])) == NOT_READY) usleep(50);
    ANSWERS(expected, r);
    if (expected) return 0;
    OK(cu.copy_now(got, words, sizeof got));
    OK(cu.free(words));
    OK(cu.unload(module));
    return k_health_digest(got);
}

static void kernels_are_those_of_the_cpu(void **state)
{
    (void)state;
    world w;
    begin(&w);
    void *module, *function;
    ANSWERS(200, cu.load(&module, "no image"));
    OK(cu.load(&module, cuda_image));
    ANSWERS(500, cu.function(&function, module, "k_health_blocks"));
    ANSWERS(500, cu.function(&function, module, "nothing_entry"));
    OK(cu.unload(module));
    assert_int_equal(health(&w, 0), K_HEALTH_EXPECTED);
    fake->wrong_health(0, 1);
    assert_int_not_equal(health(&w, 0), K_HEALTH_EXPECTED);
    assert_int_equal(health(&w, 0), K_HEALTH_EXPECTED);
    end(&w);
    cuda_assert_clean();
}

static void a_trap_ends_every_call_of_the_process(void **state)
{
    (void)state;
    world w;
    begin(&w);
    fake->trap(1, 719);
    health(&w, 719);
    void *other;
    size_t available, total;
    ANSWERS(719, cu.retain(&other, 1));
    ANSWERS(719, cu.info(&available, &total));
    ANSWERS(719, cu.free(w.data));
    OK(cu.pop(NULL));
    assert_true(cuda_counts().allocations > 0);
    fake->reset(2, 1 << 20, 7);
    cuda_assert_clean();
}

static void a_hang_is_not_waited_for(void **state)
{
    (void)state;
    world w;
    begin(&w);
    fake->hang(1);
    void *module, *function;
    OK(cu.load(&module, cuda_image));
    OK(cu.function(&function, module, "k_health_entry"));
    k_health_args args = {NULL};
    int64_t items = 1, scratch_bytes = 0;
    char *scratch = NULL;
    void *parameters[] = {&args, &items, &scratch, &scratch_bytes};
    OK(cu.launch(function, 1, 1, 1, 64, 1, 1, 0, w.stream[0], parameters, NULL));
    OK(cu.record(w.event, w.stream[0]));
    OK(cu.fill(w.data, 3, N, w.stream[1])); /* others go on */
    wait_for(w.stream[1]);
    while (!cuda_counts().launches) usleep(50);
    usleep(1000);
    ANSWERS(NOT_READY, cu.stream_query(w.stream[0]));
    ANSWERS(NOT_READY, cu.event_query(w.event));
    cuda_assert_no_finding();
    OK(cu.free(w.data));
    assert_int_equal(cuda_counts().findings, 1);
    assert_non_null(strstr(fake->finding(0), "for ever"));
    assert_true(cuda_counts().allocations > 0);
    fake->reset(2, 1 << 20, 7);
    cuda_assert_clean();
}

static void calls_fail_as_told(void **state)
{
    (void)state;
    world w;
    begin(&w);
    address data;
    assert_true(fake->refuse("cuMemAlloc_v2", 2, 2, 1));
    assert_false(fake->refuse("cuNothing", 1, 2, 0));
    for (int i = 0; i < 5; i++) {
        const int r = cu.alloc(&data, 10);
        assert_int_equal(r, i == 1 || i == 2 ? 2 : 0);
        if (!r) OK(cu.free(data));
    }
    fake->taken(0, (1 << 20) - N);
    ANSWERS(2, cu.alloc(&data, 1));
    end(&w);
    cuda_assert_clean();
}

int main(void)
{
    resolve(cuda_begin());
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_names_the_record_before_it),
                                       cmocka_unit_test(a_copy_reads_when_it_is_executed),
                                       cmocka_unit_test(wrong_calls_are_refused),
                                       cmocka_unit_test(mistakes_are_found),
                                       cmocka_unit_test(kernels_are_those_of_the_cpu),
                                       cmocka_unit_test(a_trap_ends_every_call_of_the_process),
                                       cmocka_unit_test(a_hang_is_not_waited_for),
                                       cmocka_unit_test(calls_fail_as_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
