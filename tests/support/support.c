#include "support/support.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void test_status(const motet_context *context, motet_status got, motet_status expected,
                 const char *call, const char *file, int line)
{
    if (got == expected) return;
    motet_error error;
    memset(&error, 0, sizeof error);
    if (context) motet_context_error(context, &error);
    print_error("%s\n  answered %s, expected %s\n  last error: %s (%s:%d)\n", call,
                motet_status_name(got), motet_status_name(expected), error.message,
                error.file ? error.file : "", error.line);
    _fail(file, line);
}

void assert_message(const motet_context *context, ...)
{
    motet_error error;
    motet_context_error(context, &error);
    va_list words;
    va_start(words, context);
    for (const char *word; (word = va_arg(words, const char *));)
        if (!strstr(error.message, word)) {
            print_error("message \"%s\" does not contain \"%s\"\n", error.message, word);
            _fail(error.file ? error.file : "", error.line);
        }
    va_end(words);
}

motet_context *test_context(void)
{
    motet_context *context = NULL;
    assert_int_equal(motet_context_create(NULL, &context), MOTET_OK);
    return context;
}

typedef struct failing {
    motet_context *context;        /* the key; set once the context exists */
    atomic_int_fast64_t countdown; /* 0: never */
    int forever;
    atomic_int failed;
} failing;

static failing failings[64];

static void *failing_allocate(size_t bytes, void *user)
{
    failing *f = user;
    const int64_t before = atomic_load(&f->countdown);
    if (before > 0) {
        const int64_t now = atomic_fetch_sub(&f->countdown, 1);
        if (now == 1 || (now < 1 && f->forever)) {
            atomic_store(&f->failed, 1);
            if (f->forever)
                atomic_store(&f->countdown, 1);
            else
                atomic_store(&f->countdown, 0);
            return NULL;
        }
    }
    return malloc(bytes);
}

static void failing_release(void *block, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    free(block);
}

motet_context *test_context_failing(int64_t nth, int forever)
{
    failing *f = NULL;
    for (size_t i = 0; i < sizeof failings / sizeof *failings; i++) {
        motet_context *context = failings[i].context;
        if (!context) {
            f = &failings[i];
            break;
        }
    }
    if (!f) f = &failings[0];
    memset(f, 0, sizeof *f);
    motet_context_options options;
    motet_context_options_init(&options);
    options.allocator = (motet_allocator){failing_allocate, failing_release, f};
    motet_context *context = NULL;
    if (motet_context_create(&options, &context) != MOTET_OK) return NULL;
    for (size_t i = 0; i < sizeof failings / sizeof *failings; i++)
        if (failings[i].context == context) failings[i].context = NULL; /* freed since */
    f->context = context;
    test_context_fail_at(context, nth, forever);
    return context;
}

static failing *failing_of(const motet_context *context)
{
    failing *found = NULL;
    for (size_t i = 0; i < sizeof failings / sizeof *failings; i++)
        if (failings[i].context == context) found = &failings[i];
    assert_non_null(found);
    return found;
}

int test_context_failed(const motet_context *context)
{
    return atomic_load(&failing_of(context)->failed);
}

void test_context_fail_at(motet_context *context, int64_t nth, int forever)
{
    failing *f = failing_of(context);
    f->forever = forever;
    atomic_store(&f->failed, 0);
    atomic_store(&f->countdown, nth);
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double test_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(test_random(state) >> 11) * 0x1p-53);
}

static char folder[256];

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    if (directory) {
        for (struct dirent *entry; (entry = readdir(directory));) {
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            char below[1024];
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
            struct stat status;
            if (!lstat(below, &status) && S_ISDIR(status.st_mode))
                remove_tree(below);
            else
                unlink(below);
        }
        closedir(directory);
    }
    rmdir(path);
}

static void remove_folder(void) { remove_tree(folder); }

const char *test_folder(void)
{
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/tests/scratch-XXXXXX", MOTET_BINARY);
        if (!mkdtemp(folder)) {
            perror(folder);
            exit(1);
        }
        atexit(remove_folder);
    }
    return folder;
}

const char *test_path(const char *name)
{
    char *path = NULL; /* kept until the program ends */
    static char *kept[4096];
    static size_t count;
    if (asprintf(&path, "%s/%s", test_folder(), name) < 0) exit(1);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(kept[i], path)) {
            free(path);
            return kept[i];
        }
    if (count < sizeof kept / sizeof *kept) kept[count++] = path;
    return path;
}

static const char *data_folder(void)
{
    const char *folder_named = getenv("MOTET_TEST_DATA");
    return folder_named ? folder_named : MOTET_TEST_DATA;
}

const char *test_data(const char *relative)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", data_folder(), relative);
    return access(path, R_OK) ? NULL : path;
}

void test_need_data(const char *relative)
{
    if (test_data(relative)) return;
    printf("skipped: %s/%s is absent (MOTET_TEST_DATA names the folder)\n", data_folder(),
           relative);
    exit(77);
}
