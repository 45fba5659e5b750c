/* Parameter files of LEAP (name = value) with a modular beam: source, middle of the detector module
 * and unit vectors of each view. Row vectors run from row to row, which is our v; column vectors
 * are our u. Pixel (centerRow, centerCol) is at the module's centre, counted in pixels. */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/paths/read.h"
#include "kern/exact.h"

typedef struct entry {
    const char *name, *former; /* as LEAP once called it */
    const char *value;         /* NULL: the file does not say */
} entry;

enum {
    NUM_X,
    NUM_Y,
    NUM_Z,
    VOXEL_WIDTH,
    VOXEL_HEIGHT,
    OFFSET_X,
    OFFSET_Y,
    OFFSET_Z,
    GEOMETRY,
    DETECTOR_TYPE,
    NUM_ANGLES,
    NUM_ROWS,
    NUM_COLS,
    PIXEL_HEIGHT,
    PIXEL_WIDTH,
    CENTER_ROW,
    CENTER_COL,
    SOURCES,
    CENTRES,
    ROW_VECTORS,
    COL_VECTORS,
    ENTRIES
};

static const entry known[ENTRIES] = {
    [NUM_X] = {"numX", "img_dimx", NULL},
    [NUM_Y] = {"numY", "img_dimy", NULL},
    [NUM_Z] = {"numZ", "img_dimz", NULL},
    [VOXEL_WIDTH] = {"voxelWidth", "img_pwidth", NULL},
    [VOXEL_HEIGHT] = {"voxelHeight", "img_pheight", NULL},
    [OFFSET_X] = {"offsetX", "img_offsetx", NULL},
    [OFFSET_Y] = {"offsetY", "img_offsety", NULL},
    [OFFSET_Z] = {"offsetZ", "img_offsetz", NULL},
    [GEOMETRY] = {"geometry", "proj_geometry", NULL},
    [DETECTOR_TYPE] = {"detectorType", "proj_detectorType", NULL},
    [NUM_ANGLES] = {"numAngles", "proj_nangles", NULL},
    [NUM_ROWS] = {"numRows", "proj_nrows", NULL},
    [NUM_COLS] = {"numCols", "proj_ncols", NULL},
    [PIXEL_HEIGHT] = {"pixelHeight", "proj_pheight", NULL},
    [PIXEL_WIDTH] = {"pixelWidth", "proj_pwidth", NULL},
    [CENTER_ROW] = {"centerRow", "proj_crow", NULL},
    [CENTER_COL] = {"centerCol", "proj_ccol", NULL},
    [SOURCES] = {"sourcePositions", "proj_srcpos", NULL},
    [CENTRES] = {"moduleCenters", "proj_modcenter", NULL},
    [ROW_VECTORS] = {"rowVectors", "proj_rowvec", NULL},
    [COL_VECTORS] = {"colVectors", "proj_colvec", NULL},
};

/* Finds the values of the names that matter: where they begin, up to the end of their line. */
static motet_status find(const paths_file *f, entry list[ENTRIES])
{
    memcpy(list, known, sizeof known);
    int64_t number = 0;
    for (const char *at = f->text; *at; at += *at == '\n') {
        number++;
        at += strspn(at, " \t\r");
        const size_t name = strcspn(at, " \t=#\r\n");
        const char *equals = at + name + strspn(at + name, " \t");
        if (*equals == '=') {
            for (int i = 0; i < ENTRIES; i++)
                if ((strlen(list[i].name) == name && !strncmp(at, list[i].name, name)) ||
                    (strlen(list[i].former) == name && !strncmp(at, list[i].former, name)))
                    list[i].value = equals + 1 + strspn(equals + 1, " \t");
        } else if (name) {
            return fail(f->context, MOTET_BAD_DATA,
                        "%s: line %lld: \"%.*s\", expected NAME = VALUE", f->path,
                        (long long)number, paths_word(at), at);
        }
        at += strcspn(at, "\n");
    }
    return MOTET_OK;
}

static int word_is(const char *value, const char *word)
{
    const size_t n = strcspn(value, " \t\r\n#");
    return strlen(word) == n && !strncmp(value, word, n);
}

static motet_status take_real(const paths_file *f, const entry *e, double *out)
{
    const char *at = e->value;
    if (!at) return MOTET_OK;
    if (!paths_number(&at, out))
        return fail(f->context, MOTET_BAD_DATA, "%s: %s is \"%.*s\", expected a number", f->path,
                    e->name, paths_word(e->value), e->value);
    return MOTET_OK;
}

static motet_status take_count(const paths_file *f, const entry *e, int64_t *out)
{
    double value = 0.0;
    TRY(take_real(f, e, &value));
    if (e->value && !(value >= 1.0 && value <= 1073741824.0 && k_floor(value) == value))
        return fail(f->context, MOTET_BAD_DATA,
                    "%s: %s is \"%.*s\", expected a whole number from 1 to 1073741824", f->path,
                    e->name, paths_word(e->value), e->value);
    *out = (int64_t)value;
    return MOTET_OK;
}

