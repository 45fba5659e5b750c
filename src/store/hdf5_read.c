/* Reading: boxes of one dataset, its text attributes. */
#include <stdio.h>
#include <string.h>

#include "store/hdf5_inside.h"

enum {
    CHUNK_BYTES = 1 << 30, /* the largest chunk accepted: HDF5 holds whole chunks */
    CACHE_LEAST = 1 << 20, /* of chunks, HDF5's own default */
    CACHE_MOST = 1 << 28,
    MOST_OF_ONE = 1 << 16, /* bytes of values that a byte of the file may stand for: chunks that
                              were never written and packed ones are smaller than what they say */
    SIEVE = 1 << 13, /* read at least, around each run; HDF5's own 64 KiB would read whole frames
                        where a few lines of each are asked for */
};

static motet_status open_source(const hdf5_source *source, hdf5_file **out)
{
    hdf5_file *file;
    const motet_status st = hdf5_file_new(source, &file);
    if (st != MOTET_OK) return st;
    const hid_t access = hdf5_has_room() ? hdf5_access(file) : H5I_INVALID_HID;
    if (access >= 0) {
        H5Pset_sieve_buf_size(access, SIEVE);
        file->file = H5Fopen(source->path, H5F_ACC_RDONLY, access);
        H5Pclose(access);
    }
    if (file->file < 0) {
        const motet_status failed =
            access < 0
                ? hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory to open it", source->path)
                : hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: is no readable HDF5 file", source->path);
        hdf5_file_free(file);
        return failed;
    }
    *out = file;
    return MOTET_OK;
}

motet_status hdf5_entries(const hdf5_source *source, char **names)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    hdf5_file *file;
    motet_status st = open_source(source, &file);
    if (st == MOTET_OK) {
        int64_t count;
        st = hdf5_list(file, names, &count);
        hdf5_file_free(file);
    }
    hdf5_leave(&scope);
    return st;
}

/* Without a name: the only dataset there is. */
static motet_status choose(hdf5_file *file, const char *entry)
{
    const hdf5_source *s = &file->source;
    char *names = NULL;
    int64_t count = 1;
    motet_status st = MOTET_OK;
    if (!entry) {
        st = hdf5_list(file, &names, &count);
        if (st != MOTET_OK) return st;
        if (count == 0)
            st = hdf5_fail(file, MOTET_NOT_FOUND, 0, "%s: holds no dataset of numbers", s->path);
        else if (count > 1) {
            for (char *c = names; *c; c++)
                if (*c == '\n') *c = c[1] ? ' ' : 0;
            st = hdf5_fail(file, MOTET_BAD_ARGUMENT, 0, "%s: holds %lld datasets, name one of: %s",
                           s->path, (long long)count, names);
        } else
            entry = names;
    }
    if (st == MOTET_OK) {
        file->entry = hdf5_copy(file, entry, strcspn(entry, "\n"));
        if (!file->entry)
            st = hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory for a name", s->path);
    }
    s->host->release(s->context, names);
    return st;
}

/* NOT_FOUND as soon as a part of the path is not there; HDF5 itself tells "absent" and "damaged"
 * apart only for one part at a time. */
static motet_status check_path(hdf5_file *file, hid_t access)
{
    const char *entry = file->entry, *path = file->source.path;
    if (!entry[strspn(entry, "/")])
        return hdf5_fail(file, MOTET_BAD_ARGUMENT, 0, "%s: %s is a group, expected a dataset", path,
                         *entry ? entry : "the empty name");
    for (const char *end = entry; *end;) {
        end += strspn(end, "/");
        if (!*end) break;
        end += strcspn(end, "/");
        char *part = hdf5_copy(file, entry, (size_t)(end - entry));
        if (!part) return hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory for a name", path);
        H5O_info_t info = {.type = H5O_TYPE_UNKNOWN};
        const htri_t linked = H5Lexists(file->file, part, access);
        const htri_t there = linked > 0 ? H5Oexists_by_name(file->file, part, access) : linked;
        const int read =
            there > 0 && H5Oget_info_by_name2(file->file, part, &info, H5O_INFO_BASIC, access) >= 0;
        motet_status st = MOTET_OK;
        const int last = !end[strspn(end, "/")];
        if (there < 0 || (there > 0 && !read))
            st = hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: %s cannot be read", path, part);
        else if (!there)
            st = hdf5_fail(file, MOTET_NOT_FOUND, 0, "%s: has no %s", path, part);
        else if (!last && info.type != H5O_TYPE_GROUP)
            st = hdf5_fail(file, MOTET_NOT_FOUND, 0, "%s: %s is no group", path, part);
        else if (last && info.type != H5O_TYPE_DATASET)
            st = hdf5_fail(file, MOTET_BAD_ARGUMENT, 0, "%s: %s is a %s, expected a dataset", path,
                           part, info.type == H5O_TYPE_GROUP ? "group" : "named type");
        file->source.host->release(file->source.context, part);
        if (st != MOTET_OK) return st;
    }
    return MOTET_OK;
}

