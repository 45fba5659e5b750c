/* Opening scans: every layout, and a message for everything that can be wrong with one. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VIEWS = 5, ROWS = 3, COLUMNS = 7, PIXELS = ROWS * COLUMNS, FLATS = 2, DARKS = 2 };

/* A small scan whose every value differs; frames (v, u). */
typedef struct sample {
    uint16_t data[VIEWS * PIXELS], flats[FLATS * PIXELS], darks[DARKS * PIXELS];
    double theta[VIEWS];
    double expected[VIEWS * PIXELS]; /* line integrals (view, u, v) */
} sample;

static void sample_fill(sample *s)
{
    uint64_t state = 1;
    for (int i = 0; i < VIEWS * PIXELS; i++)
        s->data[i] = (uint16_t)(1000 + test_random(&state) % 20000);
    for (int i = 0; i < FLATS * PIXELS; i++)
        s->flats[i] = (uint16_t)(30000 + test_random(&state) % 5000);
    for (int i = 0; i < DARKS * PIXELS; i++)
        s->darks[i] = (uint16_t)(100 + test_random(&state) % 50);
    for (int k = 0; k < VIEWS; k++) s->theta[k] = 36.0 * k;
    for (int k = 0; k < VIEWS; k++)
        for (int v = 0; v < ROWS; v++)
            for (int u = 0; u < COLUMNS; u++) {
                const int p = v * COLUMNS + u;
                const double flat = (s->flats[p] + s->flats[PIXELS + p]) / 2.0;
                const double dark = (s->darks[p] + s->darks[PIXELS + p]) / 2.0;
                s->expected[(k * COLUMNS + u) * ROWS + v] =
                    -log((s->data[k * PIXELS + p] - dark) / (flat - dark));
            }
}

static motet_store_info info_of(motet_type type, int axes, int64_t a, int64_t b, int64_t d)
{
    return (motet_store_info){.type = type, .axes = axes, .shape = {a, b, d}};
}

static void write_file(motet_context *c, const char *path, motet_type type, int axes, int64_t a,
                       int64_t b, int64_t d, const void *data)
{
    motet_store *store = NULL;
    const motet_store_info info = info_of(type, axes, a, b, d);
    assert_ok(c, motet_store_create(c, path, NULL, &info, 1, &store));
    assert_ok(c, motet_store_write(store, 0, a, data));
    assert_ok(c, motet_store_commit(store));
    motet_store_free(store);
}

/* Which parts an exchange file gets. */
typedef struct parts {
    int64_t views, flats, flat_rows, darks, thetas;
    const char *unit, *axes;
    const uint16_t *data, *flat_data;
    const double *theta;
    double pixel; /* without a unit; 0: none */
} parts;

static const char *write_exchange(motet_context *c, const sample *s, const parts *p,
                                  const char *name)
{
    const char *path = test_path(name);
    motet_store *store = NULL;
    motet_store_info info = info_of(MOTET_U16, 3, p->views, ROWS, COLUMNS);
    assert_ok(c, motet_store_create(c, path, "/exchange/data", &info, 1, &store));
    assert_ok(c, motet_store_write(store, 0, p->views, p->data ? p->data : s->data));
    if (p->axes) assert_ok(c, motet_store_set_text(store, NULL, "axes", p->axes));
    info = info_of(MOTET_U16, 3, p->flats, p->flat_rows ? p->flat_rows : ROWS, COLUMNS);
    if (p->flats)
        assert_ok(c, motet_store_add(store, "/exchange/data_white", &info,
                                     p->flat_data ? p->flat_data : s->flats));
    info = info_of(MOTET_U16, 3, p->darks, ROWS, COLUMNS);
    if (p->darks) assert_ok(c, motet_store_add(store, "/exchange/data_dark", &info, s->darks));
    info = info_of(MOTET_F64, 1, p->thetas, 0, 0);
    if (p->thetas) {
        assert_ok(c,
                  motet_store_add(store, "/exchange/theta", &info, p->theta ? p->theta : s->theta));
        if (p->unit) assert_ok(c, motet_store_set_text(store, "/exchange/theta", "units", p->unit));
    }
    info = info_of(MOTET_F64, 1, 1, 0, 0);
    if (p->pixel > 0.0)
        assert_ok(c, motet_store_add(store, "/measurement/instrument/detector/pixel_size_x", &info,
                                     &p->pixel));
    assert_ok(c, motet_store_commit(store));
    motet_store_free(store);
    return path;
}

