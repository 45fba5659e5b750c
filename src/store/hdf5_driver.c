/* HDF5's way to the file: a file driver that reaches the one file its owner was given, once. A name
 * that a file carries (external link, virtual dataset) comes here too and is refused.
 *
 * Failing writes are kept and reported by the call that caused them, and HDF5 is told that they
 * went well: an HDF5 that failed to write stays unable to close its file. */
#include <stdlib.h>
#include <string.h>

#include "store/hdf5_inside.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct driver_info {
    hdf5_file *owner;
} driver_info;

/* A damaged file can leave HDF5 with a file it never closes, or closes at the process's end: so
 * this outlives its owner, in memory that is not the context's. */
struct hdf5_driver {
    H5FD_t base;      /* first, HDF5 asks for it */
    hdf5_file *owner; /* NULL: gone */
    haddr_t allocated, end;
};
typedef struct hdf5_driver driver;

void hdf5_detach(hdf5_file *file)
{
    if (file->opened) file->opened->owner = NULL;
    file->opened = NULL;
}

static H5FD_t *open_owner(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    (void)name, (void)limit, (void)flags;
    const driver_info *info = H5Pget_driver_info(access);
    if (!info || !info->owner || info->owner->opened) return NULL;
    hdf5_file *owner = info->owner;
    driver *d = calloc(1, sizeof *d);
    if (!d) {
        owner->io = owner->source.host->fail(owner->source.context, MOTET_NO_MEMORY, __FILE__,
                                             __LINE__, "no memory for an open HDF5 file");
        return NULL;
    }
    d->owner = owner;
    d->end = owner->source.bytes;
    owner->opened = d;
    return &d->base;
}

static herr_t close_owner(H5FD_t *base)
{
    driver *d = (driver *)base;
    if (d->owner) d->owner->opened = NULL;
    free(d);
    return 0;
}

static herr_t features(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
                 H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *base, H5FD_mem_t kind)
{
    (void)kind;
    return ((const driver *)base)->allocated;
}

static herr_t set_allocated(H5FD_t *base, H5FD_mem_t kind, haddr_t address)
{
    (void)kind;
    ((driver *)base)->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *base, H5FD_mem_t kind)
{
    (void)kind;
    return ((const driver *)base)->end;
}

static herr_t read_some(H5FD_t *base, H5FD_mem_t kind, hid_t transfer, haddr_t address,
                        size_t bytes, void *out)
{
    (void)transfer;
    driver *d = (driver *)base;
    hdf5_file *owner = d->owner;
    if (!owner || address == HADDR_UNDEF || bytes > d->allocated || address > d->allocated - bytes)
        return -1;
    /* Past the end HDF5 expects zeros; rows that are not there are no zeros. */
    const size_t there = address >= d->end          ? 0
                         : bytes > d->end - address ? (size_t)(d->end - address)
                                                    : bytes;
    if (there < bytes && kind == H5FD_MEM_DRAW && !owner->writing) return -1;
    memset((char *)out + there, 0, bytes - there);
    if (!there) return 0;
    if (owner->io != MOTET_OK) return -1;
    owner->io = owner->source.host->read(owner->source.file, address, there, out);
    return owner->io == MOTET_OK ? 0 : -1;
}

static herr_t write_some(H5FD_t *base, H5FD_mem_t kind, hid_t transfer, haddr_t address,
                         size_t bytes, const void *data)
{
    (void)kind, (void)transfer;
    driver *d = (driver *)base;
    hdf5_file *owner = d->owner;
    if (!owner) return 0;
    if (!owner->writing) return -1;
    if (owner->io == MOTET_OK && !owner->abandoned)
        owner->io = owner->source.host->write(owner->source.file, address, bytes, data);
    if (address + bytes > d->end) d->end = address + bytes;
    return 0;
}

/* The file ends where HDF5's space ends: what it never wrote reads as zeros. */
static herr_t truncate_owner(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    driver *d = (driver *)base;
    const char zero = 0;
    if (!d->owner || !d->owner->writing || d->allocated <= d->end) return 0;
    return write_some(base, H5FD_MEM_DEFAULT, H5P_DEFAULT, d->allocated - 1, 1, &zero);
}

hid_t hdf5_access(hdf5_file *file)
{
    const H5FD_class_t class_ = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)600,
#endif
        .name = "motet",
        .maxaddr = (haddr_t)INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(driver_info),
        .open = open_owner,
        .close = close_owner,
        .query = features,
        .get_eoa = get_allocated,
        .set_eoa = set_allocated,
        .get_eof = get_end,
        .read = read_some,
        .write = write_some,
        .truncate = truncate_owner,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    const driver_info info = {file};
    if (file->driver < 0) file->driver = H5FDregister(&class_);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (file->driver < 0 || access < 0 || H5Pset_driver(access, file->driver, &info) < 0 ||
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0) {
        if (access >= 0) H5Pclose(access);
        return H5I_INVALID_HID;
    }
    return access;
}
