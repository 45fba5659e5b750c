/* Would writing the output harm the input? */
#include <motet/store.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/file.h"

static int same_node(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* 1 if `path` or a folder above it is `node`; -1 without memory. The climb appends "/..", so that
 * symbolic links on the way are followed as the kernel follows them. */
static int lies_in(motet_context *c, const char *path, const struct stat *node)
{
    enum { DEEPEST = 256 };
    struct stat here, above;
    const size_t bytes = file_folder_bytes(path);
    char *climb = mem_alloc(c, bytes + 2 + 3 * DEEPEST + 1);
    if (!climb) return -1;
    memcpy(climb, path, bytes);
    strcpy(climb + bytes, bytes ? "." : "./");
    int found = 0;
    if (!stat(climb, &here))
        for (int depth = 0; depth < DEEPEST; depth++) {
            if ((found = same_node(&here, node))) break;
            strcat(climb, "/..");
            if (stat(climb, &above) || same_node(&above, &here)) break;
            here = above;
        }
    mem_free(c, climb);
    return found;
}

motet_status motet_store_check_distinct(motet_context *c, const char *input, const char *output)
{
    struct stat in, out;
    if (!input || !*input || !output || !*output)
        return fail(c, MOTET_BAD_ARGUMENT, "the path is empty");
    /* What does not exist is no other file, and what cannot be looked at fails when opened. */
    if (stat(input, &in)) return MOTET_OK;
    const int exists = !stat(output, &out);
    if (exists && same_node(&in, &out))
        return fail(c, MOTET_SAME_FILE, "%s and %s are the same %s", input, output,
                    S_ISDIR(in.st_mode) ? "folder" : "file");
    int inside = 0;
    if (S_ISDIR(in.st_mode)) /* a page written into the stack that is being read */
        inside = lies_in(c, output, &in);
    if (exists && S_ISDIR(out.st_mode) && !inside) /* the folder is replaced as a whole */
        inside = lies_in(c, input, &out);
    if (inside < 0) return fail(c, MOTET_NO_MEMORY, "%s: no memory to compare paths", output);
    if (inside)
        return fail(c, MOTET_SAME_FILE, "%s and %s: one lies in the folder that the other names",
                    input, output);
    return MOTET_OK;
}
