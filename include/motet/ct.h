/* Computed tomography. Any geometry is made in ct_geometry.h; here is the parallel beam whose
 * slices are independent.
 *
 * Geometry. The world is (x, y, z), millimetres or any one length unit; results are per that unit.
 * View k looks along (-sin a_k, cos a_k, 0); the detector's u axis is (cos a_k, sin a_k, 0), its v
 * axis is +z. The rotation axis is z. Column u of the detector lies at (u - centre) * pitch_u
 * along the u axis. Voxel (iz, iy, ix) is a box of size voxel around
 * ((ix - (nx-1)/2) * voxel, (iy - (ny-1)/2) * voxel); slice iz sees detector row iz and no other.
 *
 * Arrays: volume (z, y, x); sinogram (view, u, v) with v fastest, so slices lie side by side.
 * float32.
 *
 * The projector is Siddon's: a ray's value is the sum over voxels of value times chord length
 * (R. L. Siddon, Med. Phys. 12(2):252, 1985). Back-projection is its exact transpose. */
#ifndef MOTET_CT_H
#define MOTET_CT_H

#include <motet/array.h>
#include <motet/ct_geometry.h>
#include <motet/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_ct_parallel {
    uint32_t size;
    int64_t views, columns, rows; /* of the sinogram: (views, columns, rows) */
    const double *angles;         /* radians, one per view, any order; copied */
    double pitch;                 /* of a column, in length units */
    double centre;                /* column of the rotation axis, 0-based, may be fractional;
                                     NaN: (columns - 1) / 2 */
    int64_t nx, ny;               /* voxels of a slice; 0: columns */
    double voxel;                 /* size of a voxel; 0: the pitch */
} motet_ct_parallel;

MOTET_API void motet_ct_parallel_init(motet_ct_parallel *parallel);
/* BAD_ARGUMENT names the field, its value and what was expected: sizes < 1 (rows may be
 * 0) or > 2^30, pitch or voxel not positive and finite, voxel / pitch outside 1/1024 to 1024, an
 * angle that is not finite or beyond 1e6, a centre more than 10 detector widths away.
 * Warns (log) when the angles look like degrees. */
MOTET_API motet_status motet_ct_geometry_parallel(motet_context *context,
                                                  const motet_ct_parallel *parallel,
                                                  motet_ct_geometry **out);

/* sinogram = A volume; volume = transpose(A) sinogram. Shapes: volume (rows, ny, nx) or (nz, ny,
 * nx), sinogram (views, columns, rows); else BAD_SHAPE. */
MOTET_API motet_status motet_ct_project(motet_ct_geometry *geometry, const motet_array *volume,
                                        motet_array *sinogram);
MOTET_API motet_status motet_ct_backproject(motet_ct_geometry *geometry,
                                            const motet_array *sinogram, motet_array *volume);

/* X(name, number, text) */
#define MOTET_CT_WINDOW_LIST(X)                                                                    \
    X(RAM_LAK, 0, "ram-lak")                                                                       \
    X(SHEPP_LOGAN, 1, "shepp-logan")                                                               \
    X(COSINE, 2, "cosine")                                                                         \
    X(HAMMING, 3, "hamming")                                                                       \
    X(HANN, 4, "hann")

typedef enum motet_ct_window {
#define MOTET_CT_WINDOW_ENUM(name, number, text) MOTET_CT_##name = number,
    MOTET_CT_WINDOW_LIST(MOTET_CT_WINDOW_ENUM)
#undef MOTET_CT_WINDOW_ENUM
} motet_ct_window;

typedef struct motet_ct_filter_options {
    uint32_t size;
    motet_ct_window window;
    double cutoff; /* fraction of the Nyquist frequency above which nothing passes, (0, 1]; default
                      1 */
    int64_t pad;   /* columns by which each end is continued with its edge value; default 0 */
} motet_ct_filter_options;

MOTET_API void motet_ct_filter_options_init(motet_ct_filter_options *options);

/* Ramp-filters each detector row (band-limited ramp sampled in space: Kak and Slaney, Principles
 * of Computerized Tomographic Imaging, 1988, eq. 3.3.61), linear convolution; output in the input's
 * units per length. In place is legal (output == input). `options` may be NULL. BAD_ARGUMENT: an
 * unknown window, cutoff outside (0, 1], pad < 0. */
MOTET_API motet_status motet_ct_filter(motet_ct_geometry *geometry,
                                       const motet_ct_filter_options *options,
                                       const motet_array *sinogram, motet_array *filtered);