static const parts whole = {
    .views = VIEWS, .flats = FLATS, .darks = DARKS, .thetas = VIEWS, .unit = "degrees"};

static void check_values(motet_context *c, motet_ct_scan *scan, const sample *s, double tolerance)
{
    motet_array *a = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, ROWS}, &a));
    assert_ok(c, motet_ct_scan_read(scan, 0, a));
    const float *got = motet_array_data(a);
    for (int i = 0; i < VIEWS * PIXELS; i++)
        if (!(fabs((double)got[i] - s->expected[i]) <= tolerance)) {
            print_error("value %d is %.9g, expected %.9g\n", i, (double)got[i], s->expected[i]);
            fail();
        }
    motet_array_free(a);
}

typedef struct heard {
    char text[8][512];
    int count;
} heard;

static void hear(motet_log_level level, const char *component, const char *text, void *user)
{
    heard *h = user;
    (void)component;
    if (level == MOTET_LOG_WARNING && h->count < 8)
        snprintf(h->text[h->count++], sizeof h->text[0], "%s", text);
}

static motet_context *listening(heard *h)
{
    memset(h, 0, sizeof *h);
    motet_context_options options;
    motet_context_options_init(&options);
    options.log = hear;
    options.log_user = h;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    return c;
}

static void assert_heard(const heard *h, const char *word)
{
    for (int i = 0; i < h->count; i++)
        if (strstr(h->text[i], word)) return;
    print_error("no warning says \"%s\"; heard %d, first \"%s\"\n", word, h->count, h->text[0]);
    fail();
}

/* DataExchange: shapes, angles and line integrals as float64 gives them. */
static void exchange_file(void **state)
{
    (void)state;
    heard h;
    motet_context *c = listening(&h);
    sample s;
    sample_fill(&s);
    motet_ct_scan *scan = NULL;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &whole, "whole.h5"), NULL, &scan));
    motet_ct_scan_info info;
    motet_ct_scan_describe(scan, &info);
    assert_string_equal(info.format, "DataExchange");
    assert_true(info.views == VIEWS && info.rows == ROWS && info.columns == COLUMNS);
    assert_true(info.flats == FLATS && info.darks == DARKS && info.type == MOTET_U16);
    assert_true(info.first_angle == 0.0 && fabs(info.last_angle - 144.0 * M_PI / 180.0) < 1e-14);
    assert_true(fabs(motet_ct_scan_angles(scan)[1] - 36.0 * M_PI / 180.0) < 1e-15);
    assert_true(info.pitch == 0.0);
    check_values(c, scan, &s, 4e-7);
    assert_int_equal(h.count, 0);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* A row read alone has the bits it has when all are read. */
static void rows_alone_have_the_same_bits(void **state)
{
    (void)state;
    motet_context *c = test_context();
    sample s;
    sample_fill(&s);
    motet_ct_scan *scan = NULL;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &whole, "rows.h5"), NULL, &scan));
    motet_array *all = NULL, *one = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, ROWS}, &all));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, 1}, &one));
    assert_ok(c, motet_ct_scan_read(scan, 0, all));
    for (int v = 0; v < ROWS; v++) {
        assert_ok(c, motet_ct_scan_read(scan, v, one));
        for (int i = 0; i < VIEWS * COLUMNS; i++)
            assert_memory_equal((float *)motet_array_data(all) + i * ROWS + v,
                                (float *)motet_array_data(one) + i, sizeof(float));
    }
    assert_status(c, motet_ct_scan_read(scan, 3, one), MOTET_BAD_ARGUMENT);
    assert_message(c, "rows 3 to 3", "0 to 2", NULL);
    motet_array_free(one);
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS + 1, 1}, &one));
    assert_status(c, motet_ct_scan_read(scan, 0, one), MOTET_BAD_SHAPE);
    assert_message(c, "8 columns", "7", NULL);
    motet_array_free(one);
    motet_array_free(all);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* NXtomo: frames are told apart by their keys, wherever they lie; invalid ones are left out. */
