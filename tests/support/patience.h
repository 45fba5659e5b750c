/* How many times as long as promised a program may take here: sanitizers and unoptimised builds are
 * slow, and nobody is promised anything of them. */
#ifndef MOTET_TEST_PATIENCE_H
#define MOTET_TEST_PATIENCE_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define TEST_SLOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define TEST_SLOW 1
#endif
#ifdef TEST_SLOW
static const double patience = 50;
#else
static const double patience = 1;
#endif

#endif
