/* Replays a corpus as a plain test: replay FOLDER. Each file goes to the fuzz target as it is, then
 * cut short and with bytes changed in ways that a fixed seed decides, so that a run can be
 * repeated. A crash, a sanitizer's report or a hang is the failure. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { LARGEST = 1 << 16, MUTANTS = 40, MUTANTS_LONG = 2000 };

/* An exact-size copy, so that a read past the end is seen. */
static void give(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    if (!copy) exit(1);
    if (bytes) memcpy(copy, data, bytes);
    LLVMFuzzerTestOneInput(copy, bytes);
    free(copy);
}

static void give_mutants(const uint8_t *data, size_t bytes, int mutants)
{
    static const uint8_t edges[] = {0x00, 0xff, 0x7f, 0x80, '0', '9', '-', '\n', ' '};
    static uint8_t changed[LARGEST];
    uint64_t random = 1;
    for (int i = 0; i < mutants && bytes; i++) {
        memcpy(changed, data, bytes);
        const uint64_t changes = test_random(&random) % 4;
        for (uint64_t k = 0; k < changes; k++) {
            const uint64_t r = test_random(&random);
            changed[test_random(&random) % bytes] =
                r & 1 ? edges[(r >> 8) % sizeof edges] : (uint8_t)(r >> 16);
        }
        give(changed, changes ? bytes : (size_t)(test_random(&random) % bytes));
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *entry) { return entry->d_name[0] != '.'; }

int main(int argc, char **argv)
{
    struct dirent **files = NULL;
    const int count = argc == 2 ? scandir(argv[1], &files, no_dots, by_name) : -1;
    if (count < 1) {
        fprintf(stderr, "replay: %s holds no input\n", argc == 2 ? argv[1] : "no folder given:");
        return 1;
    }
    const int mutants = getenv("MOTET_TEST_LONG") ? MUTANTS_LONG : MUTANTS;
    static uint8_t data[LARGEST];
    give(data, 0);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], files[i]->d_name);
        free(files[i]);
        FILE *file = fopen(path, "rb");
        if (!file) {
            perror(path);
            return 1;
        }
        const size_t bytes = fread(data, 1, sizeof data, file);
        fclose(file);
        give(data, bytes);
        give_mutants(data, bytes, mutants);
    }
    free(files);
    printf("%d inputs and %d mutants of each\n", count, mutants);
    return 0;
}
