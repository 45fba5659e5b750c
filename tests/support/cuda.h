/* The CUDA driver that has no GPU (fake_cuda/): what tests say to it, and what must hold after
 * each. A program includes this once: with it, it has an image of kernels, whether nvcc made one or
 * not. */
#ifndef MOTET_TEST_CUDA_H
#define MOTET_TEST_CUDA_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "dev/cuda/image.h"
#include "rt/devices.h"
#include "support/fake_cuda/fake_cuda.h"
#include "support/support.h"

/* Begins as what nvcc makes does; the fake driver reads no more of it. */
const unsigned char cuda_image[16] = {0x50, 0xed, 0x55, 0xba};
const size_t cuda_image_bytes = sizeof cuda_image;

static const fake_cuda_control *fake; /* after cuda_begin */

/* First in main: exits with 77 where LD_LIBRARY_PATH leads to another driver, or to none. */
static inline void *cuda_begin(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) fake = dlsym(library, "fake_cuda");
    if (fake) return library;
    puts("skipped: libcuda.so.1 is not the one of the tests (LD_LIBRARY_PATH)");
    exit(77);
}

static inline fake_cuda_counts cuda_counts(void)
{
    fake_cuda_counts counts;
    fake->count(&counts);
    return counts;
}

static inline void cuda_assert_no_finding(void)
{
    const int findings = cuda_counts().findings;
    if (findings) fail_msg("%d findings, the first: %s", findings, fake->finding(0));
}

/* Nothing of the driver is held any more, and the thread's stack of contexts is empty. */
static inline void cuda_assert_clean(void)
{
    const fake_cuda_counts n = cuda_counts();
    cuda_assert_no_finding();
    assert_int_equal(n.allocations, 0);
    assert_int_equal(n.host_allocations, 0);
    assert_int_equal(n.streams, 0);
    assert_int_equal(n.events, 0);
    assert_int_equal(n.modules, 0);
    assert_int_equal(n.retained, 0);
    assert_int_equal(fake->depth(), 0);
}

/* Gives the context other devices. */
static inline motet_status cuda_use(motet_context *c, const char *names)
{
    rt_devices_close(c);
    const motet_status st = rt_devices_open(c, names);
    if (st != MOTET_OK) assert_ok(c, rt_devices_open(c, "cpu"));
    return st;
}

static inline motet_context *cuda_context(const char *names)
{
    motet_context *c = test_context();
    assert_ok(c, cuda_use(c, names));
    return c;
}

#endif
