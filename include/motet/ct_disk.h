/* The operators and reconstructions from and to stores: for what does not fit in memory.
 *
 * Parts are read, computed and written as the context's host_memory (without a bound: three
 * quarters of what the machine has free) and the devices' memory allow; no budget changes a bit.
 * The next part is read while one is computed.
 *
 * Order of axes: volumes are (z, y, x). Sinograms are (view, u, v) in NPY and NPZ and (view, v, u)
 * in all other formats; they are turned on the way. Axes of size 1 may be missing. What is read may
 * be of any type, what is written is float32.
 *
 * A store that is written was begun by motet_ct_create_sinogram, motet_ct_create_volume or
 * motet_store_create, and all of it is then written; motet_store_commit is the caller's, so nothing
 * has taken the path when any of this failed. SAME_FILE: both stores lead to one file; BAD_SHAPE:
 * a store does not fit the geometry; BAD_ARGUMENT: a store is written that was opened, or read that
 * was begun; OVER_BUDGET: the message tells the least that would do; IO, BAD_DATA: the file cannot
 * be read or written, or is cut short; NO_MEMORY, CANCELLED. */
#ifndef MOTET_CT_DISK_H
#define MOTET_CT_DISK_H

#include <motet/ct_reconstruct.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As motet_store_create, in the order of axes that the path's ending has, with the pitch or voxel
 * as spacing. */
MOTET_API motet_status motet_ct_create_sinogram(motet_ct_geometry *geometry, const char *path,
                                                const char *entry, int overwrite,
                                                motet_store **out);
MOTET_API motet_status motet_ct_create_volume(motet_ct_geometry *geometry, const char *path,
                                              const char *entry, int overwrite, motet_store **out);

MOTET_API motet_status motet_ct_project_store(motet_ct_geometry *geometry, motet_store *volume,
                                              motet_store *sinogram);
MOTET_API motet_status motet_ct_backproject_store(motet_ct_geometry *geometry,
                                                  motet_store *sinogram, motet_store *volume);

/* As motet_ct_fdk. */
MOTET_API motet_status motet_ct_fdk_store(motet_ct_geometry *geometry,
                                          const motet_ct_fdk_options *options,
                                          motet_store *sinogram, motet_store *volume);

/* As motet_ct_cgls and motet_ct_sirt. `start` holds the volume to begin at, NULL: zeros; warm_start
 * of the options says the same, or BAD_ARGUMENT. Where the arrays of the solver do not fit, they
 * are files without names in the folder of the volume, and memory holds parts of them: up to six
 * volumes and four sinograms there. Then a run goes on after a lost device as long as another one
 * is left for what it was doing, and the checkpoint of a run that ended early is that of some step
 * before. The volume's commit comes after the call: keep_checkpoint insures it. */
MOTET_API motet_status motet_ct_cgls_store(motet_ct_geometry *geometry,
                                           const motet_ct_solve_options *options,
                                           motet_store *start, motet_store *sinogram,
                                           motet_store *volume, motet_ct_solve_result *result);
MOTET_API motet_status motet_ct_sirt_store(motet_ct_geometry *geometry,
                                           const motet_ct_solve_options *options,
                                           motet_store *start, motet_store *sinogram,
                                           motet_store *volume, motet_ct_solve_result *result);

#ifdef __cplusplus
}
#endif
#endif
