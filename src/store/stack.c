/* A folder of pages, in natural order of their names: page2 before page10.
 *
 * Reading: every page is opened once at the beginning, so that one of another size is named before
 * the work, not in its middle. Writing: TIFF pages in a folder of another name, which takes the
 * place of the path at the end; a folder that is overwritten changes places with it in one step. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/formats.h"
#include "store/tiff_write.h"

static const char endings[] = ".tif .tiff .png";

typedef struct stack_store {
    motet_store base;
    char **names; /* in order */
    int64_t count;

    char *temporary; /* writing: the folder, without '/' at its end */
    tiff_plan plan;  /* of one page */
    int digits;
} stack_store;

static int is_page(const char *name) { return *name != '.' && store_ends_in(name, endings); }

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Runs of digits compare by value, the rest by bytes; names that differ in leading zeros only, by
 * bytes at last. */
static int compare_names(const void *left, const void *right)
{
    const char *const first = *(const char *const *)left, *const second =
                                                              *(const char *const *)right;
    const char *a = first, *b = second;
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            while (*a == '0' && is_digit(a[1])) a++;
            while (*b == '0' && is_digit(b[1])) b++;
            size_t n = 0, m = 0;
            while (is_digit(a[n])) n++;
            while (is_digit(b[m])) m++;
            if (n != m) return n < m ? -1 : 1;
            const int order = memcmp(a, b, n);
            if (order) return order;
            a += n;
            b += n;
        } else {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
        }
    }
    if (*a || *b) return *a ? 1 : -1;
    return strcmp(first, second);
}

static void free_names(motet_context *c, char **names, int64_t count)
{
    for (int64_t i = 0; i < count; i++) mem_free(c, names[i]);
    mem_free(c, names);
}

/* The names of the pages. What else is in the folder is passed over, unless `all`: then the first
 * such name is an error. */
static motet_status list_pages(motet_context *c, const char *path, int all, char ***out,
                               int64_t *count)
{
    DIR *folder = opendir(path);
    if (!folder) return fail_errno(c, errno, "%s", path);
    char **names = NULL;
    int64_t used = 0, space = 0;
    motet_status st = MOTET_OK;
    for (;;) {
        errno = 0;
        const struct dirent *item = readdir(folder);
        if (!item && errno) TRY_GOTO(fail_errno(c, errno, "%s: listing it", path));
        if (!item) break;
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, "..")) continue;
        struct stat status;
        const int page =
            is_page(item->d_name) &&
            (!all || (!fstatat(dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
                      S_ISREG(status.st_mode)));
        if (!page && all)
            TRY_GOTO(fail(c, MOTET_EXISTS,
                          "%s: holds %s, which is no page; only a folder of pages is overwritten",
                          path, item->d_name));
        if (!page) continue;
        if (used == space) {
            const int64_t more = space ? 2 * space : 64;
            char **grown = mem_grow(c, names, (size_t)more * sizeof *names);
            if (!grown) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for its names", path));
            names = grown;
            space = more;
        }
        names[used] = mem_text(c, item->d_name);
        if (!names[used]) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for its names", path));
        used++;
    }
    if (used) qsort(names, (size_t)used, sizeof *names, compare_names);
    *out = names;
    *count = used;
    names = NULL;
out:
    closedir(folder);
    if (names) free_names(c, names, used);
    return st;
}

static int probe(const unsigned char *head, size_t bytes, const char *path)
{
    (void)bytes;
    DIR *folder = head ? NULL : opendir(path);
    int found = 0;
    if (!folder) return 0;
    for (struct dirent *item; !found && (item = readdir(folder));) found = is_page(item->d_name);
    closedir(folder);
    return found;
}