_Static_assert(sizeof(motet_ct_view) == 12 * sizeof(double), "a view is twelve numbers");

/* Three numbers a view, all on one line; out[12 k] on. */
static motet_status take_vectors(const paths_file *f, const entry *e, int64_t views, double *out)
{
    if (!e->value) return fail(f->context, MOTET_BAD_DATA, "%s says no %s", f->path, e->name);
    const char *at = e->value, *end = at + strcspn(at, "\n");
    for (int64_t k = 0; k < views; k++)
        for (int i = 0; i < 3; i++)
            if (!paths_number(&at, &out[12 * k + i]) || at > end)
                return fail(f->context, MOTET_BAD_DATA,
                            "%s: %s has %lld numbers, expected 3 for each of %lld views", f->path,
                            e->name, (long long)(3 * k + i), (long long)views);
    at += strspn(at, " \t\r,");
    if (at < end && *at != '#')
        return fail(f->context, MOTET_BAD_DATA,
                    "%s: %s has more than 3 numbers for each of %lld views", f->path, e->name,
                    (long long)views);
    return MOTET_OK;
}

static motet_status check_kind(const paths_file *f, const entry list[ENTRIES])
{
    const char *geometry = list[GEOMETRY].value, *type = list[DETECTOR_TYPE].value;
    if (!geometry) return fail(f->context, MOTET_BAD_DATA, "%s says no geometry", f->path);
    if (!word_is(geometry, "modular"))
        return fail(f->context, MOTET_UNSUPPORTED,
                    "%s: geometry is \"%.*s\", expected modular: convert_to_modularbeam() of LEAP "
                    "makes one",
                    f->path, paths_word(geometry), geometry);
    if (type && !word_is(type, "flat") && !word_is(type, "FLAT"))
        return fail(f->context, MOTET_UNSUPPORTED, "%s: detectorType is \"%.*s\", expected flat",
                    f->path, paths_word(type), type);
    return MOTET_OK;
}

static motet_status take_views(const paths_file *f, const entry list[ENTRIES], motet_ct_views *out)
{
    motet_ct_view *view;
    int64_t views = 0;
    TRY(take_count(f, &list[NUM_ANGLES], &views));
    /* Each takes some twelve numbers of two bytes: else a count alone would ask for memory. */
    if (views < 1 || (size_t)views > f->bytes / 24)
        return fail(f->context, MOTET_BAD_DATA,
                    "%s: numAngles is %lld, which its vectors do not fill", f->path,
                    (long long)views);
    TRY(paths_room(f, views, out, &view));
    double *numbers = (double *)view; /* source, detector, u, v of each */
    TRY(take_vectors(f, &list[SOURCES], views, numbers));
    TRY(take_vectors(f, &list[CENTRES], views, numbers + 3));
    TRY(take_vectors(f, &list[COL_VECTORS], views, numbers + 6));
    return take_vectors(f, &list[ROW_VECTORS], views, numbers + 9);
}

motet_status paths_read_leap(const paths_file *f, motet_ct_views *out)
{
    entry list[ENTRIES];
    double wide = 0.0, high = 0.0;
    TRY(find(f, list));
    TRY(check_kind(f, list));
    TRY(take_count(f, &list[NUM_COLS], &out->columns));
    TRY(take_count(f, &list[NUM_ROWS], &out->rows));
    TRY(take_count(f, &list[NUM_X], &out->nx));
    TRY(take_count(f, &list[NUM_Y], &out->ny));
    TRY(take_count(f, &list[NUM_Z], &out->nz));
    TRY(take_real(f, &list[PIXEL_WIDTH], &out->pitch_u));
    TRY(take_real(f, &list[PIXEL_HEIGHT], &out->pitch_v));
    TRY(take_real(f, &list[VOXEL_WIDTH], &wide));
    TRY(take_real(f, &list[VOXEL_HEIGHT], &high));
    memcpy(out->voxel, (double[3]){wide, wide, high}, sizeof out->voxel);
    for (int i = 0; i < 3; i++) TRY(take_real(f, &list[OFFSET_X + i], &out->centre[i]));
    TRY(take_views(f, list, out));

    double column = 0.5 * (double)(out->columns - 1), row = 0.5 * (double)(out->rows - 1);
    const double middle_u = column, middle_v = row;
    TRY(take_real(f, &list[CENTER_COL], &column));
    TRY(take_real(f, &list[CENTER_ROW], &row));
    const double u = (middle_u - column) * out->pitch_u, v = (middle_v - row) * out->pitch_v;
    motet_ct_view *view = (motet_ct_view *)(uintptr_t)out->view;
    for (int64_t k = 0; k < out->views; k++)
        for (int i = 0; i < 3; i++) view[k].detector[i] += k_fma(u, view[k].u[i], v * view[k].v[i]);
    return MOTET_OK;
}
