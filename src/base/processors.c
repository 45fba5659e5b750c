/* How many processors this process may use: the affinity mask, bounded by the cgroup's quota (a
 * container with 2 CPUs on a 64-core host should start 2 workers, not 64). */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/threads.h"

static int affinity(void)
{
    for (int bits = 1024; bits <= 1 << 20; bits *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)bits);
        if (!set) break;
        const size_t bytes = CPU_ALLOC_SIZE((size_t)bits);
        const int got = sched_getaffinity(0, bytes, set) == 0;
        const int count = got ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (got && count > 0) return count;
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > 4096 ? 4096 : (int)online;
}

static int read_line(const char *path, char *line, int bytes)
{
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    const int got = fgets(line, bytes, file) != NULL;
    fclose(file);
    return got;
}

/* Processors of one control group rounded up; 0 when it has no quota. */
static int group_quota(const char *folder)
{
    char path[1200], line[128];
    uint64_t microseconds = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_line(path, line, sizeof line)) { /* version 2: "200000 100000" or "max 100000" */
        const char *end = number_natural(line, &microseconds);
        if (!end || *end != ' ' || !number_natural(end + 1, &period)) return 0;
    } else { /* version 1: one number a file, -1 for none */
        snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
        if (!read_line(path, line, sizeof line) || !number_natural(line, &microseconds)) return 0;
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        if (!read_line(path, line, sizeof line) || !number_natural(line, &period)) return 0;
    }
    if (!microseconds || !period) return 0;
    const uint64_t processors = (microseconds - 1) / period + 1;
    return processors > 4096 ? 4096 : (int)processors;
}

/* The tightest quota on the way from this process's group up to the root; 0: none. */
static int quota(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return 0;
    int least = 0;
    char line[1024];
    while (fgets(line, sizeof line, file)) { /* "0::/path" or "4:cpu,cpuacct:/path" */
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        controllers++;
        *group++ = 0;
        group[strcspn(group, "\n")] = 0;
        const int second = !*controllers;
        if (!second && strncmp(controllers, "cpu", 3) != 0) continue;
        const char *root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
        for (;;) {
            char folder[1100];
            snprintf(folder, sizeof folder, "%s%s", root, group);
            const int here = group_quota(folder);
            if (here && (!least || here < least)) least = here;
            char *slash = strrchr(group, '/');
            if (!slash || !*group) break;
            *slash = 0;
        }
    }
    fclose(file);
    return least;
}

int thread_processors(void)
{
    const int allowed = affinity(), bound = quota();
    return bound && bound < allowed ? bound : allowed;
}
