/* Scans in HDF5: DataExchange (De Carlo et al., J. Synchrotron Rad. 21:1224, 2014) and the NeXus
 * application definition NXtomo.
 *
 * DataExchange: /exchange/{data, data_white, data_dark, theta}; the pixel in
 * /measurement/instrument/detector/{actual_pixel_size_x, pixel_size_x}, metres unless `units` says
 * otherwise. NXtomo: one stack of frames, each with an image_key (0 sample, 1 flat, 2 dark, 3
 * invalid) and a rotation_angle; the pixel in x_pixel_size beside the data. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <motet/job.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/angles.h"
#include "ct/scan.h"
#include "store/file.h"

motet_status scan_is_hdf5(motet_context *context, const char *path, int *found)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    struct stat status;
    *found = 0;
    if (!stat(path, &status) && S_ISDIR(status.st_mode)) return MOTET_OK; /* of pages */
    store_file file;
    TRY(file_open(context, path, &file));
    motet_status st = MOTET_OK;
    unsigned char bytes[8];
    /* A user block may come first: the signature lies at 0, 512, 1024, 2048, ... */
    for (int64_t offset = 0;
         st == MOTET_OK && !*found && offset <= 1 << 20 && offset + 8 <= file.size;
         offset = offset ? 2 * offset : 512) {
        st = file_read(&file, offset, sizeof bytes, bytes);
        *found = st == MOTET_OK && !memcmp(bytes, signature, sizeof bytes);
    }
    file_close(&file);
    return st;
}

/* ---- Names ---- */

static int has_entry(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = names; *line;) {
        const size_t bytes = strcspn(line, "\n");
        if (bytes == length && !memcmp(line, name, length)) return 1;
        line += bytes + (line[bytes] == '\n');
    }
    return 0;
}

/* The first entry that ends in `ending` and shares the longest beginning with `near`; free with
 * mem_free. */
static motet_status find_entry(motet_context *context, const char *names, const char *ending,
                               const char *near, char **out)
{
    const size_t length = strlen(ending);
    const char *best = NULL;
    size_t best_bytes = 0, most = 0;
    for (const char *line = names; *line;) {
        const size_t bytes = strcspn(line, "\n");
        if (bytes >= length && !memcmp(line + bytes - length, ending, length)) {
            size_t shared = 0;
            while (near && shared < bytes && near[shared] == line[shared]) shared++;
            if (!best || shared > most) best = line, best_bytes = bytes, most = shared;
        }
        line += bytes + (line[bytes] == '\n');
    }
    *out = NULL;
    if (!best) return MOTET_OK;
    if (!(*out = mem_zero(context, best_bytes + 1)))
        return fail(context, MOTET_NO_MEMORY, "no memory for a name");
    memcpy(*out, best, best_bytes);
    return MOTET_OK;
}

/* ---- Small datasets ---- */

/* A text attribute; "" if there is none. */
static motet_status read_text(motet_store *store, const char *name, char *out, size_t bytes)
{
    const motet_status st = motet_store_text(store, name, out, bytes);
    if (st == MOTET_NOT_FOUND) out[0] = 0;
    return st == MOTET_NOT_FOUND ? MOTET_OK : st;
}

/* All values of a dataset of any shape; `unit` gets its units or "". */
static motet_status read_values(motet_context *context, const char *path, const char *entry,
                                int64_t expected, double *out, char unit[32])
{
    motet_store *store = NULL;
    motet_store_info info;
    TRY(motet_store_open(context, path, entry, &store));
    motet_store_describe(store, &info);
    motet_status st = MOTET_OK;
    int64_t count = 1;
    for (int axis = 0; axis < info.axes; axis++) count *= info.shape[axis];
    if (count != expected)
        TRY_GOTO(fail(context, MOTET_BAD_SHAPE, "%s: %s has %lld values, expected %lld", path,
                      entry, (long long)count, (long long)expected));
    unit[0] = 0;
    TRY_GOTO(read_text(store, "units", unit, 32));
    st = motet_store_read(store, 0, info.axes ? info.shape[0] : 1, MOTET_F64, out);
out:
    motet_store_free(store);
    return st;
}