static motet_status open_page(stack_store *s, int64_t page, motet_store **out)
{
    motet_context *c = s->base.context;
    const size_t length = strlen(s->base.path);
    char *path = mem_format(c, "%s%s%s", s->base.path, s->base.path[length - 1] == '/' ? "" : "/",
                            s->names[page]);
    if (!path) return fail(c, MOTET_NO_MEMORY, "%s: no memory to open a page", s->base.path);
    motet_store *opened = NULL;
    motet_status st = motet_store_open(c, path, NULL, &opened);
    if (st == MOTET_OK && opened->info.axes != 2)
        st = fail(c, MOTET_BAD_DATA, "%s: has %d axes, expected one page of rows and columns", path,
                  opened->info.axes);
    const int64_t *shape = s->base.info.shape;
    if (st == MOTET_OK && s->base.info.axes &&
        (opened->kind != s->base.kind || opened->info.shape[0] != shape[1] ||
         opened->info.shape[1] != shape[2]))
        st = fail(c, MOTET_BAD_DATA,
                  "%s: has %lld x %lld pixels of %s, the first page %s %lld x %lld of %s; all must "
                  "be of one size and number format",
                  path, (long long)opened->info.shape[0], (long long)opened->info.shape[1],
                  motet_type_text(opened->info.type), s->names[0], (long long)shape[1],
                  (long long)shape[2], motet_type_text(kind_type(s->base.kind)));
    mem_free(c, path);
    if (st == MOTET_OK)
        *out = opened;
    else
        motet_store_free(opened);
    return st;
}

static motet_status open_stack(motet_store *store, const char *entry)
{
    stack_store *s = (stack_store *)store;
    if (entry)
        return fail(store->context, MOTET_BAD_ARGUMENT,
                    "%s: a folder of pages has no entries, got %s", store->path, entry);
    TRY(list_pages(store->context, store->path, 0, &s->names, &s->count));
    if (!s->count) return fail(store->context, MOTET_NOT_FOUND, "%s: holds no pages", store->path);
    for (int64_t page = 0; page < s->count; page++) {
        motet_store *opened;
        TRY(open_page(s, page, &opened));
        if (page == 0) {
            motet_store_info *info = &store->info;
            info->axes = 3;
            info->shape[0] = s->count;
            for (int i = 0; i < 2; i++) {
                info->shape[i + 1] = opened->info.shape[i];
                info->spacing[i + 1] = opened->info.spacing[i];
                info->origin[i + 1] = opened->info.origin[i];
            }
            store->kind = opened->kind;
        }
        motet_store_free(opened);
    }
    return MOTET_OK;
}

static motet_status read_stack(motet_store *store, const int64_t *first, const int64_t *count,
                               void *out)
{
    stack_store *s = (stack_store *)store;
    const size_t part = (size_t)(count[1] * count[2]) * kind_bytes(store->kind);
    char *to = out;
    for (int64_t page = first[0]; page < first[0] + count[0]; page++, to += part) {
        motet_store *opened;
        TRY(open_page(s, page, &opened));
        const motet_status st = opened->format->read(opened, first + 1, count + 1, to);
        motet_store_free(opened);
        TRY(st);
    }
    return MOTET_OK;
}

/* A folder that would be overwritten must hold pages and nothing else, which can be removed: it is
 * about to be. A link cannot change places with a folder. */
static motet_status check_folder(stack_store *s)
{
    motet_context *c = s->base.context;
    struct stat status;
    size_t bytes = strlen(s->base.path);
    while (bytes > 1 && s->base.path[bytes - 1] == '/') bytes--;
    char *name = mem_format(c, "%.*s", (int)bytes, s->base.path);
    if (!name) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its name", s->base.path);
    const int linked = !lstat(name, &status) && S_ISLNK(status.st_mode);
    mem_free(c, name);
    if (linked)
        return fail(c, MOTET_EXISTS, "%s: is a symbolic link, expected a folder or a new name",
                    s->base.path);
    TRY(file_check_target(c, s->base.path, 1, s->base.overwrite));
    if (stat(s->base.path, &status)) return MOTET_OK;
    if (access(s->base.path, W_OK | X_OK))
        return fail_errno(c, errno, "%s: its pages cannot be removed", s->base.path);
    char **names;
    int64_t count;
    TRY(list_pages(c, s->base.path, 1, &names, &count));
    free_names(c, names, count);
    return MOTET_OK;
}

