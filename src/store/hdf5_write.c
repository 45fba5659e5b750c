/* Writing: contiguous datasets, whose rows need no chunks, and texts. Nothing that is written holds
 * a time: equal results are equal files. */
#include <stdio.h>
#include <string.h>

#include "store/hdf5_inside.h"

static hid_t timeless(hid_t class_)
{
    const hid_t list = H5Pcreate(class_);
    if (list >= 0 && H5Pset_obj_track_times(list, 0) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

static hid_t utf8_names(void)
{
    const hid_t list = H5Pcreate(H5P_LINK_CREATE);
    if (list >= 0) H5Pset_char_encoding(list, H5T_CSET_UTF8);
    return list;
}

static motet_status check_entry(hdf5_file *file, const char *entry)
{
    const char *path = file->source.path;
    int bad = !entry[strspn(entry, "/")] || entry[strlen(entry) - 1] == '/';
    int depth = 0;
    for (const char *part = entry + (*entry == '/'); !bad && *part; depth++) {
        const size_t bytes = strcspn(part, "/");
        bad = bytes == 0 || bytes > 255 || (bytes == 1 && *part == '.');
        for (size_t i = 0; i < bytes; i++) bad |= (unsigned char)part[i] < ' ';
        part += bytes + (part[bytes] == '/');
    }
    if (bad || depth > HDF5_DEPTH)
        return hdf5_fail(file, MOTET_BAD_ARGUMENT, 0,
                         "%s: entry %s is no path of names with '/' between, like /exchange/data",
                         path, entry);
    return MOTET_OK;
}

/* Makes the groups on the way that are not there. */
static motet_status make_groups(hdf5_file *file, const char *entry)
{
    const char *path = file->source.path;
    for (const char *slash = strchr(entry + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *group = hdf5_copy(file, entry, (size_t)(slash - entry));
        if (!group) return hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory for a name", path);
        const htri_t there = H5Lexists(file->file, group, H5P_DEFAULT);
        int made = there > 0;
        if (there == 0) {
            const hid_t names = utf8_names(), list = timeless(H5P_GROUP_CREATE);
            const hid_t id = H5Gcreate2(file->file, group, names, list, H5P_DEFAULT);
            made = id >= 0;
            if (id >= 0) H5Gclose(id);
            if (list >= 0) H5Pclose(list);
            if (names >= 0) H5Pclose(names);
        }
        motet_status st = MOTET_OK;
        if (!made)
            st = hdf5_fail(file, MOTET_BAD_ARGUMENT, 1, "%s: group %s cannot be made", path, group);
        file->source.host->release(file->source.context, group);
        if (st != MOTET_OK) return st;
    }
    return MOTET_OK;
}

static motet_status make_dataset(hdf5_file *file, const char *entry, const motet_store_info *info,
                                 hid_t *out)
{
    const char *path = file->source.path;
    motet_status st = check_entry(file, entry);
    if (st == MOTET_OK) st = make_groups(file, entry);
    if (st != MOTET_OK) return st;
    if (H5Lexists(file->file, entry, H5P_DEFAULT) > 0)
        return hdf5_fail(file, MOTET_EXISTS, 0, "%s: has %s already", path, entry);
    hsize_t sizes[MOTET_MAX_AXES];
    for (int i = 0; i < info->axes; i++) sizes[i] = (hsize_t)info->shape[i];
    const hid_t list = timeless(H5P_DATASET_CREATE), names = utf8_names();
    const hid_t type = hdf5_stored_type(info->type);
    const hid_t space = H5Screate_simple(info->axes, sizes, NULL);
    hid_t dataset = H5I_INVALID_HID;
    /* Every row will be written: filling the space before would write it twice. */
    if (list >= 0 && names >= 0 && type >= 0 && space >= 0 &&
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0)
        dataset = H5Dcreate2(file->file, entry, type, space, names, list, H5P_DEFAULT);
    if (dataset < 0)
        st = hdf5_fail(file, MOTET_BAD_ARGUMENT, 1, "%s: dataset %s cannot be made", path, entry);
    else
        *out = dataset;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (names >= 0) H5Pclose(names);
    if (list >= 0) H5Pclose(list);
    return st;
}

static motet_status write_steps(hdf5_file *file, hid_t dataset, const char *name, int axes,
                                const double *values)
{
    const hsize_t size = (hsize_t)axes;
    const hid_t space = H5Screate_simple(1, &size, NULL);
    const hid_t attribute =
        H5Acreate2(dataset, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    motet_status st = MOTET_OK;
    if (attribute < 0 || H5Awrite(attribute, H5T_NATIVE_DOUBLE, values) < 0)
        st = hdf5_fail(file, MOTET_IO, 1, "%s: attribute %s cannot be written", file->source.path,
                       name);
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return st;
}

static motet_status make_described(hdf5_file *file, const char *entry, const motet_store_info *info,
                                   hid_t *out)
{
    hid_t dataset = H5I_INVALID_HID;
    motet_status st = make_dataset(file, entry, info, &dataset);
    int known = 0;
    for (int i = 0; i < info->axes; i++) known |= info->spacing[i] != 0;
    if (st == MOTET_OK && known)
        st = write_steps(file, dataset, "spacing", info->axes, info->spacing);
    if (st == MOTET_OK && known)
        st = write_steps(file, dataset, "origin", info->axes, info->origin);
    if (st == MOTET_OK)
        *out = dataset;
    else if (dataset >= 0)
        H5Dclose(dataset);
    return st;
}

motet_status hdf5_create(const hdf5_source *source, const char *entry, const motet_store_info *info,
                         hdf5_file **out)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    hdf5_file *file = NULL;
    motet_status st = hdf5_file_new(source, &file);
    if (st == MOTET_OK) {
        file->writing = 1;
        file->info = *info;
        const hid_t access = hdf5_has_room() ? hdf5_access(file) : H5I_INVALID_HID,
                    list = timeless(H5P_FILE_CREATE);
        if (access >= 0 && list >= 0)
            file->file = H5Fcreate(source->path, H5F_ACC_TRUNC, list, access);
        if (list >= 0) H5Pclose(list);
        if (access >= 0) H5Pclose(access);
        if (access < 0)
            st = hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory to begin it", source->path);
        else if (file->file < 0 || file->io != MOTET_OK)
            st = hdf5_fail(file, MOTET_IO, 1, "%s: cannot be begun", source->path);
    }
    if (st == MOTET_OK) {
        file->entry = hdf5_copy(file, entry, strlen(entry));
        file->type = hdf5_memory_type((store_kind)info->type);
        if (!file->entry || file->type < 0)
            st = hdf5_fail(file, MOTET_NO_MEMORY, 1, "%s: no memory to begin it", source->path);
    }
    if (st == MOTET_OK) st = make_described(file, entry, info, &file->dataset);
    if (st == MOTET_OK) st = file->io;
    if (st == MOTET_OK)
        *out = file;
    else if (file) {
        file->abandoned = 1;
        hdf5_file_free(file);
    }
    hdf5_leave(&scope);
    return st;
}

motet_status hdf5_write(hdf5_file *file, int64_t first, int64_t count, const void *rows)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    hsize_t start[MOTET_MAX_AXES] = {(hsize_t)first}, sizes[MOTET_MAX_AXES];
    for (int i = 0; i < file->info.axes; i++) sizes[i] = (hsize_t)file->info.shape[i];
    sizes[0] = (hsize_t)count;
    const hid_t there = H5Dget_space(file->dataset);
    const hid_t here = H5Screate_simple(file->info.axes, sizes, NULL);
    herr_t done = -1;
    if (there >= 0 && here >= 0 &&
        H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, sizes, NULL) >= 0)
        done = H5Dwrite(file->dataset, file->type, here, there, H5P_DEFAULT, rows);
    motet_status st = MOTET_OK;
    if (done < 0 || file->io != MOTET_OK)
        st = hdf5_fail(file, MOTET_IO, 1, "%s: rows %lld to %lld cannot be written",
                       file->source.path, (long long)first, (long long)(first + count - 1));
    if (there >= 0) H5Sclose(there);
    if (here >= 0) H5Sclose(here);
    hdf5_leave(&scope);
    return st;
}

motet_status hdf5_add(hdf5_file *file, const char *entry, const motet_store_info *info,
                      const void *data)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    hid_t dataset = H5I_INVALID_HID;
    motet_status st = make_described(file, entry, info, &dataset);
    if (st == MOTET_OK) {
        int empty = 0;
        for (int i = 0; i < info->axes; i++) empty |= info->shape[i] == 0;
        const hid_t type = hdf5_memory_type((store_kind)info->type);
        const int written = empty || (type >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL,
                                                            H5P_DEFAULT, data) >= 0);
        if (!written || file->io != MOTET_OK)
            st = hdf5_fail(file, MOTET_IO, 1, "%s: %s cannot be written", file->source.path, entry);
        if (type >= 0) H5Tclose(type);
        H5Dclose(dataset);
    }
    hdf5_leave(&scope);
    return st;
}

