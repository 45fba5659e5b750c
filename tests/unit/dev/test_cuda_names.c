/* Which GPUs a list of devices means, and what becomes of those that do not open. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dev/cuda/cuda.h"
#include "rt/device_names.h"
#include "rt/plan.h"
#include "support/cuda.h"
#include "support/sim.h"

enum { GPUS = 3, MEMORY = 64 << 20 };

static char warnings[2000];

static void hear(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component;
    (void)user;
    const size_t n = strlen(warnings);
    if (level == MOTET_LOG_WARNING) snprintf(warnings + n, sizeof warnings - n, "%s\n", text);
}

static motet_context *with_devices(const char *names)
{
    motet_context_options o;
    motet_context_options_init(&o);
    motet_context *c = NULL;
    o.devices = names;
    o.log = hear;
    *warnings = 0;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    return c;
}

/* Names of the context's devices, fallbacks behind a '/'. */
static void assert_devices(const char *names, const char *expected)
{
    char got[256] = "";
    motet_context *c = with_devices(names);
    for (int i = 0, fallbacks = 0; i < c->devices->count; i++) {
        const rt_device *one = &c->devices->set[i];
        const size_t n = strlen(got);
        snprintf(got + n, sizeof got - n, "%s%s",
                 !i                          ? ""
                 : one->fallback > fallbacks ? "/"
                                             : ",",
                 one->info.name);
        fallbacks = one->fallback;
    }
    assert_string_equal(got, expected);
    motet_context_free(c);
    cuda_assert_clean();
}

static void assert_refused(const char *names, const char *message)
{
    motet_context *c = test_context();
    rt_named named[RT_DEVICES];
    int count;
    assert_status(c, rt_device_names(c, names, named, &count), MOTET_BAD_ARGUMENT);
    assert_message(c, message, NULL);
    motet_context_free(c);
}

static void lists_mean_gpus(void **state)
{
    (void)state;
    fake->reset(GPUS, MEMORY, 1);
    assert_devices("cuda", "cuda:0,cuda:1,cuda:2");
    assert_devices("auto", "cuda:0,cuda:1,cuda:2/cpu");
    assert_devices("auto,-cuda:0,-cuda:7", "cuda:1,cuda:2/cpu");
    assert_devices("auto,-cuda", "cpu");
    assert_devices("cuda:2,cpu", "cuda:2,cpu");
    assert_devices("cuda,-cuda:1/cpu", "cuda:0,cuda:2/cpu");
    assert_refused("cuda:3", "devices names cuda:3, but there are 3 GPUs to use: cuda:0 to cuda:2");
    assert_refused("cuda:1234", "there are 3 GPUs to use");
    assert_refused("cuda,cuda:1", "devices names cuda:1 twice");
    assert_refused("cuda,-cuda", "leaves no device");
    fake->reset(1, MEMORY, 1);
    assert_devices("auto", "cuda:0/cpu");
    assert_refused("cuda:1", "there is 1 GPU to use: cuda:0");
    fake->reset(0, MEMORY, 1);
    assert_devices("auto", "cpu");
    assert_refused("cuda", "there is no GPU to use: the NVIDIA driver reports no GPU");
}