/* Filtered back-projection: the volume's attenuation per length unit. Views are weighted by the
 * angle they stand for (half the distance to their neighbours modulo pi), so uneven and > 180
 * degree scans are right; a missing wedge is warned about. Filtered views are interpolated linearly
 * between columns, or averaged over voxels larger than columns. Of views in space: motet_ct_fdk
 * with its default weights. `options` may be NULL. BAD_SHAPE; BAD_ARGUMENT: as for motet_ct_filter;
 * NO_MEMORY; CANCELLED. */
MOTET_API motet_status motet_ct_fbp(motet_ct_geometry *geometry,
                                    const motet_ct_filter_options *options,
                                    const motet_array *sinogram, motet_array *volume);

/* Rotation axis from a sinogram (view, u, v) of at least about 180 degrees: 0-based column,
 * searched for between a tenth and nine tenths of the width. `angles`: radians, one per view.
 * `quality` in [0, 1] is how far the best centre stands out; below 0.02 it is a guess, which is
 * warned about (a flat sinogram: the middle, 0). From mirrored views where the scan holds them,
 * else from the part of the sinogram's spectrum that a consistent one leaves empty (Vo and others,
 * Opt. Express 22:19078, 2014). BAD_SHAPE: not float32 with three axes that are not empty;
 * BAD_ARGUMENT: an angle that is not finite or beyond 1e6; NO_MEMORY; CANCELLED. */
MOTET_API motet_status motet_ct_find_centre(motet_context *context, const motet_array *sinogram,
                                            const double *angles, double *centre, double *quality);

/* ---- Scans: raw counts in files ---- */

typedef struct motet_ct_scan motet_ct_scan;

typedef struct motet_ct_scan_options {
    uint32_t size;
    const char *flats,
        *darks;         /* files; NULL: those of the scan's own file (DataExchange, NXtomo) */
    const char *angles; /* "start:stop" in degrees, evenly spaced, stop included, or a file
                           (text: one angle in degrees per line; .npy); NULL: the file's own */
    int line_integrals; /* 1: the data are line integrals already: no flats, darks, logarithm */
    const char *entry;  /* dataset of an HDF5 file or member of an NPZ file that holds the views and
                           nothing else; NULL: found by the file's own layout */
    int no_angles;      /* 1: none are needed, as the geometry comes from elsewhere; where there are
                           none they are 0 */
    int nan_as_zero;    /* 1: values that are not finite, or beyond 1e30, are taken as 0: a line
                           integral of 0, a blocked ray; else they are refused */
} motet_ct_scan_options;

typedef struct motet_ct_scan_info {
    char format[32]; /* "DataExchange", "NXtomo", "tiff", ... */
    int64_t views, rows, columns, flats, darks;
    motet_type type;
    double first_angle, last_angle; /* radians */
    double pitch;                   /* length units (mm); 0: the file does not say */
} motet_ct_scan_info;

MOTET_API void motet_ct_scan_options_init(motet_ct_scan_options *options);
/* HDF5: /exchange/{data,data_white,data_dark,theta} or NXtomo with image_key. Other stores: (view,
 * v, u) for TIFF, MHA and HDF5, (view, u, v) for NPY. `options` may be NULL. As motet_store_open,
 * and: NOT_FOUND: no angles; BAD_DATA: no flats, an angle that is no number; BAD_SHAPE: angles,
 * flats or darks that do not fit the views; CANCELLED. Warns of a guessed unit of angles, no darks,
 * dead pixels. */
MOTET_API motet_status motet_ct_scan_open(motet_context *context, const char *path,
                                          const motet_ct_scan_options *options,
                                          motet_ct_scan **out);
MOTET_API void motet_ct_scan_describe(const motet_ct_scan *scan, motet_ct_scan_info *out);
/* views angles in radians; lives as long as the scan. */
MOTET_API const double *motet_ct_scan_angles(const motet_ct_scan *scan);
/* Line integrals of detector rows [first, first + rows) as a sinogram (view, u, v): -log of
 * (data - dark) / (flat - dark), the ratio clamped from below to 2^-20; values clamped are counted
 * and warned about. A pixel that is dead in the flats takes the line integrals of the nearest live
 * pixels of its row, weighted by distance. BAD_SHAPE, BAD_ARGUMENT (rows that the scan has not),
 * IO, BAD_DATA: the file is cut short, or values are not finite or beyond 1e30 (how many, and the
 * place of the first in the file; options.nan_as_zero takes them, and they are warned about);
 * NO_MEMORY, CANCELLED; the sinogram is then untouched, unless it is MOTET_WRITE_DIRECT. */
