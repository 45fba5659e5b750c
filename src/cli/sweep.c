#include "sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"

void sweep_mark(sweep *s, const char *mark) { snprintf(s->mark, sizeof s->mark, "%s", mark); }

void sweep_output(sweep *s, const char *path)
{
    for (int i = 0; i < s->outputs; i++)
        if (!strcmp(s->output[i], path)) return;
    char *copy = s->outputs < SWEEP_OUTPUTS ? strdup(path) : NULL;
    if (copy) s->output[s->outputs++] = copy;
}

void sweep_file(sweep *s, uint64_t device, uint64_t inode)
{
    if (s->files == SWEEP_FILES) return;
    s->file[s->files].device = device;
    s->file[s->files++].inode = inode;
}

/* Folders of ours hold files only. */
static void remove_at(int folder, const char *name)
{
    if (!unlinkat(folder, name, 0)) return;
    const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = below < 0 ? NULL : fdopendir(below);
    if (!d) {
        if (below >= 0) close(below);
        return;
    }
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) unlinkat(below, e->d_name, 0);
    closedir(d);
    unlinkat(folder, name, AT_REMOVEDIR);
}

static void sweep_beside(const char *path, const char *mark)
{
    char folder[CHILD_MESSAGE], name[32];
    child_folder(path, folder);
    if (!*mark) return;
    child_name(mark, name);
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] == '.' && strstr(e->d_name, name)) remove_at(dirfd(d), e->d_name);
    closedir(d);
}

static int is_known(const sweep *s, const struct stat *of)
{
    for (int i = 0; i < s->files; i++)
        if (s->file[i].device == of->st_dev && s->file[i].inode == of->st_ino) return 1;
    return 0;
}

void sweep_after(sweep *s, int keeps)
{
    for (int i = 0; i < s->outputs; i++) {
        struct stat status;
        sweep_beside(s->output[i], s->mark);
        if (keeps || lstat(s->output[i], &status) || !is_known(s, &status)) continue;
        char path[CHILD_MESSAGE]; /* without the '/' behind a folder's name */
        size_t n = strlen(s->output[i]);
        if (n >= sizeof path) continue;
        memcpy(path, s->output[i], n + 1);
        while (n > 1 && path[n - 1] == '/') path[--n] = 0;
        remove_at(AT_FDCWD, path);
    }
    s->files = 0;
    *s->mark = 0;
}

void sweep_free(sweep *s)
{
    for (int i = 0; i < s->outputs; i++) free(s->output[i]);
    *s = (sweep){.outputs = 0};
}
