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

/* Bytes of memory that arrays may take when there is a choice: a half of what the context has left;
 * without a bound, of what the machine has free. */
int64_t ct_disk_room(motet_context *context);
/* The folder that a file is in; to be released with mem_free. */
motet_status ct_disk_folder(motet_context *context, const motet_store *store, char **out);

#endif
