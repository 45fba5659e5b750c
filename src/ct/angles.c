/* Angles: a range, a text file, an array; degrees or radians. */
#include "ct/angles.h"

#include <string.h>
#include <strings.h>

#include <motet/store.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/directions.h"
#include "store/file.h"

static const double degree = 0x1.1df46a2529d39p-6; /* in radians */

angles_unit angles_unit_of(const char *text)
{
    static const struct {
        const char *text;
        angles_unit unit;
    } units[] = {{"degrees", ANGLES_DEGREES}, {"degree", ANGLES_DEGREES}, {"deg", ANGLES_DEGREES},
                 {"radians", ANGLES_RADIANS}, {"radian", ANGLES_RADIANS}, {"rad", ANGLES_RADIANS}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(text, units[i].text)) return units[i].unit;
    return ANGLES_UNKNOWN;
}

angles_unit angles_guess(int64_t views, const double *angles)
{
    double least, most;
    if (views < 1) return ANGLES_UNKNOWN;
    return directions_look_like_degrees(angles, views, &least, &most) ? ANGLES_DEGREES
                                                                      : ANGLES_RADIANS;
}

motet_status angles_convert(motet_context *context, const char *path, const char *unit_text,
                            int64_t views, double *angles)
{
    for (int64_t k = 0; k < views; k++)
        if (!(angles[k] - angles[k] == 0.0))
            return fail(context, MOTET_BAD_DATA, "%s: the angle of view %lld is not a number", path,
                        (long long)k);
    angles_unit unit = unit_text ? angles_unit_of(unit_text) : ANGLES_UNKNOWN;
    const angles_unit guess = angles_guess(views, angles);
    if (unit == ANGLES_UNKNOWN) {
        unit = guess;
        log_warning(context, "ct.scan", "%s: the unit of the angles is %s%s%s; taken as %s", path,
                    unit_text ? "\"" : "not given", unit_text ? unit_text : "",
                    unit_text ? "\", which is unknown" : "",
                    unit == ANGLES_DEGREES ? "degrees" : "radians");
    } else if (unit == ANGLES_RADIANS && guess == ANGLES_DEGREES)
        log_warning(context, "ct.scan",
                    "%s: the angles are said to be radians but look like degrees: %s to %s", path,
                    number_text(angles[0], (char[NUMBER_TEXT]){0}),
                    number_text(angles[views - 1], (char[NUMBER_TEXT]){0}));
    else if (unit == ANGLES_DEGREES && guess == ANGLES_RADIANS && views > 2)
        log_warning(context, "ct.scan", "%s: degrees from %s to %s; are they radians?", path,
                    number_text(angles[0], (char[NUMBER_TEXT]){0}),
                    number_text(angles[views - 1], (char[NUMBER_TEXT]){0}));
    if (unit == ANGLES_DEGREES)
        for (int64_t k = 0; k < views; k++) angles[k] *= degree;
    return MOTET_OK;
}

/* 1 if the text is a range, which is then parsed into degrees. */
static int parse_range(const char *text, double *start, double *stop)
{
    char first[64];
    const char *colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof first) return 0;
    memcpy(first, text, (size_t)(colon - text));
    first[colon - text] = 0;
    return number_real(first, start) && number_real(colon + 1, stop) && *start - *start == 0.0 &&
           *stop - *stop == 0.0;
}

static motet_status read_text(motet_context *context, const char *path, int64_t views,
                              double *angles)
{
    store_file file;
    motet_status st = file_open(context, path, &file);
    if (st == MOTET_NOT_FOUND)
        return fail(context, st, "angles \"%s\": neither start:stop in degrees nor a file", path);
    TRY(st);
    enum { LINE = 1024 };
    char line[LINE + 1];
    int64_t count = 0, number = 0;
    for (int64_t offset = 0; offset < file.size;) {
        const int64_t left = file.size - offset;
        size_t bytes = left < LINE ? (size_t)left : LINE;
        TRY_GOTO(file_read(&file, offset, bytes, line));
        const char *stop = memchr(line, '\n', bytes);
        number++;
        if (!stop && left > LINE)
            TRY_GOTO(fail(context, MOTET_BAD_DATA,
                          "%s: line %lld has more than %d bytes, expected one angle in degrees",
                          path, (long long)number, (int)LINE));
        if (stop) bytes = (size_t)(stop - line);
        offset += (int64_t)bytes + 1;
        line[bytes] = 0;
        const int whole = strlen(line) == bytes; /* no zero byte within */
        char *begin = number == 1 && !strncmp(line, "\xef\xbb\xbf", 3) ? line + 3 : line;
        begin += strspn(begin, " \t");
        char *end = begin + strcspn(begin, "#\r");
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) end--;
        *end = 0;
        if (!*begin && whole) continue;
        double value;
        if (!whole || !number_real(begin, &value) || !(value - value == 0.0))
            TRY_GOTO(fail(context, MOTET_BAD_DATA,
                          "%s: line %lld is \"%.40s\", expected one angle in degrees", path,
                          (long long)number, begin));
        if (count < views) angles[count] = value;
        count++;
    }
    if (count != views)
        st = fail(context, MOTET_BAD_SHAPE, "%s: %lld angles, the scan has %lld views", path,
                  (long long)count, (long long)views);
out:
    file_close(&file);
    return st;
}

static motet_status read_store(motet_context *context, const char *path, int64_t views,
                               double *angles)
{
    motet_store *store = NULL;
    motet_store_info info;
    TRY(motet_store_open(context, path, NULL, &store));
    motet_store_describe(store, &info);
    motet_status st = MOTET_OK;
    int64_t count = 1;
    for (int axis = 0; axis < info.axes; axis++) count *= info.shape[axis];
    if (info.axes != 1 || count != views)
        st = fail(context, MOTET_BAD_SHAPE, "%s: %lld angles on %d axes, the scan has %lld views",
                  path, (long long)count, info.axes, (long long)views);
    else
        st = motet_store_read(store, 0, views, MOTET_F64, angles);
    motet_store_free(store);
    return st;
}

motet_status angles_given(motet_context *context, const char *text, int64_t views, double *angles)
{
    double *read = mem_array(context, double, views);
    if (!read) return fail(context, MOTET_NO_MEMORY, "no memory for %lld angles", (long long)views);
    motet_status st = MOTET_OK;
    double start, stop;
    const size_t length = strlen(text);
    if (parse_range(text, &start, &stop)) {
        if (views > 1 && start == stop)
            TRY_GOTO(fail(context, MOTET_BAD_ARGUMENT,
                          "angles \"%s\": the range is empty, the scan has %lld views", text,
                          (long long)views));
        for (int64_t k = 0; k < views; k++)
            read[k] =
                views > 1 ? start + (stop - start) * ((double)k / (double)(views - 1)) : start;
    } else if (length > 4 && !strcasecmp(text + length - 4, ".npy"))
        TRY_GOTO(read_store(context, text, views, read));
    else
        TRY_GOTO(read_text(context, text, views, read));
    TRY_GOTO(angles_convert(context, text, "degrees", views, read));
    memcpy(angles, read, (size_t)views * sizeof *angles);
out:
    mem_free(context, read);
    return st;
}