static void nxtomo_file(void **state)
{
    (void)state;
    heard h;
    motet_context *c = listening(&h);
    sample s;
    sample_fill(&s);
    enum { FRAMES = VIEWS + FLATS + DARKS + 1 };
    static const int32_t keys[FRAMES] = {1, 0, 0, 2, 3, 0, 0, 0, 1, 2};
    uint16_t frames[FRAMES * PIXELS];
    double angles[FRAMES], pixel = 25.0;
    int view = 0, flat = 0, dark = 0;
    for (int i = 0; i < FRAMES; i++) {
        uint16_t *to = frames + i * PIXELS;
        angles[i] = 999.0;
        memset(to, 0, PIXELS * sizeof *to);
        if (keys[i] == 0)
            angles[i] = s.theta[view], memcpy(to, s.data + view++ * PIXELS, PIXELS * 2);
        if (keys[i] == 1) memcpy(to, s.flats + flat++ * PIXELS, PIXELS * 2);
        if (keys[i] == 2) memcpy(to, s.darks + dark++ * PIXELS, PIXELS * 2);
    }
    const char *path = test_path("tomo.nxs");
    motet_store *store = NULL;
    motet_store_info info = info_of(MOTET_U16, 3, FRAMES, ROWS, COLUMNS);
    assert_ok(c, motet_store_create(c, path, "/entry/instrument/detector/data", &info, 1, &store));
    assert_ok(c, motet_store_write(store, 0, FRAMES, frames));
    info = info_of(MOTET_I32, 1, FRAMES, 0, 0);
    assert_ok(c, motet_store_add(store, "/entry/instrument/detector/image_key", &info, keys));
    info = info_of(MOTET_F64, 1, FRAMES, 0, 0);
    assert_ok(c, motet_store_add(store, "/entry/sample/rotation_angle", &info, angles));
    assert_ok(c, motet_store_set_text(store, "/entry/sample/rotation_angle", "units", "degree"));
    info = info_of(MOTET_F64, 1, 1, 0, 0);
    assert_ok(c, motet_store_add(store, "/entry/instrument/detector/x_pixel_size", &info, &pixel));
    assert_ok(
        c, motet_store_set_text(store, "/entry/instrument/detector/x_pixel_size", "units", "um"));
    assert_ok(c, motet_store_commit(store));
    motet_store_free(store);

    motet_ct_scan *scan = NULL;
    motet_ct_scan_info found;
    assert_ok(c, motet_ct_scan_open(c, path, NULL, &scan));
    motet_ct_scan_describe(scan, &found);
    assert_string_equal(found.format, "NXtomo");
    assert_true(found.views == VIEWS && found.flats == FLATS && found.darks == DARKS);
    assert_true(fabs(found.pitch - 0.025) < 1e-12);
    assert_true(fabs(motet_ct_scan_angles(scan)[VIEWS - 1] - 144.0 * M_PI / 180.0) < 1e-14);
    check_values(c, scan, &s, 4e-7);
    assert_int_equal(h.count, 0);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* NPY is (view, u, v), MHA (view, v, u); flats and darks come from files of their own. */
static void other_stores(void **state)
{
    (void)state;
    motet_context *c = test_context();
    sample s;
    sample_fill(&s);
    float turned[VIEWS * PIXELS], turned_flats[FLATS * PIXELS], turned_darks[DARKS * PIXELS];
    for (int k = 0; k < VIEWS; k++)
        for (int v = 0; v < ROWS; v++)
            for (int u = 0; u < COLUMNS; u++) {
                const int from = k * PIXELS + v * COLUMNS + u, to = k * PIXELS + u * ROWS + v;
                turned[to] = s.data[from];
                if (k < FLATS) turned_flats[to] = s.flats[from];
                if (k < DARKS) turned_darks[to] = s.darks[from];
            }
    write_file(c, test_path("d.npy"), MOTET_F32, 3, VIEWS, COLUMNS, ROWS, turned);
    write_file(c, test_path("f.npy"), MOTET_F32, 3, FLATS, COLUMNS, ROWS, turned_flats);
    write_file(c, test_path("k.npy"), MOTET_F32, 3, DARKS, COLUMNS, ROWS, turned_darks);
    write_file(c, test_path("d.mha"), MOTET_U16, 3, VIEWS, ROWS, COLUMNS, s.data);
    write_file(c, test_path("f.mha"), MOTET_U16, 3, FLATS, ROWS, COLUMNS, s.flats);
    write_file(c, test_path("theta.npy"), MOTET_F64, 1, VIEWS, 0, 0, s.theta);
    FILE *text = fopen(test_path("theta.txt"), "w");
    assert_non_null(text);
    fprintf(text, "# degrees\n0\n 36\n72  # third\n\n1.08e2\n144\n");
    fclose(text);
    const struct {
        const char *data, *flats, *darks, *angles;
    } cases[] = {{"d.npy", "f.npy", "k.npy", "0:144"},
                 {"d.mha", "f.mha", "k.npy", "theta.npy"},
                 {"d.npy", "f.mha", "k.npy", "theta.txt"}};
    for (int i = 0; i < 3; i++) {
        motet_ct_scan_options o;
        motet_ct_scan_options_init(&o);
        o.flats = test_path(cases[i].flats);
        o.darks = test_path(cases[i].darks);
        o.angles = i ? test_path(cases[i].angles) : cases[i].angles;
        motet_ct_scan *scan = NULL;
        assert_ok(c, motet_ct_scan_open(c, test_path(cases[i].data), &o, &scan));
        check_values(c, scan, &s, 4e-7);
        assert_true(fabs(motet_ct_scan_angles(scan)[3] - 108.0 * M_PI / 180.0) < 1e-14);
        motet_ct_scan_free(scan);
    }
    motet_context_free(c);
}

/* Line integrals pass through, (v, u) to (u, v), without flats; a NaN becomes 0 and is told. */
static void line_integrals_pass_through(void **state)
{
    (void)state;
    heard h;
    motet_context *c = listening(&h);
    float data[VIEWS * PIXELS];
    for (int i = 0; i < VIEWS * PIXELS; i++) data[i] = (float)i * 0.01f - 0.1f;
    data[8] = NAN;
    write_file(c, test_path("lines.mha"), MOTET_F32, 3, VIEWS, ROWS, COLUMNS, data);
    motet_ct_scan_options o;
    motet_ct_scan_options_init(&o);
    o.angles = "0:144";
    o.line_integrals = 1;
    motet_ct_scan *scan = NULL;
    motet_array *a = NULL;
    assert_ok(c, motet_ct_scan_open(c, test_path("lines.mha"), &o, &scan));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, ROWS}, &a));
    float *got = motet_array_data(a);
    got[3] = 77.0f;
    assert_status(c, motet_ct_scan_read(scan, 0, a), MOTET_BAD_DATA);
    char place[64];
    snprintf(place, sizeof place, "the first, at (%d, %d, %d), is nan", 8 / PIXELS,
             8 % PIXELS / COLUMNS, 8 % COLUMNS);
    assert_message(c, "lines.mha: 1 values are not finite", place, NULL);
    assert_true(got[3] == 77.0f);
    motet_ct_scan_free(scan);
    o.nan_as_zero = 1;
    assert_ok(c, motet_ct_scan_open(c, test_path("lines.mha"), &o, &scan));
    assert_ok(c, motet_ct_scan_read(scan, 0, a));
    for (int k = 0; k < VIEWS; k++)
        for (int v = 0; v < ROWS; v++)
            for (int u = 0; u < COLUMNS; u++) {
                const int from = k * PIXELS + v * COLUMNS + u;
                assert_true(got[(k * COLUMNS + u) * ROWS + v] == (from == 8 ? 0.0f : data[from]));
            }
    assert_heard(&h, "1 values are not finite or beyond 1e30; taken as 0");
    motet_array_free(a);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* Counts at or below the dark level clamp to 2^-20 and are told; NaN and infinity are refused, or
 * count as blocked where that is asked for, and are told. */