static motet_status write_text(hdf5_file *file, hid_t object, const char *name, const char *text)
{
    const char *path = file->source.path;
    if (H5Aexists(object, name) > 0)
        return hdf5_fail(file, MOTET_EXISTS, 0, "%s: has the attribute %s already", path, name);
    /* Variable length, UTF-8: what h5py writes and reads as a plain str. */
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5I_INVALID_HID;
    if (type >= 0 && space >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    motet_status st = MOTET_OK;
    if (attribute < 0 || H5Awrite(attribute, type, &text) < 0 || file->io != MOTET_OK)
        st = hdf5_fail(file, MOTET_IO, 1, "%s: attribute %s cannot be written", path, name);
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return st;
}

motet_status hdf5_set_text(hdf5_file *file, const char *entry, const char *name, const char *text)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    motet_status st = MOTET_OK;
    if (!entry) {
        st = write_text(file, file->dataset, name, text);
    } else if (check_entry(file, entry) != MOTET_OK) {
        st = MOTET_BAD_ARGUMENT;
    } else {
        const hid_t object = H5Oopen(file->file, entry, H5P_DEFAULT);
        if (object < 0)
            st = hdf5_fail(file, MOTET_NOT_FOUND, 0, "%s: has no %s", file->source.path, entry);
        else
            st = write_text(file, object, name, text);
        if (object >= 0) H5Oclose(object);
    }
    hdf5_leave(&scope);
    return st;
}

/* The driver keeps failures of writing from HDF5, so closing always ends well; what counts is io.
 */
motet_status hdf5_finish(hdf5_file *file)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    herr_t done = H5Dclose(file->dataset);
    file->dataset = H5I_INVALID_HID;
    const hid_t id = file->file;
    file->file = H5I_INVALID_HID;
    if (H5Fclose(id) < 0) done = -1;
    motet_status st = file->io;
    if (st == MOTET_OK && done < 0)
        st = hdf5_fail(file, MOTET_IO, 1, "%s: closing it failed", file->source.path);
    hdf5_leave(&scope);
    return st;
}

void hdf5_close(hdf5_file *file)
{
    if (!file) return;
    hdf5_scope scope;
    hdf5_enter(&scope);
    file->abandoned = 1;
    hdf5_file_free(file);
    hdf5_leave(&scope);
}
