/* The flags of the commands under ct, but for those that say where views are: ct_views_flags.c. */
#include "ct_flags.h"

#include <stddef.h>

#define WHOLE_AT_LEAST(n) FLAG_WHOLE, 0, (n), 9e15
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }
#define ENTRY                                                                                      \
    {                                                                                              \
        "entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /exchange/data",   \
            NULL, "dataset of an HDF5 file or member of an NPZ file"                               \
    }
#define NAN_AS_ZERO                                                                                \
    {                                                                                              \
        "nan-as-zero", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,                                  \
            "take values that are not finite or beyond 1e30 as 0, counts as blocked rays; else "   \
            "they are refused"                                                                     \
    }
#define RANGE                                                                                      \
    {                                                                                              \
        "range", 0, FLAG_INTERVAL, MAY_BE_AUTO, 0, 0, "LO:HI|auto",                                \
            "two numbers LO:HI with LO < HI, or auto", NULL,                                       \
            "values that become 0 and the highest integer; auto: minimum and maximum"              \
    }

#define FILTER                                                                                     \
    {"window",                                                                                     \
     0,                                                                                            \
     FLAG_CHOICE,                                                                                  \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "ram-lak|shepp-logan|cosine|hamming|hann",                                                    \
     "ram-lak, shepp-logan, cosine, hamming or hann",                                              \
     "ram-lak",                                                                                    \
     "window on the ramp filter, sharp to smooth"},                                                \
        {"cutoff",  0,                                                                             \
         FLAG_REAL, NOT_ZERO,                                                                      \
         0,         1,                                                                             \
         "F",       "a fraction above 0, at most 1",                                               \
         "1",       "part of the Nyquist frequency that passes"},                                  \
    {                                                                                              \
        "pad", 0, FLAG_WHOLE, 0, 0, 1000000, "N", "a whole number of columns from 0 to 1000000",   \
            "0",                                                                                   \
            "columns by which each end is continued with its edge value, for objects wider than "  \
            "the "                                                                                 \
            "detector"                                                                             \
    }

const flag ct_info_flags[] = {ENTRY, END};

const flag ct_convert_flags[] = {
    ENTRY,
    {"out-entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /exchange/data",
     "/data", "dataset to write in an HDF5 file"},
    {"dtype", 0, FLAG_CHOICE, 0, 0, 0, "f32|f64|u8|u16|i32|i64", "f32, f64, u8, u16, i32 or i64",
     "the input's", "type of the values written"},
    RANGE,
    {"sinogram", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
     "swap the last two axes: (view, v, u) of TIFF, MHA and HDF5 and (view, u, v) of NPY"},
    END};

const flag ct_simulate_flags[] = {
    {"output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE", "a path ending in .h5", NULL,
     "the scan, DataExchange HDF5"},
    {"views", 0, FLAG_WHOLE, 0, 1, 1000000, "N", "a whole number from 1 to 1000000", "180",
     "angles"},
    {"rows", 0, FLAG_WHOLE, 0, 1, 1000000, "N", "a whole number from 1 to 1000000", "4",
     "rows of the detector"},
    {"columns", 0, FLAG_WHOLE, 0, 1, 1000000, "N", "a whole number from 1 to 1000000", "128",
     "columns of the detector"},
    {"flats", 0, FLAG_WHOLE, 0, 0, 10000, "N", "a whole number from 0 to 10000", "10",
     "frames of the open beam"},
    {"darks", 0, FLAG_WHOLE, 0, 0, 10000, "N", "a whole number from 0 to 10000", "10",
     "frames without beam"},
    {"center", 0, FLAG_REAL, 0, -1e7, 1e7, "X", "a number of pixels", "(columns - 1) / 2",
     "column of the rotation axis, 0-based"},
    {"arc", 0, FLAG_REAL, 0, 1e-6, 36000, "DEGREES", "an angle from 1e-6 to 36000 degrees", "180",
     "from the first view to the last"},
    {"counts", 0, FLAG_REAL, 0, 0, 40000, "N", "a number from 0 to 40000", "20000",
     "mean counts of the open beam; 0: no noise"},
    {"pitch", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0", "0.05",
     "of the detector"},
    {"seed", 0, WHOLE_AT_LEAST(0), "N", "a whole number of at least 0", "0",
     "of the noise; the same seed gives the same scan"},
    END};