static void clamped_and_broken_counts(void **state)
{
    (void)state;
    heard h;
    motet_context *c = listening(&h);
    float data[VIEWS * PIXELS], flat[PIXELS], dark[PIXELS];
    for (int i = 0; i < VIEWS * PIXELS; i++) data[i] = 600.0f;
    for (int i = 0; i < PIXELS; i++) flat[i] = 1100.0f, dark[i] = 100.0f;
    data[3] = 100.0f; /* nothing came through */
    data[4] = -5.0f;
    data[5] = NAN;
    data[6] = INFINITY;
    data[9] = 1100.0f;
    data[10] = 1600.0f; /* brighter than the flat: negative */
    write_file(c, test_path("c.mha"), MOTET_F32, 3, VIEWS, ROWS, COLUMNS, data);
    write_file(c, test_path("cf.mha"), MOTET_F32, 3, 1, ROWS, COLUMNS, flat);
    write_file(c, test_path("ck.mha"), MOTET_F32, 3, 1, ROWS, COLUMNS, dark);
    motet_ct_scan_options o;
    motet_ct_scan_options_init(&o);
    o.angles = "0:144";
    o.flats = test_path("cf.mha");
    o.darks = test_path("ck.mha");
    motet_ct_scan *scan = NULL;
    motet_array *a = NULL;
    assert_ok(c, motet_ct_scan_open(c, test_path("c.mha"), &o, &scan));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, ROWS}, &a));
    assert_status(c, motet_ct_scan_read(scan, 0, a), MOTET_BAD_DATA);
    char place[64];
    snprintf(place, sizeof place, "the first, at (%d, %d, %d), is nan", 5 / PIXELS,
             5 % PIXELS / COLUMNS, 5 % COLUMNS);
    assert_message(c, "c.mha: 2 values are not finite", place, NULL);
    motet_ct_scan_free(scan);
    o.nan_as_zero = 1;
    assert_ok(c, motet_ct_scan_open(c, test_path("c.mha"), &o, &scan));
    assert_ok(c, motet_ct_scan_read(scan, 0, a));
    const float *got = motet_array_data(a);
    const double blocked = 20.0 * log(2.0);
    for (int u = 3; u < 7; u++) assert_true(fabs((double)got[u * ROWS] - blocked) < 1e-6);
    assert_true(fabs((double)got[0] - log(2.0)) < 1e-7);
    assert_true(got[2 * ROWS + 1] == 0.0f);
    assert_true(fabs((double)got[3 * ROWS + 1] + log(1.5)) < 1e-7);
    assert_heard(&h, "2 measurements at or below the dark level");
    assert_heard(&h, "2 values are not finite or beyond 1e30; taken as blocked");
    motet_array_free(a);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* A pixel that is dead in the flats takes its neighbours' line integrals, and is told. */
