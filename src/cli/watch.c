#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "run.h"

/* Sanitizers make everything slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOWER = 10 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif
#else
enum { SLOWER = 1 };
#endif

static const double silence = 10, no_word = 120, times = 20;
static const double pause_seen = 3; /* this process was stopped itself, or the machine slept */

/* Processor ticks and bytes moved; 0 where the system does not tell. */
static uint64_t work_of(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long sum = 0, value;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (file) {
        const size_t n = fread(text, 1, sizeof text - 1, file);
        text[n] = 0;
        fclose(file);
        const char *at = strrchr(text, ')'); /* the name may hold anything */
        unsigned long long user, kernel;
        if (at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                         &kernel) == 2)
            sum += user + kernel;
    }
    snprintf(path, sizeof path, "/proc/%ld/io", (long)pid);
    file = fopen(path, "re");
    while (file && fgets(text, sizeof text, file))
        if (sscanf(text, "rchar: %llu", &value) == 1 || sscanf(text, "wchar: %llu", &value) == 1)
            sum += value;
    if (file) fclose(file);
    return sum;
}

void watch_begin(watch *w, pid_t pid)
{
    const double now = run_now();
    *w = (watch){.pid = pid, .beat = now, .active = now, .looked = now, .limit = silence};
    double given;
    const char *text = getenv("MOTET_SUPERVISE_SILENCE"); /* for tests: they have less time */
    if (text && number_real(text, &given) && given > 0) w->limit = given;
}

void watch_beat(watch *w)
{
    const double now = run_now();
    if (now - w->beat > w->longest) w->longest = now - w->beat;
    w->beat = w->active = now;
}

double watch_silent(watch *w)
{
    const double now = run_now();
    if (now - w->looked > pause_seen) w->beat = w->active = now;
    w->looked = now;
    const uint64_t work = work_of(w->pid);
    if (work != w->work) w->active = now;
    w->work = work;
    const double known = times * w->longest;
    const double word = SLOWER * (known > no_word ? known : no_word);
    if (now - w->active > SLOWER * w->limit) return now - w->active;
    return now - w->beat > word ? now - w->beat : 0;
}

uint64_t watch_memory_available(void)
{
    unsigned long long kilobytes = 0;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1) break;
    if (file) fclose(file);
    return kilobytes ? kilobytes << 10 : (uint64_t)1 << 30;
}