const flag ct_recon_flags[] = {
    {"output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE",
     "a path ending in .mha, .npy, .tif, .h5, or / for a folder of TIFF pages", NULL,
     "the volume: .mha .npy .tif .h5, or a folder of TIFF pages (ends in /); .h5 keeps the unit "
     "and what integers stand for"},
    {"png", 0, FLAG_FILE, 0, 0, 0, "FILE", "a path ending in .png", NULL,
     "picture of one slice, grey, row 0 on top; from the 0.5 to the 99.5 percentile of the "
     "values inside the circle"},
    {"slice", 0, WHOLE_AT_LEAST(0), "N", "a whole number of at least 0", "the middle",
     "slice of the picture, counted from the first reconstructed"},
    {"center", 0, FLAG_REAL, MAY_BE_AUTO, -1e7, 1e7, "X|auto", "a number of pixels, or auto",
     "auto", "column of the rotation axis, 0-based; auto: found from the middle rows"},
    {"rows", 0, FLAG_SPAN, 0, 0, 0, "A:B", "two whole numbers A:B with 0 <= A < B", "all",
     "detector rows A to B - 1"},
    {"angles", 0, FLAG_TEXT, 0, 0, 0, "START:STOP|FILE",
     "two angles in degrees START:STOP, or a file", "the scan's",
     "evenly spaced angles in degrees, both ends included; or a file, one angle a line or .npy"},
    {"entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /data", NULL,
     "dataset with the views, of HDF5 that is neither DataExchange nor NXtomo, or member of an NPZ "
     "file"},
    {"flats", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", "the scan's",
     "frames of the open beam (motet ct convert --entry takes a dataset out of HDF5)"},
    {"darks", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", "the scan's", "frames without beam"},
    {"line-integrals", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
     "the data are line integrals already: no flats, darks or logarithm"},
    NAN_AS_ZERO,
    FILTER,
    {"mask", 0, FLAG_REAL, MAY_BE_BARE | NOT_ZERO, 0, 10, "R", "a radius above 0, at most 10", "1",
     "voxels outside a circle become 0; R is its radius over half the slice's width"},
    {"size", 0, FLAG_SIZE, 0, 1, 1e6, "NX[xNY]", "a number of voxels NX or NXxNY from 1 to 1000000",
     "the columns", "voxels of a slice"},
    {"voxel", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0", "the pitch",
     "size of a voxel"},
    {"pitch", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0", "the scan's, else 1",
     "distance of two detector columns and of two rows"},
    {"dtype", 0, FLAG_CHOICE, 0, 0, 0, "f32|u16|u8", "f32, u16 or u8", "f32",
     "type of the values written"},
    RANGE,
    {"slab", 0, WHOLE_AT_LEAST(1), "ROWS", "a whole number of at least 1", "chosen from memory",
     "rows held at once; never changes results"},
    {"resume", 0, FLAG_FILE, 0, 0, 0, "FOLDER", "a folder", NULL,
     "keep what is finished in a folder, up to half of the free space there; the same command goes "
     "on from it after Ctrl-C, a kill or a full disk; removed when all is done"},
    {"supervise", 0, FLAG_CHOICE, 0, 0, 0, "auto|yes|no", "auto, yes or no", "auto",
     "compute in a process of its own and replace it, without losing what is finished, when it is "
     "killed, crashes or falls silent; auto: where a GPU is used"},
    END};

/* ---- Views in space ---- */

const flag ct_scan_flags[] = {
    {"line-integrals", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
     "the data are line integrals already: no flats, darks or logarithm"},
    {"flats", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", "the scan's", "frames of the open beam"},
    {"darks", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", "the scan's", "frames without beam"},
    {"entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /data", NULL,
     "dataset with the views, of HDF5 that is neither DataExchange nor NXtomo, or member of an NPZ "
     "file"},
    NAN_AS_ZERO,
    END};

#define FROM_DISK                                                                                  \
    {                                                                                              \
        "from-disk", 0, FLAG_CHOICE, 0, 0, 0, "auto|yes|no", "auto, yes or no", "auto",            \
            "work from file to file, part by part; auto: where the arrays do not fit in memory; "  \
            "never changes results"                                                                \
    }

/* Of all that make a volume, or line integrals. */
#define VOLUME                                                                                     \
    {                                                                                              \
        "output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE",                                            \
            "a path ending in .mha, .npy, .tif, .h5, or / for a folder of TIFF pages", NULL,       \
            "the volume (z, y, x), float32: .mha .npy .tif .h5, or a folder of TIFF pages (ends "  \
            "in /)"                                                                                \
    }
#define PICTURE(what)                                                                              \
    {"png",                                                                                        \
     0,                                                                                            \
     FLAG_FILE,                                                                                    \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "FILE",                                                                                       \
     "a path ending in .png",                                                                      \
     NULL,                                                                                         \
     "picture of one " what ", grey, from the 0.5 to the 99.5 percentile of the values inside "    \
     "the circle"},                                                                                \
    {                                                                                              \
        "slice", 0, WHOLE_AT_LEAST(0), "N", "a whole number of at least 0", "the middle",          \
            what " of the picture"                                                                 \
    }
#define KEEP                                                                                       \
    {"resume",                                                                                     \
     0,                                                                                            \
     FLAG_FILE,                                                                                    \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "FOLDER",                                                                                     \
     "a folder",                                                                                   \
     NULL,                                                                                         \
     "keep what is finished in a folder; the same command goes on from it; removed when all is "   \
     "done"},                                                                                      \
    {                                                                                              \
        "supervise", 0, FLAG_CHOICE, 0, 0, 0, "auto|yes|no", "auto, yes or no", "auto",            \
            "compute in a process of its own and replace it when it is killed, crashes or falls "  \
            "silent; auto: where a GPU is used"                                                    \
    }

const flag ct_project_flags[] = {
    {"output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE",
     "a path ending in .npy, .mha, .tif, .h5, or / for a folder of TIFF pages", NULL,
     "line integrals, float32: (view, u, v) in .npy; (view, v, u) in .mha .tif .h5 or a folder of "
     "TIFF pages (ends in /)"},
    PICTURE("view"),
    ENTRY,
    NAN_AS_ZERO,
    FROM_DISK,
    KEEP,
    END};

const flag ct_backproject_flags[] = {VOLUME, PICTURE("slice"), FROM_DISK, KEEP, END};

const flag ct_phantom_flags[] = {
    {"output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE",
     "a path ending in .npy, .mha, .tif, .h5, or / for a folder of TIFF pages", NULL,
     "exact line integrals, float32: (view, u, v) in .npy; (view, v, u) elsewhere"},
    {"truth", 0, FLAG_FILE, 0, 0, 0, "FILE",
     "a path ending in .mha, .npy, .tif, .h5, or / for a folder of TIFF pages", NULL,
     "the head as a volume (z, y, x): what a reconstruction should find"},
    PICTURE("view"),
    {"radius", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0",
     "half of the volume's least side", "half width of the cube that holds the head"},
    {"value", 0, FLAG_REAL, 0, -1e9, 1e9, "X", "a number", "1", "attenuation of bone per mm"},
    {"points", 0, FLAG_WHOLE, 0, 1, 64, "N", "a whole number from 1 to 64", "1",
     "along each side of a pixel or voxel, of which the mean is taken; 1: its middle"},
    END};

const flag ct_check_geometry_flags[] = {
    {"png", 0, FLAG_FILE, 0, 0, 0, "FILE", "a path ending in .png", NULL,
     "drawing of the scan, along the axis and from the side: the volume grey, sources red, "
     "detectors blue, the rays of the first view orange, the isocentre a cross"},
    {"save", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", NULL,
     "write the views as Motet's own JSON, one entry per view"},
    END};

#define ITERATIONS(most)                                                                           \
    {"iterations",         0, FLAG_WHOLE, 0, 0, 1e12, "N", "a whole number of at least 0", most,   \
     "iterations, at most"},                                                                       \
        {"tolerance", 0,                                                                           \
         FLAG_REAL,   0,                                                                           \
         0,           1e9,                                                                         \
         "F",         "a number of at least 0",                                                    \
         "0",         "done when the residual is at most this part of the data's norm; 0: never"}, \
        {"stall",                                                                                  \
         0,                                                                                        \
         FLAG_REAL,                                                                                \
         0,                                                                                        \
         0,                                                                                        \
         0.999999,                                                                                 \
         "F",                                                                                      \
         "a number of at least 0, below 1",                                                        \
         "0",                                                                                      \
         "done when an iteration lessens the residual by less than this part of it; 0: never"},    \
    {                                                                                              \
        "initial", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file with a volume", "zeros",                 \
            "the volume that it begins at"                                                         \
    }
#define CHECKPOINT                                                                                 \
    {                                                                                              \
        "resume", 0, FLAG_FILE, 0, 0, 0, "FOLDER", "a folder", NULL,                               \
            "keep a copy of the iterates in a folder; the same command, or one with more "         \
            "iterations, goes on from it; removed when all is done"                                \
    }

const flag ct_cgls_flags[] = {VOLUME,    PICTURE("slice"), ITERATIONS("30"),
                              FROM_DISK, CHECKPOINT,       END};

const flag ct_sirt_flags[] = {
    VOLUME,
    PICTURE("slice"),
    ITERATIONS("30"),
    {"relaxation", 0, FLAG_REAL, NOT_ZERO, 0, 1.999999, "F", "a number above 0, below 2", "1",
     "part of each correction that is applied"},
    {"nonnegative", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL, "the same as --least 0"},
    {"least", 0, FLAG_REAL, 0, -1e30, 1e30, "X", "a number", NULL, "no voxel is below"},
    {"greatest", 0, FLAG_REAL, 0, -1e30, 1e30, "X", "a number", NULL, "no voxel is above"},
    FROM_DISK,
    CHECKPOINT,
    END};

const flag ct_fdk_flags[] = {
    VOLUME,
    PICTURE("slice"),
    FILTER,
    {"weights-scheme", 0, FLAG_CHOICE, 0, 0, 0, "auto|full|short|offset",
     "auto, full, short or offset", "auto",
     "how rays that were measured twice share: full: alike; short: an arc of less than a turn; "
     "offset: a detector off the axis; auto: by arc and place of the detector"},
    FROM_DISK,
    KEEP,
    END};