static void dead_pixels_are_bridged(void **state)
{
    (void)state;
    heard h;
    motet_context *c = listening(&h);
    sample s;
    sample_fill(&s);
    uint16_t flats[FLATS * PIXELS];
    memcpy(flats, s.flats, sizeof flats);
    static const int dead[] = {0, COLUMNS + 2, COLUMNS + 3, 3 * COLUMNS - 1};
    for (int i = 0; i < 4; i++) flats[dead[i]] = flats[PIXELS + dead[i]] = 50;
    parts p = whole;
    p.flat_data = flats;
    motet_ct_scan *scan = NULL;
    motet_array *a = NULL;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "dead.h5"), NULL, &scan));
    assert_heard(&h, "4 detector pixels are dead");
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, ROWS}, &a));
    assert_ok(c, motet_ct_scan_read(scan, 0, a));
    const float *got = motet_array_data(a);
    for (int k = 0; k < VIEWS; k++) {
        const double *e = s.expected + k * PIXELS;
        const float *g = got + k * PIXELS;
        assert_true(fabs((double)g[0] - e[ROWS]) < 1e-6);
        const double low = e[1 * ROWS + 1], high = e[4 * ROWS + 1];
        assert_true(fabs((double)g[2 * ROWS + 1] - (low + (high - low) / 3.0)) < 1e-6);
        assert_true(fabs((double)g[3 * ROWS + 1] - (low + (high - low) * 2.0 / 3.0)) < 1e-6);
        assert_true(fabs((double)g[6 * ROWS + 2] - e[5 * ROWS + 2]) < 1e-6);
    }
    motet_array_free(a);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