static motet_status read_shape(hdf5_file *file)
{
    const char *path = file->source.path, *entry = file->entry;
    motet_store_info *info = &file->info;
    hsize_t sizes[H5S_MAX_RANK] = {0};
    const hid_t space = H5Dget_space(file->dataset);
    const H5S_class_t class_ = H5Sget_simple_extent_type(space);
    const int axes = H5Sget_simple_extent_dims(space, sizes, NULL);
    if (space >= 0) H5Sclose(space);
    if (class_ == H5S_NULL)
        return hdf5_fail(file, MOTET_UNSUPPORTED, 0, "%s: %s holds nothing", path, entry);
    if (class_ == H5S_NO_CLASS || axes < 0)
        return hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: the shape of %s cannot be read", path,
                         entry);
    if (axes > MOTET_MAX_AXES)
        return hdf5_fail(file, MOTET_UNSUPPORTED, 0, "%s: %s has %d axes, expected at most %d",
                         path, entry, axes, MOTET_MAX_AXES);
    int64_t bytes = 8;
    for (int i = 0; i < axes; i++) {
        if (sizes[i] > INT64_MAX ||
            (sizes[i] && __builtin_mul_overflow(bytes, (int64_t)sizes[i], &bytes)))
            return hdf5_fail(file, MOTET_BAD_DATA, 0, "%s: %s claims more than 2^63 - 1 bytes",
                             path, entry);
        info->shape[i] = (int64_t)sizes[i];
    }
    file->scalar = axes == 0;
    if (file->scalar) info->shape[0] = 1;
    info->axes = file->scalar ? 1 : axes;
    return MOTET_OK;
}

/* Refuses what leads out of the file or takes memory without bound; *cache is how much of chunks to
 * keep, so that reading row by row unpacks each chunk once. */
static motet_status check_storage(hdf5_file *file, hid_t list, size_t *cache)
{
    const char *path = file->source.path, *entry = file->entry;
    *cache = CACHE_LEAST;
    if (H5Pget_external_count(list) != 0)
        return hdf5_fail(file, MOTET_UNSUPPORTED, 0, "%s: %s keeps its values in other files", path,
                         entry);
    const H5D_layout_t layout = H5Pget_layout(list);
    if (layout == H5D_VIRTUAL)
        return hdf5_fail(file, MOTET_UNSUPPORTED, 0, "%s: %s is put together from other datasets",
                         path, entry);
    const hid_t type = H5Dget_type(file->dataset);
    const uint64_t element = H5Tget_size(type);
    uint64_t claimed = element;
    H5Tclose(type);
    for (int i = 0; i < file->info.axes; i++)
        if (__builtin_mul_overflow(claimed, (uint64_t)file->info.shape[i], &claimed))
            claimed = UINT64_MAX; /* an empty axis after it makes it 0 again */
    if (claimed / MOST_OF_ONE > file->source.bytes)
        return hdf5_fail(file, MOTET_BAD_DATA, 0,
                         "%s: %s claims %llu bytes of values, the file has %llu bytes", path, entry,
                         (unsigned long long)claimed, (unsigned long long)file->source.bytes);
    if (layout != H5D_CHUNKED) return MOTET_OK;

    const int filters = H5Pget_nfilters(list);
    for (int i = 0; i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t filter =
            H5Pget_filter2(list, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
        if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
            return hdf5_fail(file, MOTET_UNSUPPORTED, 0,
                             "%s: %s is compressed with filter %d (%.40s), which this HDF5 lacks",
                             path, entry, (int)filter, name);
    }
    hsize_t chunk[H5S_MAX_RANK];
    const int axes = H5Pget_chunk(list, H5S_MAX_RANK, chunk);
    if (axes != file->info.axes)
        return hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: the chunks of %s have %d axes, expected %d",
                         path, entry, axes, file->info.axes);
    uint64_t bytes = element, band;
    for (int i = 0; i < axes; i++)
        if (!chunk[i] || __builtin_mul_overflow(bytes, (uint64_t)chunk[i], &bytes) ||
            bytes > CHUNK_BYTES)
            return hdf5_fail(file, MOTET_UNSUPPORTED, 0,
                             "%s: the chunks of %s take more than %d bytes", path, entry,
                             CHUNK_BYTES);
    band = bytes;
    for (int i = 1; i < axes; i++) {
        const uint64_t chunks = ((uint64_t)file->info.shape[i] + chunk[i] - 1) / chunk[i];
        if (__builtin_mul_overflow(band, chunks, &band) || band > CACHE_MOST) return MOTET_OK;
    }
    if (band > *cache) *cache = (size_t)band;
    return MOTET_OK;
}

