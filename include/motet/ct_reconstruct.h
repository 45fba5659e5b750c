/* Reconstruction from line integrals, in memory: analytic and iterative. */
#ifndef MOTET_CT_RECONSTRUCT_H
#define MOTET_CT_RECONSTRUCT_H

#include <motet/ct.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Filtered back-projection of fan, cone and parallel beams ---- */

/* Rays that are measured twice share. Any path around an axis is taken: any arc, start and sense,
 * an axis off the volume's middle, a detector that is off the axis or turned. X(name, number, text)
 */
#define MOTET_CT_WEIGHTS_LIST(X)                                                                    \
    X(AUTO, 0, "auto")     /* by arc and place of the detector; what was chosen is logged */        \
    X(FULL, 1, "full")     /* every view by the angle it stands for, all its rays alike */          \
    X(SHORT, 2, "short")   /* an arc of less than a turn: F. Noo and others, Phys. Med. Biol.       \
                              47:2525, 2002, near D. L. Parker's weights, Med. Phys. 9:254, 1982 */ \
    X(OFFSET, 3, "offset") /* a detector off the axis: G. Wang, Med. Phys. 29:1634, 2002 */

typedef enum motet_ct_weights {
#define MOTET_CT_WEIGHTS_ENUM(name, number, text) MOTET_CT_WEIGHTS_##name = number,
    MOTET_CT_WEIGHTS_LIST(MOTET_CT_WEIGHTS_ENUM)
#undef MOTET_CT_WEIGHTS_ENUM
} motet_ct_weights;

typedef struct motet_ct_fdk_options {
    uint32_t size;
    motet_ct_filter_options filter;
    motet_ct_weights weights;
} motet_ct_fdk_options;

MOTET_API void motet_ct_fdk_options_init(motet_ct_fdk_options *options);
/* L. A. Feldkamp, L. C. Davis, J. W. Kress, J. Opt. Soc. Am. A 1(6):612, 1984; for one row,
 * fan-beam filtered back-projection; parallel rays, too. The volume's attenuation per length unit.
 * Filtered views are interpolated linearly, or averaged over voxels larger than a pixel. Weights
 * follow from the path of the source, so no centre of rotation is asked for. `options` may be NULL.
 * Warns, as motet_ct_geometry_check does, of an arc that is too short for the volume, a detector
 * that sees one side of the axis only, and a path that rises by more than the detector is high as
 * seen at the axis (less is taken, and shades). BAD_SHAPE; BAD_ARGUMENT: unknown weights, or as for
 * motet_ct_filter; UNSUPPORTED: views around no axis, or around one that is not nearest to the
 * detectors' v; NO_MEMORY; CANCELLED. */
MOTET_API motet_status motet_ct_fdk(motet_ct_geometry *geometry,
                                    const motet_ct_fdk_options *options,
                                    const motet_array *sinogram, motet_array *volume);

/* ---- Iterative ---- */

typedef struct motet_ct_iteration {
    int64_t number;  /* of iterations done; the first is 0, what it begins at */
    double residual; /* |b - A x| after them; of CGLS as its recurrence has it */
    double relative; /* residual / |b|; 0 when b is 0 */
} motet_ct_iteration;

/* Once for each number, in ascending order, on the thread that runs the solver. Any status but
 * MOTET_OK ends it with that status. */
typedef motet_status motet_ct_iteration_fn(const motet_ct_iteration *iteration, void *user);

typedef struct motet_ct_solve_options {
    uint32_t size;
    int64_t iterations;     /* at most; default 30 */
    double tolerance;       /* done when residual <= tolerance * |b|; 0: never */
    double stall;           /* done when the residual fell by less than this part; 0: never */
    int warm_start;         /* 1: begins at what the volume holds; 0: at zeros */
    double relaxation;      /* SIRT: 0 < relaxation < 2; default 1 */
    double least, greatest; /* SIRT: voxels are kept between; NaN: no bound */
    const char *checkpoint; /* folder from which the same call goes on; NULL: none */
    int keep_checkpoint;    /* 1: it stays after a success, too, as the iterations end, until
                               motet_ct_cgls_forget or motet_ct_sirt_forget: then the same call
                               answers the same without iterating */
    motet_ct_iteration_fn *each;
    void *user;
} motet_ct_solve_options;

/* X(name, number, text) */
#define MOTET_CT_STOP_LIST(X)                                                                      \
    X(ITERATIONS, 0, "iterations")                                                                 \
    X(TOLERANCE, 1, "tolerance")                                                                   \
    X(STALLED, 2, "stalled")                                                                       \
    X(EXACT, 3, "exact")         /* nothing is left to correct */                                  \
    X(UNDERFLOW, 4, "underflow") /* CGLS: its numbers are too small for float32; warned about */

typedef enum motet_ct_stop {
#define MOTET_CT_STOP_ENUM(name, number, text) MOTET_CT_STOP_##name = number,
    MOTET_CT_STOP_LIST(MOTET_CT_STOP_ENUM)
#undef MOTET_CT_STOP_ENUM
} motet_ct_stop;

typedef struct motet_ct_solve_result {
    int64_t iterations, resumed; /* done in all; of those by an earlier call */
    double residual, relative;   /* at the end */
    motet_ct_stop stop;
} motet_ct_solve_result;

MOTET_API void motet_ct_solve_options_init(motet_ct_solve_options *options);

/* Both: b is the sinogram, x the volume. `options` and `result` may be NULL. Dots are in float64 in
 * a fixed order; what they decide is the same on any devices. The volume and the result are written
 * when all is done, or not at all; a volume that is MOTET_WRITE_DIRECT is iterated in place and
 * undefined after a failure. With a checkpoint folder, whatever ended a call, the same call goes on
 * from the last snapshot, to the same bits; what becomes of the volume after a success,
 * keep_checkpoint insures. BAD_SHAPE; BAD_ARGUMENT names the option, or: volume and sinogram share
 * memory, the folder has a checkpoint of another computation; BAD_DATA: a value that is not finite
 * (its place is told), or values that pass float32 on the way; OVER_BUDGET, NO_MEMORY, IO,
 * CANCELLED. */

/* Conjugate gradients on the normal equations (M. R. Hestenes, E. Stiefel, J. Res. Natl. Bur.
 * Stand. 49:409, 1952): the least |b - A x|. Takes no bounds and no relaxation. */
MOTET_API motet_status motet_ct_cgls(motet_ct_geometry *geometry,
                                     const motet_ct_solve_options *options,
                                     const motet_array *sinogram, motet_array *volume,
                                     motet_ct_solve_result *result);
/* Simultaneous iterations, each voxel and ray by its own row or column sum (P. Gilbert, J. Theor.
 * Biol. 36:105, 1972; J. Gregor, T. Benson, IEEE Trans. Med. Imaging 27(7):918, 2008). Voxels that
 * no ray meets stay as they are. Projects once more than it iterates. */
MOTET_API motet_status motet_ct_sirt(motet_ct_geometry *geometry,
                                     const motet_ct_solve_options *options,
                                     const motet_array *sinogram, motet_array *volume,
                                     motet_ct_solve_result *result);

/* Removes the checkpoint in the folder, if there is one of that solver; the folder stays. IO;
 * NO_MEMORY. */
MOTET_API motet_status motet_ct_cgls_forget(motet_context *context, const char *folder);
MOTET_API motet_status motet_ct_sirt_forget(motet_context *context, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