static void refused(motet_context *c, const char *path, const motet_ct_scan_options *o,
                    motet_status status, const char *word, const char *other)
{
    motet_ct_scan *scan = (motet_ct_scan *)&scan;
    assert_status(c, motet_ct_scan_open(c, path, o, &scan), status);
    assert_message(c, word, other, NULL);
    assert_ptr_equal(scan, &scan); /* untouched */
}

/* Everything that is wrong with a scan is named, with the values. */
static void wrong_scans_are_named(void **state)
{
    (void)state;
    motet_context *c = test_context();
    sample s;
    sample_fill(&s);
    motet_ct_scan_options o;
    motet_ct_scan_options_init(&o);
    parts p = whole;
    const motet_ct_scan_options blank = {0};
    refused(c, write_exchange(c, &s, &p, "w.h5"), &blank, MOTET_BAD_ARGUMENT, "size is 0",
            "motet_ct_scan_options_init");
    p.thetas = 4;
    refused(c, write_exchange(c, &s, &p, "w.h5"), NULL, MOTET_BAD_SHAPE, "4 values", "expected 5");
    p = whole, p.thetas = 0;
    refused(c, write_exchange(c, &s, &p, "w.h5"), NULL, MOTET_BAD_DATA, "/exchange/theta",
            "options.angles");
    p = whole, p.flats = 0;
    refused(c, write_exchange(c, &s, &p, "w.h5"), NULL, MOTET_BAD_DATA, "options.flats",
            "options.line_integrals");
    p = whole, p.flat_rows = 2;
    refused(c, write_exchange(c, &s, &p, "w.h5"), NULL, MOTET_BAD_SHAPE, "flats have 2 rows",
            "views 3");
    p = whole, p.axes = "y:theta:x";
    refused(c, write_exchange(c, &s, &p, "w.h5"), NULL, MOTET_UNSUPPORTED, "y:theta:x",
            "theta:y:x");
    double theta[VIEWS] = {0, 1, NAN, 3, 4};
    p = whole, p.theta = theta;
    refused(c, write_exchange(c, &s, &p, "w.h5"), NULL, MOTET_BAD_DATA, "view 2", "not a number");

    const char *good = write_exchange(c, &s, &whole, "good.h5");
    refused(c, test_path("absent.h5"), NULL, MOTET_NOT_FOUND, "absent.h5", "");
    refused(c, NULL, NULL, MOTET_BAD_ARGUMENT, "path", "NULL");
    o.angles = "0:x";
    refused(c, good, &o, MOTET_NOT_FOUND, "0:x", "start:stop");
    o.angles = "10:10";
    refused(c, good, &o, MOTET_BAD_ARGUMENT, "10:10", "5 views");
    FILE *text = fopen(test_path("four.txt"), "w");
    assert_non_null(text);
    fprintf(text, "0\n1\n2\n3\n");
    fclose(text);
    o.angles = test_path("four.txt");
    refused(c, good, &o, MOTET_BAD_SHAPE, "4 angles", "5 views");
    text = fopen(test_path("bad.txt"), "w");
    assert_non_null(text);
    fprintf(text, "0\n1 2\n");
    fclose(text);
    o.angles = test_path("bad.txt");
    refused(c, good, &o, MOTET_BAD_DATA, "line 2", "1 2");
    write_file(c, test_path("four.npy"), MOTET_F64, 1, 4, 0, 0, s.theta);
    o.angles = test_path("four.npy");
    refused(c, good, &o, MOTET_BAD_SHAPE, "4 angles", "5 views");

    motet_ct_scan_options_init(&o);
    write_file(c, test_path("plain.mha"), MOTET_U16, 3, VIEWS, ROWS, COLUMNS, s.data);
    refused(c, test_path("plain.mha"), &o, MOTET_BAD_DATA, "no angles", "options.angles");
    o.angles = "0:180";
    refused(c, test_path("plain.mha"), &o, MOTET_BAD_DATA, "no flat fields", "options.flats");
    write_file(c, test_path("flat2.npy"), MOTET_U16, 2, COLUMNS, ROWS + 1, 0, s.data);
    o.flats = test_path("flat2.npy");
    refused(c, test_path("plain.mha"), &o, MOTET_BAD_SHAPE, "flats have 4 rows", "views 3");
    write_file(c, test_path("two.npy"), MOTET_U16, 2, 5, 7, 0, s.data);
    refused(c, test_path("two.npy"), &o, MOTET_BAD_SHAPE, "2 axes", "(view, u, v)");
    motet_context_free(c);
}