/* By any beginning that only one of them has, as nvidia-smi writes it or in capitals. */
static void uuids_mean_gpus(void **state)
{
    (void)state;
    fake->reset(GPUS, MEMORY, 1);
    motet_context *c = with_devices("cuda");
    char uuid[GPUS][48], name[64];
    for (int i = 0; i < GPUS; i++) {
        motet_device_info info;
        assert_ok(c, motet_context_device(c, i, &info));
        memcpy(uuid[i], info.uuid, sizeof info.uuid);
        assert_int_equal(strlen(uuid[i]), 40);
        assert_memory_equal(uuid[i], "GPU-", 4);
    }
    motet_context_free(c);
    size_t common = 4; /* characters that all begin with */
    while (uuid[0][common] == uuid[1][common] && uuid[0][common] == uuid[2][common]) common++;
    for (int i = 0; i < GPUS; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "cuda:%d", i);
        assert_devices(uuid[i], expected);
        snprintf(name, sizeof name, "%.*s", (int)common + 4, uuid[i]);
        assert_devices(name, expected);
        for (char *k = name + 4; *k; k++) *k = (char)toupper((unsigned char)*k);
        assert_devices(name, expected);
        memcpy(name, "MIG-", 4);
        assert_devices(name, expected);
        snprintf(name, sizeof name, "cuda,-%s,-GPU-00", uuid[i]);
        assert_devices(name, i == 0 ? "cuda:1,cuda:2" : i == 1 ? "cuda:0,cuda:2" : "cuda:0,cuda:1");
    }
    if (common > 4) {
        snprintf(name, sizeof name, "%.*s", (int)common, uuid[0]);
        assert_refused(name, "which several of the 3 GPUs are: give more of the UUID");
    }
    assert_refused("GPU-0f", "devices names GPU-0f, but there are 3 GPUs to use");
    snprintf(name, sizeof name, "cuda:1,%s", uuid[1]);
    assert_refused(name, "devices names cuda:1 twice");
}

/* A driver is not even started by who wants none. */
static void the_cpu_asks_for_no_driver(void **state)
{
    (void)state;
    static const char *const names[] = {NULL, "cpu", "sim:0/cpu"};
    fake->reset(GPUS, MEMORY, 1);
    for (int i = 0; i < 3; i++) motet_context_free(with_devices(names[i]));
    assert_int_equal(fake->calls("cuInit"), 0);
    motet_context_free(with_devices("auto"));
    assert_true(fake->calls("cuInit") > 0);
}

/* Of those that nobody named, a GPU that does not open is left out, which is told; one that was
 * named fails. */
static void auto_leaves_out_what_does_not_open(void **state)
{
    (void)state;
    fake->reset(2, MEMORY, 1);
    fake->refuse("cuModuleLoadData", 1, 300, 0);
    assert_devices("auto", "cuda:1/cpu");
    assert_non_null(strstr(warnings, "auto leaves out cuda:0: cuda:0: cuModuleLoadData"));
    fake->reset(2, MEMORY, 1);
    fake->refuse("cuModuleLoadData", 1, 300, 9);
    assert_devices("auto", "cpu");

    fake->reset(2, MEMORY, 1);
    fake->refuse("cuModuleLoadData", 1, 300, 0);
    motet_context_options o;
    motet_context_options_init(&o);
    motet_context *c = NULL;
    o.devices = "cuda:0/cpu";
    assert_int_equal(motet_context_create(&o, &c), MOTET_DEVICE_ERROR);
    assert_null(c);
    cuda_assert_clean();
}

/* P2: what opening a GPU took is held there in every plan, and part of the free bytes it may use.
 */
static void plans_count_what_opening_took(void **state)
{
    (void)state;
    fake->reset(1, MEMORY, 1);
    motet_context *c = with_devices("cuda:0");
    motet_device_info info;
    rt_plan_device device[RT_DEVICES];
    assert_ok(c, motet_context_device(c, 0, &info));
    assert_true(info.memory_context > 0);
    assert_int_equal(rt_plan_devices(c, device), 1);
    assert_int_equal(device[0].reserved, info.memory_context);
    assert_int_equal(device[0].free, info.memory_free + info.memory_context);
    motet_context_free(c);
}

int main(void)
{
    cuda_begin();
    fake->reset(1, MEMORY, 1);
    motet_context *c = test_context();
    const char *absence = cuda_absence(c);
    if (absence) {
        printf("skipped: %s\n", absence);
        motet_context_free(c);
        return 77;
    }
    motet_context_free(c);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_mean_gpus),
        cmocka_unit_test(uuids_mean_gpus),
        cmocka_unit_test(the_cpu_asks_for_no_driver),
        cmocka_unit_test(auto_leaves_out_what_does_not_open),
        cmocka_unit_test(plans_count_what_opening_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