MOTET_API motet_status motet_ct_scan_read(motet_ct_scan *scan, int64_t first,
                                          motet_array *sinogram);
MOTET_API void motet_ct_scan_free(motet_ct_scan *scan);

/* ---- A whole reconstruction, slab by slab, from a scan to a store ---- */

typedef struct motet_ct_recon_options {
    uint32_t size;
    motet_ct_filter_options filter;
    double centre;     /* NaN: found from the middle rows */
    int64_t first_row; /* detector rows [first_row, first_row + rows); rows 0: all the rest */
    int64_t rows;
    int64_t nx, ny;    /* 0: columns */
    double pitch;      /* detector pitch in length units; 0: the scan's, else 1 */
    double voxel;      /* 0: the pitch */
    double mask;       /* radius of the circle outside which voxels become 0, as a fraction of the
                          half width of the slice; 0: no mask */
    int64_t slab_rows; /* rows reconstructed at once; 0: chosen from memory. Never changes bits.
                          A slab reads its own rows of each frame; NPY (view, u, v) and frames
                          packed whole are read again for every slab */
} motet_ct_recon_options;

typedef struct motet_ct_recon_result {
    double centre, centre_quality; /* quality 0 when the centre was given */
    int64_t clamped;               /* measurements clamped before the logarithm */
    double minimum, maximum;       /* of the volume */
    char digest[33];               /* of the volume as float32 (rows, ny, nx) */
} motet_ct_recon_result;

MOTET_API void motet_ct_recon_options_init(motet_ct_recon_options *options);
/* Receives each finished slab in ascending order: `rows` slices of (ny, nx) from row `first` of
 * the volume, on the thread that called motet_ct_recon. Any status but MOTET_OK ends the run with
 * that status; slabs received before are whole. */
typedef motet_status motet_ct_slab_fn(int64_t first, int64_t rows, const float *slices, void *user);
/* `options`, `slab` and `result` may be NULL. Slices are counted from first_row, values are per
 * unit of pitch. BAD_ARGUMENT names the option; OVER_BUDGET: not one row fits the context's
 * host_memory; NO_MEMORY, IO, BAD_DATA, CANCELLED; `result` is then untouched. */
MOTET_API motet_status motet_ct_recon(motet_ct_scan *scan, const motet_ct_recon_options *options,
                                      motet_ct_slab_fn *slab, void *user,
                                      motet_ct_recon_result *result);

/* ---- A scan made from nothing, to try things on ---- */

typedef struct motet_ct_simulate_options {
    uint32_t size;
    int64_t views, rows, columns; /* defaults 180, 4, 128 */
    int64_t flats,
        darks;     /* frames; defaults 10, 10; 0 is legal: no noise-free substitute is written */
    double centre; /* column of the rotation axis; default (columns - 1) / 2 */
    double arc;    /* degrees, both ends included; default 180 */
    double counts; /* mean counts of an open beam; 0: no noise. Default 20000 */
    double pitch;  /* mm; default 0.05 */
    uint64_t seed;
} motet_ct_simulate_options;

MOTET_API void motet_ct_simulate_options_init(motet_ct_simulate_options *options);
/* Writes a DataExchange HDF5 scan of a Shepp-Logan head (exact chords of ellipses; the scale
 * changes from row to row), as uint16 counts with gain, dark current and Poisson noise (L. A.
 * Shepp, B. F. Logan, IEEE Trans. Nucl. Sci. 21(3):21, 1974). `options` may be NULL. BAD_ARGUMENT
 * names the option; else as motet_store_create. */
MOTET_API motet_status motet_ct_simulate(motet_context *context,
                                         const motet_ct_simulate_options *options, const char *path,
                                         int overwrite);
/* The same phantom as attenuation per mm on the grid of a reconstruction: the known answer.
 * volume (rows, ny, nx), sampled at voxel centres averaged over 4 x 4 points; voxel in mm.
 * BAD_SHAPE; BAD_ARGUMENT: an option, or a voxel that is not positive; NO_MEMORY, CANCELLED. */
MOTET_API motet_status motet_ct_simulate_truth(motet_context *context,
                                               const motet_ct_simulate_options *options,
                                               double voxel, motet_array *volume);

#ifdef __cplusplus
}
#endif
#endif