static motet_status create_stack(motet_store *store, const char *entry)
{
    stack_store *s = (stack_store *)store;
    motet_context *c = store->context;
    if (entry)
        return fail(c, MOTET_BAD_ARGUMENT, "%s: a folder of pages has no entries, got %s",
                    store->path, entry);
    if (store->info.axes != 3 || store->info.shape[0] < 1)
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: a folder of pages holds 3 axes and at least one page", store->path);
    motet_store_info page = {.type = store->info.type, .axes = 2};
    for (int i = 0; i < 2; i++) {
        page.shape[i] = store->info.shape[i + 1];
        page.spacing[i] = store->info.spacing[i + 1];
        page.origin[i] = store->info.origin[i + 1];
    }
    TRY(tiff_plan_pages(c, store->path, &page, &s->plan));
    s->digits = 4;
    for (int64_t n = store->info.shape[0]; n > 10000; n /= 10) s->digits++;
    TRY(check_folder(s));
    char *name;
    TRY(file_temporary(c, store->path, ".part", &name));
    if (mkdir(name, 0777)) {
        const motet_status st = fail_errno(c, errno, "%s", store->path);
        mem_free(c, name);
        return st;
    }
    s->temporary = name;
    return MOTET_OK;
}

static motet_status write_page(stack_store *s, int64_t page, const void *pixels)
{
    motet_context *c = s->base.context;
    store_file file = {.context = c};
    file.path = mem_format(c, "%s/page%0*lld.tif", s->temporary, s->digits, (long long)page);
    if (!file.path) return fail(c, MOTET_NO_MEMORY, "%s: no memory to write a page", s->base.path);
    motet_status st = MOTET_OK;
    do file.descriptor = open(file.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    while (file.descriptor < 0 && errno == EINTR);
    if (file.descriptor < 0)
        TRY_GOTO(fail_errno(c, errno, "%s: page %lld", s->base.path, (long long)page));
    file.is_open = 1;
    st = file_write(&file, tiff_plan_pixels(&s->plan), s->base.row_bytes, pixels);
    if (st == MOTET_OK) st = tiff_write_frame(&s->plan, &file);
    if (st == MOTET_OK) st = file_sync(&file);
    if (st != MOTET_OK) fail_prefix(c, "%s", s->base.path); /* the page has a name nobody knows */
out:
    file_close(&file);
    return st;
}

static motet_status write_stack(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    const char *from = rows;
    for (int64_t page = first; page < first + count; page++, from += store->row_bytes)
        TRY(write_page((stack_store *)store, page, from));
    return MOTET_OK;
}

/* Best effort: what cannot be removed stays behind under its temporary name. */
static void remove_pages(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *item; (item = readdir(folder));)
        if (is_page(item->d_name)) unlinkat(dirfd(folder), item->d_name, 0);
    closedir(folder);
    rmdir(path);
}

static motet_status finish_stack(motet_store *store)
{
    stack_store *s = (stack_store *)store;
    motet_context *c = store->context;
    TRY(check_folder(s)); /* again: it may have changed meanwhile */
    const motet_status synced = file_sync_path(c, s->temporary);
    if (synced != MOTET_OK) {
        fail_prefix(c, "%s", store->path);
        return synced;
    }
    return MOTET_OK;
}

static motet_status place_stack(motet_store *store)
{
    stack_store *s = (stack_store *)store;
    motet_context *c = store->context;
    struct stat status;
    TRY(check_folder(s));
    if (store->overwrite && !stat(store->path, &status)) {
        TRY(file_exchange(c, s->temporary, store->path));
        remove_pages(s->temporary); /* the former pages have this name now */
    } else {
        TRY(file_rename(c, s->temporary, store->path, 0));
    }
    mem_free(c, s->temporary);
    s->temporary = NULL;
    return MOTET_OK;
}

static void close_stack(motet_store *store)
{
    stack_store *s = (stack_store *)store;
    if (s->temporary) remove_pages(s->temporary);
    mem_free(store->context, s->temporary);
    free_names(store->context, s->names, s->count);
}

const store_format store_stack = {
    .name = "stack",
    .endings = "/",
    .bytes = sizeof(stack_store),
    .probe = probe,
    .open = open_stack,
    .create = create_stack,
    .read = read_stack,
    .write = write_stack,
    .finish = finish_stack,
    .place = place_stack,
    .close = close_stack,
};