/* "spacing" and "origin", as hdf5_create writes them. */
static int read_steps(hdf5_file *file, const char *name, double *out)
{
    double values[MOTET_MAX_AXES];
    if (H5Aexists(file->dataset, name) <= 0) return 0;
    const hid_t attribute = H5Aopen(file->dataset, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    hsize_t size = 0;
    const int fits = H5Sget_simple_extent_ndims(space) == 1 &&
                     H5Sget_simple_extent_dims(space, &size, NULL) == 1 &&
                     size == (hsize_t)file->info.axes && H5Tget_class(type) == H5T_FLOAT &&
                     H5Aread(attribute, H5T_NATIVE_DOUBLE, values) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    if (fits) memcpy(out, values, (size_t)size * sizeof *out);
    return fits;
}

static motet_status open_dataset(hdf5_file *file, hid_t access, store_kind *kind)
{
    const char *path = file->source.path, *entry = file->entry;
    motet_status st = check_path(file, access);
    if (st != MOTET_OK) return st;
    file->dataset = H5Dopen2(file->file, entry, access);
    if (file->dataset < 0)
        return hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: %s cannot be opened", path, entry);
    const hid_t list = H5Dget_create_plist(file->dataset);
    if (list < 0)
        return hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: the layout of %s cannot be read", path,
                         entry);
    size_t cache = CACHE_LEAST;
    st = H5Pget_layout(list) == H5D_VIRTUAL ? MOTET_OK : read_shape(file);
    if (st == MOTET_OK) st = check_storage(file, list, &cache);
    H5Pclose(list);
    if (st != MOTET_OK) return st;

    const hid_t type = H5Dget_type(file->dataset);
    const int known = type >= 0 && hdf5_kind_of(type, kind);
    if (type >= 0) H5Tclose(type);
    if (!known)
        return hdf5_fail(file, MOTET_UNSUPPORTED, 0,
                         "%s: the elements of %s are no integers or floats that Motet reads", path,
                         entry);
    file->type = hdf5_memory_type(*kind);
    if (file->type < 0)
        return hdf5_fail(file, MOTET_NO_MEMORY, 1, "%s: no memory to open %s", path, entry);
    if (!read_steps(file, "spacing", file->info.spacing) ||
        !read_steps(file, "origin", file->info.origin)) {
        memset(file->info.spacing, 0, sizeof file->info.spacing);
        memset(file->info.origin, 0, sizeof file->info.origin);
    }
    if (cache == CACHE_LEAST) return MOTET_OK;
    /* The cache is fixed when a dataset is opened. Slots: a prime, to spread what is hashed. */
    H5Dclose(file->dataset);
    H5Pset_chunk_cache(access, 12421, cache, 1.0);
    file->dataset = H5Dopen2(file->file, entry, access);
    if (file->dataset < 0)
        return hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: %s cannot be opened", path, entry);
    return MOTET_OK;
}

motet_status hdf5_open(const hdf5_source *source, const char *entry, motet_store_info *info,
                       store_kind *kind, hdf5_file **out)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    hdf5_file *file = NULL;
    motet_status st = open_source(source, &file);
    if (st == MOTET_OK) {
        const hid_t access = hdf5_link_access(file, H5P_DATASET_ACCESS);
        st = access < 0
                 ? hdf5_fail(file, MOTET_NO_MEMORY, 1, "%s: no memory to open it", source->path)
                 : choose(file, entry);
        if (st == MOTET_OK) st = open_dataset(file, access, kind);
        if (access >= 0) H5Pclose(access);
    }
    if (st == MOTET_OK) {
        info->axes = file->info.axes;
        memcpy(info->shape, file->info.shape, sizeof info->shape);
        memcpy(info->spacing, file->info.spacing, sizeof info->spacing);
        memcpy(info->origin, file->info.origin, sizeof info->origin);
        *out = file;
    } else
        hdf5_file_free(file);
    hdf5_leave(&scope);
    return st;
}