/* A length in mm; 0 when the unit is unknown. Without one NeXus and DataExchange mean metres. */
static double in_millimetres(double value, const char *unit)
{
    static const struct {
        const char *text;
        double millimetres;
    } units[] = {
        {"", 1e3},           {"m", 1e3},          {"meter", 1e3},       {"metre", 1e3},
        {"meters", 1e3},     {"metres", 1e3},     {"cm", 10.0},         {"mm", 1.0},
        {"millimeter", 1.0}, {"millimetre", 1.0}, {"millimeters", 1.0}, {"um", 1e-3},
        {"micron", 1e-3},    {"microns", 1e-3},   {"micrometer", 1e-3}, {"micrometre", 1e-3},
        {"\xc2\xb5m", 1e-3}, {"\xce\xbcm", 1e-3}, {"nm", 1e-6}};
    if (!(value > 0.0) || value - value != 0.0) return 0.0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(unit, units[i].text)) return value * units[i].millimetres;
    return 0.0;
}

static motet_status read_pitch(motet_ct_scan *scan, const char *entry)
{
    double value;
    char unit[32];
    TRY(read_values(scan->context, scan->path, entry, 1, &value, unit));
    scan->info.pitch = in_millimetres(value, unit);
    if (scan->info.pitch == 0.0)
        log_warning(scan->context, "ct.scan", "%s: %s is no length that is understood; ignored",
                    scan->path, entry);
    else if (!unit[0])
        log_warning(scan->context, "ct.scan", "%s: %s has no unit; taken as %s metres", scan->path,
                    entry, number_text(value, (char[NUMBER_TEXT]){0}));
    return MOTET_OK;
}

static motet_status need_angles(motet_ct_scan *scan, const char *entry)
{
    return fail(scan->context, MOTET_BAD_DATA, "%s: no %s, and options.angles gives none",
                scan->path, entry);
}

/* ---- DataExchange ---- */

static motet_status open_exchange(motet_ct_scan *scan, const motet_ct_scan_options *options,
                                  const char *names, scan_parts *parts)
{
    motet_context *c = scan->context;
    strcpy(scan->info.format, "DataExchange");
    TRY(scan_frames_open(c, scan->path, "/exchange/data", 0, &scan->data));
    char axes[64];
    TRY(read_text(scan->data.store, "axes", axes, sizeof axes));
    if (axes[0] && strcmp(axes, "theta:y:x"))
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: the axes of /exchange/data are \"%s\", expected \"theta:y:x\"", scan->path,
                    axes);
    const int64_t views = scan->data.count;
    if (!options->angles) {
        if (!has_entry(names, "/exchange/theta")) return need_angles(scan, "/exchange/theta");
        if (!(scan->angles = mem_array(c, double, views)))
            return fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld angles", scan->path,
                        (long long)views);
        char unit[32];
        TRY(read_values(c, scan->path, "/exchange/theta", views, scan->angles, unit));
        TRY(angles_convert(c, scan->path, unit[0] ? unit : NULL, views, scan->angles));
    }
    if (!options->line_integrals) {
        if (!options->flats && has_entry(names, "/exchange/data_white")) {
            TRY(scan_frames_open(c, scan->path, "/exchange/data_white", 1, &parts->flats));
            parts->flat_count = parts->flats.count;
        }
        if (!options->darks && has_entry(names, "/exchange/data_dark")) {
            TRY(scan_frames_open(c, scan->path, "/exchange/data_dark", 1, &parts->darks));
            parts->dark_count = parts->darks.count;
        }
    }
    static const char *const pixel[] = {"/measurement/instrument/detector/actual_pixel_size_x",
                                        "/measurement/instrument/detector/pixel_size_x"};
    for (int i = 0; i < 2; i++)
        if (has_entry(names, pixel[i])) return read_pitch(scan, pixel[i]);
    return MOTET_OK;
}

/* ---- NXtomo ---- */

