/* The datasets of a file that hold numbers.
 *
 * Only hard links are followed. They may form cycles, so a group is looked into once; nesting,
 * groups and names are bounded, so a hostile file ends the walk with a message. */
#include <stdio.h>
#include <string.h>

#include "store/hdf5_inside.h"

typedef struct walk {
    hdf5_file *file;
    char *names; /* what was found, a zero after it */
    size_t used, space;
    int64_t count;
    haddr_t seen[HDF5_GROUPS];
    int groups, depth;
    char path[HDF5_DEPTH * 256]; /* of the group looked into, with a '/' at its end */
    motet_status st;
} walk;

static motet_status note(walk *w, const char *name)
{
    const hdf5_source *s = &w->file->source;
    const size_t needed = w->used + strlen(w->path) + strlen(name) + 2;
    if (w->count == HDF5_NAMES)
        return hdf5_fail(w->file, MOTET_UNSUPPORTED, 0, "%s: holds more than %d datasets", s->path,
                         HDF5_NAMES);
    if (needed > w->space) {
        const size_t space = 2 * needed + 256;
        char *grown = s->host->allocate(s->context, space);
        if (!grown)
            return hdf5_fail(w->file, MOTET_NO_MEMORY, 0, "%s: no memory for the names in it",
                             s->path);
        if (w->used) memcpy(grown, w->names, w->used);
        s->host->release(s->context, w->names);
        w->names = grown;
        w->space = space;
    }
    w->used += (size_t)snprintf(w->names + w->used, w->space - w->used, "%s%s\n", w->path, name);
    w->count++;
    return MOTET_OK;
}

static int holds_numbers(hid_t group, const char *name)
{
    const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0) return 0;
    const hid_t type = H5Dget_type(dataset);
    store_kind kind;
    const int numbers = type >= 0 && hdf5_kind_of(type, &kind);
    if (type >= 0) H5Tclose(type);
    H5Dclose(dataset);
    return numbers;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *user);

static motet_status enter_group(walk *w, hid_t parent, const char *name, haddr_t address)
{
    const hdf5_source *s = &w->file->source;
    for (int i = 0; i < w->groups; i++)
        if (w->seen[i] == address) return MOTET_OK;
    if (w->groups == HDF5_GROUPS)
        return hdf5_fail(w->file, MOTET_UNSUPPORTED, 0, "%s: holds more than %d groups", s->path,
                         HDF5_GROUPS);
    const size_t before = strlen(w->path);
    const int length = snprintf(w->path + before, sizeof w->path - before, "%s/", name);
    if (w->depth == HDF5_DEPTH || length < 0 || (size_t)length >= sizeof w->path - before)
        return hdf5_fail(w->file, MOTET_UNSUPPORTED, 0, "%s: groups are nested more than %d deep",
                         s->path, HDF5_DEPTH);
    w->seen[w->groups++] = address;
    w->depth++;
    const hid_t group = H5Gopen2(parent, name, H5P_DEFAULT);
    if (group < 0 ||
        (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, w) < 0 && w->st == MOTET_OK))
        w->st =
            hdf5_fail(w->file, MOTET_BAD_DATA, 1, "%s: group %s cannot be read", s->path, w->path);
    if (group >= 0) H5Gclose(group);
    w->depth--;
    w->path[before] = 0;
    return w->st;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *user)
{
    walk *w = user;
    if (link->type != H5L_TYPE_HARD || strchr(name, '\n')) return 0;
    H5O_info_t info;
    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        w->st = hdf5_fail(w->file, MOTET_BAD_DATA, 1, "%s: entry %s%s cannot be read",
                          w->file->source.path, w->path, name);
        return -1;
    }
    if (info.type == H5O_TYPE_GROUP)
        w->st = enter_group(w, group, name, info.addr);
    else if (info.type == H5O_TYPE_DATASET && holds_numbers(group, name))
        w->st = note(w, name);
    return w->st == MOTET_OK ? 0 : -1;
}

motet_status hdf5_list(hdf5_file *file, char **names, int64_t *count)
{
    const hdf5_source *s = &file->source;
    walk *w = s->host->allocate(s->context, sizeof *w);
    char *none = hdf5_copy(file, "", 0);
    motet_status st = MOTET_OK;
    H5O_info_t root;
    if (!w || !none)
        st = hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory to list its entries", s->path);
    else if (H5Oget_info2(file->file, &root, H5O_INFO_BASIC) < 0)
        st = hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: its root cannot be read", s->path);
    if (st == MOTET_OK) {
        w->file = file;
        w->path[0] = '/';
        w->seen[w->groups++] = root.addr;
        const herr_t walked = H5Literate(file->file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, w);
        st = w->st;
        if (walked < 0 && st == MOTET_OK)
            st = hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: its root cannot be read", s->path);
    }
    if (st == MOTET_OK) {
        *count = w->count;
        *names = w->names ? w->names : none;
        if (!w->names) none = NULL;
        w->names = NULL;
    }
    if (w) s->host->release(s->context, w->names);
    s->host->release(s->context, w);
    s->host->release(s->context, none);
    return st;
}
