/* motet ct info: what a file is. A scan if it can be read as one, else an array. */
#include <stdio.h>
#include <string.h>

#include "words.h"

static const double degrees = 57.29577951308232; /* of a radian */

/* Names come from files: what would steer a terminal is shown as '?'. */
static void say(const char *text)
{
    for (; *text; text++) putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
    putchar('\n');
}

static void line(const run *r, const char *name, const char *text)
{
    if (!r->talks) return;
    printf("  %-10s", name);
    say(text);
}

static void tell_entries(run *r, const char *path)
{
    char *names = NULL;
    if (motet_store_entries(r->context, path, &names) != MOTET_OK) return;
    json_t *list = json_array();
    for (const char *at = names; *at;) {
        const size_t n = strcspn(at, "\n");
        char name[512];
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        line(r, at == names ? "entries" : "", name);
        json_array_append_new(list, json_string(name));
        at += n + (at[n] == '\n');
    }
    json_object_set_new(r->result, "entries", list);
    motet_text_free(r->context, names);
}

static void tell_scan(run *r, const motet_ct_scan *scan)
{
    motet_ct_scan_info i;
    char text[WORDS], first[WORDS], last[WORDS];
    motet_ct_scan_describe(scan, &i);
    json_t *o = r->result;
    json_object_set_new(o, "kind", json_string("scan"));
    json_object_set_new(o, "format", json_string(i.format));
    json_object_set_new(o, "views", json_integer(i.views));
    json_object_set_new(o, "rows", json_integer(i.rows));
    json_object_set_new(o, "columns", json_integer(i.columns));
    json_object_set_new(o, "flats", json_integer(i.flats));
    json_object_set_new(o, "darks", json_integer(i.darks));
    json_object_set_new(o, "type", json_string(motet_type_text(i.type)));
    json_object_set_new(o, "first_angle", json_finite(i.first_angle * degrees));
    json_object_set_new(o, "last_angle", json_finite(i.last_angle * degrees));
    json_object_set_new(o, "pitch", i.pitch > 0 ? json_finite(i.pitch) : json_null());

    snprintf(text, sizeof text, "scan, %s", i.format);
    line(r, "what", text);
    snprintf(text, sizeof text, "%lld views of %lld rows x %lld columns", (long long)i.views,
             (long long)i.rows, (long long)i.columns);
    line(r, "shape", text);
    line(r, "type", motet_type_text(i.type));
    snprintf(text, sizeof text, "%.60s to %.60s degrees",
             words_real(i.first_angle * degrees, 7, first),
             words_real(i.last_angle * degrees, 7, last));
    line(r, "angles", text);
    snprintf(text, sizeof text, "%lld", (long long)i.flats);
    line(r, "flats", text);
    snprintf(text, sizeof text, "%lld", (long long)i.darks);
    line(r, "darks", text);
    if (i.pitch > 0)
        snprintf(text, sizeof text, "%.60s mm", words_real(i.pitch, 7, first));
    else
        snprintf(text, sizeof text, "the file does not say");
    line(r, "pixel", text);
}

static void tell_array(run *r, motet_store *store)
{
    motet_store_info i;
    char text[WORDS];
    motet_store_describe(store, &i);
    json_object_set_new(r->result, "kind", json_string("array"));
    json_object_set_new(r->result, "format", json_string(i.format));
    json_object_set_new(r->result, "type", json_string(motet_type_text(i.type)));
    json_object_set_new(r->result, "shape", json_shape(i.shape, i.axes));
    json_t *spacing = json_array();
    size_t n = 0;
    snprintf(text, sizeof text, "array, %s", i.format);
    line(r, "what", text);
    line(r, "shape", words_shape(i.shape, i.axes, text));
    line(r, "type", motet_type_text(i.type));
    int known = 0;
    for (int axis = 0; axis < i.axes && n + 32 < sizeof text; axis++) {
        const int said = i.spacing[axis] > 0;
        known |= said;
        json_array_append_new(spacing, said ? json_finite(i.spacing[axis]) : json_null());
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.7g", axis ? " x " : "",
                              i.spacing[axis]);
    }
    line(r, "spacing", known ? text : "the file does not say");
    json_object_set_new(r->result, "spacing", spacing);
}

static int info(run *r)
{
    const char *path = r->args->positional[0], *entry = args_text(r->args, "entry");
    run_input(r, path);
    const int code = run_check_distinct(r);
    if (code) return code;
    motet_ct_scan *scan = NULL;
    motet_error as_scan = {0};
    motet_status st = MOTET_UNSUPPORTED;
    if (!entry) {
        st = motet_ct_scan_open(r->context, path, NULL, &scan);
        if (st != MOTET_OK) motet_context_error(r->context, &as_scan);
    }
    if (st == MOTET_OK) {
        if (r->talks) say(path);
        tell_scan(r, scan);
        motet_ct_scan_free(scan);
    } else {
        motet_store *store = NULL;
        const motet_status array = motet_store_open(r->context, path, entry, &store);
        char *names = NULL;
        if (array == MOTET_BAD_ARGUMENT && !entry &&
            motet_store_entries(r->context, path, &names) == MOTET_OK) {
            /* Several datasets, none of them a scan: naming them is the answer. */
            motet_text_free(r->context, names);
            if (r->talks) say(path);
            line(r, "what", "several arrays; --entry picks one");
            json_object_set_new(r->result, "kind", json_string("container"));
        } else if (array != MOTET_OK) {
            return run_fail(r, r->context, array);
        } else {
            if (r->talks) say(path);
            tell_array(r, store);
            motet_store_free(store);
        }
        if (*as_scan.message) {
            char hint[RUN_HINT], why[sizeof as_scan.message + RUN_HINT];
            snprintf(why, sizeof why, "%s%s", as_scan.message,
                     run_hint(r, as_scan.status, as_scan.message, hint));
            line(r, "no scan", why);
            json_object_set_new(r->result, "not_a_scan", json_string(as_scan.message));
        }
    }
    tell_entries(r, path);
    return EXIT_OK;
}

int run_ct_info(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    code = info(&r);
    return run_end(&r, code);
}
