/* The CUDA driver that has no GPU (fake_cuda/): what tests say to it, and what must hold after
 * each. */
#ifndef MOTET_TEST_CUDA_H
#define MOTET_TEST_CUDA_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/fake_cuda/fake_cuda.h"
#include "support/support.h"

static const fake_cuda_control *fake; /* after cuda_begin */
static void *cuda_library;

/* First in main: exits with 77 where LD_LIBRARY_PATH leads to another driver, or to none. */
static inline void cuda_begin(void)
{
    cuda_library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (cuda_library) fake = dlsym(cuda_library, "fake_cuda");
    if (fake) return;
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

#endif