motet_status hdf5_read(hdf5_file *file, const int64_t *first, const int64_t *count, void *out)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    hsize_t start[MOTET_MAX_AXES], sizes[MOTET_MAX_AXES];
    for (int i = 0; i < file->info.axes; i++) {
        start[i] = (hsize_t)first[i];
        sizes[i] = (hsize_t)count[i];
    }
    herr_t done = -1;
    if (file->scalar) {
        done = H5Dread(file->dataset, file->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    } else {
        const hid_t there = H5Dget_space(file->dataset);
        const hid_t here = H5Screate_simple(file->info.axes, sizes, NULL);
        if (there >= 0 && here >= 0 &&
            H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, sizes, NULL) >= 0)
            done = H5Dread(file->dataset, file->type, here, there, H5P_DEFAULT, out);
        if (there >= 0) H5Sclose(there);
        if (here >= 0) H5Sclose(here);
    }
    motet_status st = MOTET_OK;
    if (done < 0)
        st = hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: rows %lld to %lld of %s cannot be read",
                       file->source.path, (long long)first[0], (long long)(first[0] + count[0] - 1),
                       file->entry);
    hdf5_leave(&scope);
    return st;
}

static motet_status read_text(hdf5_file *file, hid_t attribute, const char *name, char *out,
                              size_t bytes)
{
    const hdf5_source *s = &file->source;
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const int is_text =
        H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
    const int variable = is_text && H5Tis_variable_str(type) > 0;
    const size_t fixed = is_text && !variable ? H5Tget_size(type) : 0;
    char *text = NULL, *owned = NULL;
    int read = 0;
    motet_status st = MOTET_OK;
    if (!is_text)
        st = hdf5_fail(file, MOTET_UNSUPPORTED, 0, "%s: attribute %s of %s is not one text",
                       s->path, name, file->entry);
    else if (fixed > HDF5_TEXT)
        st = hdf5_fail(file, MOTET_UNSUPPORTED, 0,
                       "%s: attribute %s of %s has %zu bytes, expected at most %d", s->path, name,
                       file->entry, fixed, HDF5_TEXT);
    else if (variable) {
        read = H5Aread(attribute, type, &text) >= 0;
    } else {
        owned = s->host->allocate(s->context, fixed + 1);
        if (!owned)
            st = hdf5_fail(file, MOTET_NO_MEMORY, 0, "%s: no memory for attribute %s", s->path,
                           name);
        else if (H5Aread(attribute, type, owned) >= 0) {
            read = 1;
            text = owned;
            if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
                for (size_t n = fixed; n && (text[n - 1] == ' ' || !text[n - 1]); n--)
                    text[n - 1] = 0;
        }
    }
    if (st == MOTET_OK && !read)
        st = hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: attribute %s of %s cannot be read", s->path,
                       name, file->entry);
    const char *answer = text ? text : ""; /* HDF5 gives an empty text as NULL */
    if (st == MOTET_OK && strlen(answer) >= bytes)
        st = hdf5_fail(file, MOTET_BAD_ARGUMENT, 0,
                       "%s: attribute %s of %s takes %zu bytes, there is room for %zu", s->path,
                       name, file->entry, strlen(answer) + 1, bytes);
    if (st == MOTET_OK) memcpy(out, answer, strlen(answer) + 1);
    if (variable && text) H5free_memory(text);
    s->host->release(s->context, owned);
    H5Sclose(space);
    H5Tclose(type);
    return st;
}

motet_status hdf5_text(hdf5_file *file, const char *name, char *out, size_t bytes)
{
    hdf5_scope scope;
    hdf5_enter(&scope);
    motet_status st;
    const htri_t there = H5Aexists(file->dataset, name);
    const hid_t attribute = there > 0 ? H5Aopen(file->dataset, name, H5P_DEFAULT) : -1;
    if (there == 0)
        st = hdf5_fail(file, MOTET_NOT_FOUND, 0, "%s: %s has no attribute %s", file->source.path,
                       file->entry, name);
    else if (attribute < 0)
        st = hdf5_fail(file, MOTET_BAD_DATA, 1, "%s: attribute %s of %s cannot be read",
                       file->source.path, name, file->entry);
    else
        st = read_text(file, attribute, name, out, bytes);
    if (attribute >= 0) H5Aclose(attribute);
    hdf5_leave(&scope);
    return st;
}
