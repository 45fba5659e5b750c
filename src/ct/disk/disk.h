/* Arrays of a geometry whose home is a file. */
#ifndef MOTET_CT_DISK_INSIDE_H
#define MOTET_CT_DISK_INSIDE_H

#include <motet/ct_disk.h>

#include "ct/geometry.h"
#include "rt/disk.h"

/* The array that a store holds; the store lives longer. Free with motet_array_free. */
motet_status ct_disk_sinogram(motet_ct_geometry *geometry, motet_store *store, motet_array **out);
motet_status ct_disk_volume(motet_ct_geometry *geometry, motet_store *store, motet_array **out);

/* Both of them, of which `to` is written: SAME_FILE, BAD_ARGUMENT. */
motet_status ct_disk_pair(motet_ct_geometry *geometry, motet_store *sinogram, motet_store *volume,
                          int to_volume, motet_array *out[2]);

#endif