/* Legal but odd scans are taken, with a warning that says what is odd. */
static void odd_scans_are_warned_about(void **state)
{
    (void)state;
    heard h;
    motet_context *c = listening(&h);
    sample s;
    sample_fill(&s);
    motet_ct_scan *scan = NULL;
    parts p = whole;
    p.darks = 0;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "no dark fields");
    motet_ct_scan_free(scan);
    h.count = 0;
    p = whole, p.unit = "radians";
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "look like degrees");
    assert_true(motet_ct_scan_angles(scan)[1] == 36.0);
    motet_ct_scan_free(scan);
    h.count = 0;
    p = whole, p.unit = NULL;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "taken as degrees");
    assert_true(fabs(motet_ct_scan_angles(scan)[1] - 36.0 * M_PI / 180.0) < 1e-15);
    motet_ct_scan_free(scan);
    h.count = 0;
    double theta[VIEWS] = {0, 0.7, 1.4, 2.1, 2.8};
    p.theta = theta;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "taken as radians");
    assert_true(motet_ct_scan_angles(scan)[1] == 0.7);
    motet_ct_scan_free(scan);
    h.count = 0;
    p = whole, p.views = p.thetas = 1;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "one view");
    motet_ct_scan_free(scan);
    h.count = 0;
    p = whole, p.pixel = 50.0;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "pixel_size_x has no unit; taken as 50 metres");
    motet_ct_scan_free(scan);
    h.count = 0;
    p = whole, p.theta = theta;
    assert_ok(c, motet_ct_scan_open(c, write_exchange(c, &s, &p, "o.h5"), NULL, &scan));
    assert_heard(&h, "are they radians?");
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange_file),
        cmocka_unit_test(rows_alone_have_the_same_bits),
        cmocka_unit_test(nxtomo_file),
        cmocka_unit_test(other_stores),
        cmocka_unit_test(line_integrals_pass_through),
        cmocka_unit_test(clamped_and_broken_counts),
        cmocka_unit_test(dead_pixels_are_bridged),
        cmocka_unit_test(wrong_scans_are_named),
        cmocka_unit_test(odd_scans_are_warned_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
