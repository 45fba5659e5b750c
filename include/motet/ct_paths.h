/* Where views come from: paths of source and detector, files of other programs, and whether they
 * make sense. All of it is made into views (ct_geometry.h). */
#ifndef MOTET_CT_PATHS_H
#define MOTET_CT_PATHS_H

#include <motet/ct_geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text) */
#define MOTET_CT_PATH_LIST(X)                                                                      \
    X(CIRCULAR, 0, "circular")                                                                     \
    X(HELICAL, 1, "helical")       /* rises by `rise` a turn, the middle of its angles at 0 */     \
    X(SADDLE, 2, "saddle")         /* height: amplitude * cos(2 angle) */                          \
    X(SINUSOIDAL, 3, "sinusoidal") /* height: amplitude * sin(periods * angle) */                  \
    X(RANDOM, 4, "random") /* directions spread over the sphere by a seed, tilted detectors */

typedef enum motet_ct_path {
#define MOTET_CT_PATH_ENUM(name, number, text) MOTET_CT_PATH_##name = number,
    MOTET_CT_PATH_LIST(MOTET_CT_PATH_ENUM)
#undef MOTET_CT_PATH_ENUM
} motet_ct_path;

/* At angle t the source is at sid * (sin t, -cos t, 0), the detector's middle at (sid - sdd) * the
 * same, u = (cos t, sin t, 0), v = +z; both at the path's height. u x v points to the source. */
typedef struct motet_ct_trajectory {
    uint32_t size;
    motet_ct_path path;
    double start, arc;    /* radians; views at start + arc * k / views, the end excluded */
    const double *angles; /* in place of start and arc; NULL: evenly spaced */
    double sid, sdd;      /* source to axis, source to detector; parallel: sid is not used and
                             sdd - sid is where the detector is */
    double rise, amplitude, periods;
    double shift_u, shift_v; /* of the detector along its axes, length units */
    double tilt;             /* of the detector about its normal, radians */
    uint64_t seed;
} motet_ct_trajectory;

MOTET_API void motet_ct_trajectory_init(motet_ct_trajectory *trajectory);
/* Writes views->views entries to `out`, which is the caller's; beam and number come from `views`.
 * BAD_ARGUMENT names the field. Warns of angles that look like degrees. */
MOTET_API motet_status motet_ct_trajectory_views(motet_context *context,
                                                 const motet_ct_trajectory *trajectory,
                                                 const motet_ct_views *views, motet_ct_view *out);
/* The same with the entries in `out->view`, which is freed with motet_ct_views_release; all else of
 * `out` is that of `views`. NO_MEMORY. */
MOTET_API motet_status motet_ct_trajectory_make(motet_context *context,
                                                const motet_ct_trajectory *trajectory,
                                                const motet_ct_views *views, motet_ct_views *out);
/* Frees `view` of views that were made or read, and sets it to NULL. */
MOTET_API void motet_ct_views_release(motet_context *context, motet_ct_views *views);

/* Angles for a trajectory, as motet_ct_scan_options takes them: "start:stop" in degrees, evenly
 * spaced, stop included, or a file (text: one angle in degrees a line; .npy). Writes `views`
 * radians. NOT_FOUND, IO, BAD_DATA; BAD_SHAPE: another number of angles. */
MOTET_API motet_status motet_ct_angles_read(motet_context *context, const char *text, int64_t views,
                                            double *angles);

/* A description in a file. X(name, number, text) */
#define MOTET_CT_GEOMETRY_FORMAT_LIST(X)                                                           \
    X(AUTO, 0, "auto")   /* by what is in it */                                                    \
    X(MOTET, 1, "motet") /* JSON, docs/geometry.md */                                              \
    X(ASTRA, 2, "astra") /* vectors: 12 numbers a view (cone, parallel3d) or 6 (fan, parallel);    \
                            NPY or text */                                                         \
    X(RTK, 3, "rtk")     /* ThreeDCircularGeometry XML */                                          \
    X(LEAP, 4, "leap")   /* parameters with modular-beam vectors */

typedef enum motet_ct_geometry_format {
#define MOTET_CT_GEOMETRY_FORMAT_ENUM(name, number, text) MOTET_CT_GEOMETRY_##name = number,
    MOTET_CT_GEOMETRY_FORMAT_LIST(MOTET_CT_GEOMETRY_FORMAT_ENUM)
#undef MOTET_CT_GEOMETRY_FORMAT_ENUM
} motet_ct_geometry_format;

/* Reads views from a file (docs/geometry.md). `given` (NULL: nothing) holds what the file may not
 * say: its beam is that of files that do not tell (ASTRA's); pitches, voxel and size of the volume
 * win over the file's where they are > 0; views, columns and rows that are > 0 must agree with the
 * file's, else BAD_ARGUMENT; any of these below 0 stands, without its sign, for what the file does
 * not say. What is said nowhere is BAD_ARGUMENT that names it. `out->view` is
 * freed with motet_ct_views_release. NOT_FOUND, IO, NO_MEMORY; BAD_DATA with place and reason;
 * UNSUPPORTED: not flat-panel parallel, fan or cone beams of one pitch. Warns of vectors without
 * their pitch. */
MOTET_API motet_status motet_ct_views_read(motet_context *context, const char *path,
                                           motet_ct_geometry_format format,
                                           const motet_ct_views *given, motet_ct_views *out);
/* Writes Motet's own format, which reads back to the same bits. As motet_ct_geometry_create;
 * EXISTS, IO. */
MOTET_API motet_status motet_ct_views_write(motet_context *context, const motet_ct_views *views,
                                            const char *path, int overwrite);

/* ---- Does it make sense? ---- */

typedef struct motet_ct_check {
    double magnification;            /* of the volume's middle, mean over views */
    double truncated_u, truncated_v; /* part of the volume's outline that falls outside the detector
                                        in the worst view: of the ellipse in its box along u, of the
                                        ellipse's height along v */
    double arc, largest_gap; /* radians, of the directions around their common axis, which stand for
                                half a step more at both ends; NaN: they have none */
    double needed; /* the arc that sees every ray: half a turn and the fan of the volume, as far as
                      the detector sees it; a turn where one side of the detector sees less of the
                      volume than the other; NaN with the arc. motet_ct_fdk asks the same */
    double axis[3], isocentre[3]; /* least-squares axis and the place where central rays meet:
                                     normals of the detector through the source, or (parallel)
                                     through one place of the detector */
    double isocentre_spread;      /* greatest distance of a central ray from it */
    double shift_u,
        shift_v;     /* of the projected isocentre from the detector's middle, pixels, mean */
    int mirrored;    /* u x v points from the detector to the source in all views: 0; in none: 1; in
                        some: -1 */
    int64_t inside;  /* views whose source is inside the volume's box */
    double steepest; /* greatest height of a ray over its length across, in voxels, as the column
                        form measures it; 0: v follows no axis of the volume */
    double pitch,
        largest_pitch; /* a cone beam along a helix: rise in a turn, and the most for which
                          the detector sees all rays that each voxel needs; else NaN */
    int columns;       /* 1: the column form runs */
    int warnings;      /* how many texts there are */
} motet_ct_check;

/* `texts` (NULL is legal): one sentence a line, each telling what to do; freed with
 * motet_text_free. UNSUPPORTED: the geometry was made by motet_ct_geometry_parallel; NO_MEMORY. */
MOTET_API motet_status motet_ct_geometry_check(const motet_ct_geometry *geometry,
                                               motet_ct_check *out, char **texts);

#ifdef __cplusplus
}
#endif
#endif
