/* Would writing the output harm the input? */
#include <motet/store.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/mha_header.h"

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

/* 1 if a file made at either path would be the other's too; neither exists yet. -1 without memory.
 */
static int same_new_file(motet_context *c, const char *first, const char *second)
{
    const char *path[2] = {first, second}, *name[2];
    size_t bytes[2];
    struct stat folder[2];
    for (int i = 0; i < 2; i++) {
        const size_t begin = file_folder_bytes(path[i]);
        name[i] = path[i] + begin;
        bytes[i] = strcspn(name[i], "/");
    }
    if (bytes[0] != bytes[1] || memcmp(name[0], name[1], bytes[0])) return 0;
    for (int i = 0; i < 2; i++) {
        char *text = mem_format(c, "%.*s.", (int)(name[i] - path[i]), path[i]);
        if (!text) return -1;
        const int known = !stat(text, &folder[i]);
        mem_free(c, text);
        if (!known) return 0;
    }
    return same_node(&folder[0], &folder[1]);
}

static motet_status compare(motet_context *c, const char *input, const char *output)
{
    struct stat in, out;
    const int there = !stat(input, &in), exists = !stat(output, &out);
    int same = 0;
    if (there && exists)
        same = same_node(&in, &out);
    else if (!there && !exists)
        same = same_new_file(c, input, output);
    if (same > 0)
        return fail(c, MOTET_SAME_FILE, "%s and %s are the same %s", input, output,
                    there && S_ISDIR(in.st_mode) ? "folder" : "file");
    int inside = 0;
    if (there && S_ISDIR(in.st_mode)) /* a page written into the stack that is being read */
        inside = lies_in(c, output, &in);
    if (exists && S_ISDIR(out.st_mode) && !inside) /* the folder is replaced as a whole */
        inside = lies_in(c, input, &out);
    if (same < 0 || inside < 0)
        return fail(c, MOTET_NO_MEMORY, "%s: no memory to compare paths", output);
    if (inside)
        return fail(c, MOTET_SAME_FILE, "%s and %s: one lies in the folder that the other names",
                    input, output);
    return MOTET_OK;
}

/* A path may stand for more files: an MHD and its numbers; those of one that will be replaced are
 * removed. */
motet_status motet_store_check_distinct(motet_context *c, const char *input, const char *output)
{
    if (!input || !*input || !output || !*output)
        return fail(c, MOTET_BAD_ARGUMENT, "the path is empty");
    struct stat status;
    char *beside_input = NULL, *beside_output = NULL, *former = NULL;
    motet_status st = MOTET_OK;
    TRY_GOTO(mha_companion(c, input, stat(input, &status) != 0, &beside_input));
    TRY_GOTO(mha_companion(c, output, 1, &beside_output));
    if (beside_output) TRY_GOTO(mha_companion(c, output, 0, &former));
    TRY_GOTO(compare(c, input, output));
    if (beside_input) TRY_GOTO(compare(c, beside_input, output));
    if (beside_output) TRY_GOTO(compare(c, input, beside_output));
    if (beside_input && beside_output) TRY_GOTO(compare(c, beside_input, beside_output));
    if (former) TRY_GOTO(compare(c, input, former));
    if (beside_input && former) TRY_GOTO(compare(c, beside_input, former));
out:
    mem_free(c, former);
    mem_free(c, beside_input);
    mem_free(c, beside_output);
    return st;
}