static motet_status sort_frames(motet_ct_scan *scan, const double *key, const double *angle,
                                scan_parts *parts)
{
    motet_context *c = scan->context;
    const int64_t frames = scan->data.count;
    int64_t views = 0, flats = 0, darks = 0;
    for (int64_t i = 0; i < frames; i++) {
        views += key[i] == 0.0;
        flats += key[i] == 1.0;
        darks += key[i] == 2.0;
        if (!(key[i] == 0.0 || key[i] == 1.0 || key[i] == 2.0 || key[i] == 3.0))
            return fail(c, MOTET_BAD_DATA,
                        "%s: frame %lld has an image_key that is not 0, 1, 2 or 3", scan->path,
                        (long long)i);
    }
    if (views < 1)
        return fail(c, MOTET_BAD_DATA, "%s: none of the %lld frames has image_key 0 (sample)",
                    scan->path, (long long)frames);
    scan->frame_of_view = mem_array(c, int64_t, views);
    parts->flat_index = mem_array(c, int64_t, flats + 1);
    parts->dark_index = mem_array(c, int64_t, darks + 1);
    if (angle) scan->angles = mem_array(c, double, views);
    if (!scan->frame_of_view || !parts->flat_index || !parts->dark_index ||
        (angle && !scan->angles))
        return fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld frames", scan->path,
                    (long long)frames);
    int64_t view = 0;
    for (int64_t i = 0; i < frames; i++)
        if (key[i] == 0.0) {
            if (angle) scan->angles[view] = angle[i];
            scan->frame_of_view[view++] = i;
        } else if (key[i] == 1.0)
            parts->flat_index[parts->flat_count++] = i;
        else if (key[i] == 2.0)
            parts->dark_index[parts->dark_count++] = i;
    scan->info.views = views;
    return MOTET_OK;
}

static motet_status open_nxtomo(motet_ct_scan *scan, const motet_ct_scan_options *options,
                                const char *names, const char *key_entry, scan_parts *parts)
{
    motet_context *c = scan->context;
    motet_status st = MOTET_OK;
    char *data = NULL, *rotation = NULL, *pixel = NULL, unit[32];
    double *key = NULL, *angle = NULL;
    strcpy(scan->info.format, "NXtomo");
    /* The data lie beside the keys. */
    const size_t group = strlen(key_entry) - strlen("image_key");
    if (!(data = mem_format(c, "%.*sdata", (int)group, key_entry)) ||
        !(pixel = mem_format(c, "%.*sx_pixel_size", (int)group, key_entry)))
        TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for a name", scan->path));
    if (!has_entry(names, data))
        TRY_GOTO(
            fail(c, MOTET_BAD_DATA, "%s: %s has no %s beside it", scan->path, key_entry, data));
    TRY_GOTO(scan_frames_open(c, scan->path, data, 0, &scan->data));
    const int64_t frames = scan->data.count;
    if (!(key = mem_array(c, double, frames)))
        TRY_GOTO(
            fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld keys", scan->path, (long long)frames));
    TRY_GOTO(read_values(c, scan->path, key_entry, frames, key, unit));
    if (!options->angles) {
        TRY_GOTO(find_entry(c, names, "/rotation_angle", key_entry, &rotation));
        if (!rotation) TRY_GOTO(need_angles(scan, "rotation_angle"));
        if (!(angle = mem_array(c, double, frames)))
            TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld angles", scan->path,
                          (long long)frames));
        TRY_GOTO(read_values(c, scan->path, rotation, frames, angle, unit));
    }
    TRY_GOTO(sort_frames(scan, key, angle, parts));
    if (angle)
        TRY_GOTO(
            angles_convert(c, scan->path, unit[0] ? unit : NULL, scan->info.views, scan->angles));
    if (!options->flats && parts->flat_count) parts->flats = scan->data;
    if (!options->darks && parts->dark_count) parts->darks = scan->data;
    if (has_entry(names, pixel)) TRY_GOTO(read_pitch(scan, pixel));
out:
    mem_free(c, data);
    mem_free(c, rotation);
    mem_free(c, pixel);
    mem_free(c, key);
    mem_free(c, angle);
    return st;
}

motet_status scan_open_hdf5(motet_ct_scan *scan, const motet_ct_scan_options *options,
                            scan_parts *parts, int *found)
{
    char *names = NULL, *key = NULL;
    TRY(motet_store_entries(scan->context, scan->path, &names));
    motet_status st = MOTET_OK;
    *found = 1;
    if (has_entry(names, "/exchange/data"))
        TRY_GOTO(open_exchange(scan, options, names, parts));
    else {
        TRY_GOTO(find_entry(scan->context, names, "/image_key", NULL, &key));
        if (key)
            TRY_GOTO(open_nxtomo(scan, options, names, key, parts));
        else
            *found = 0;
    }
out:
    mem_free(scan->context, key);
    motet_text_free(scan->context, names);
    return st;
}
