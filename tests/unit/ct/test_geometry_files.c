/* Descriptions of views in files: Motet's own, and those of other programs with their conventions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <motet/store.h>

#include "support/support.h"

static const double pi = 3.14159265358979323846;

static const char *written(const char *name, const char *text)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* What files of vectors do not say. */
static motet_ct_views sizes(void)
{
    motet_ct_views v;
    motet_ct_views_init(&v);
    v.columns = 6, v.rows = 5;
    v.nx = 4, v.ny = 3, v.nz = 2;
    v.pitch_u = v.pitch_v = 0;
    return v;
}

static void near_tolerance(const double a[3], double x, double y, double z, double tolerance)
{
    const double b[3] = {x, y, z};
    for (int i = 0; i < 3; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance)) {
            print_error("(%.17g, %.17g, %.17g), expected (%.17g, %.17g, %.17g)\n", a[0], a[1], a[2],
                        x, y, z);
            fail();
        }
}

static void assert_near(const double a[3], double x, double y, double z)
{
    near_tolerance(a, x, y, z, 1e-9);
}

/* ---- Motet's own ---- */

static void what_is_written_is_read_back_bit_for_bit(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.path = MOTET_CT_PATH_RANDOM;
    t.sid = 100.0 / 3.0, t.sdd = 54.321;
    for (int beam = 0; beam < 2; beam++) {
        motet_ct_views v = sizes(), made, read;
        v.beam = beam ? MOTET_CT_BEAM_CONE : MOTET_CT_BEAM_PARALLEL;
        v.views = 9;
        v.pitch_u = 0.1, v.pitch_v = 1e-3 / 3;
        v.voxel[2] = 1.0 / 7;
        v.centre[0] = -1e-20, v.centre[1] = 2.0 / 3;
        assert_ok(c, motet_ct_trajectory_make(c, &t, &v, &made));
        const char *path = test_path(beam ? "cone.json" : "parallel.json");
        assert_ok(c, motet_ct_views_write(c, &made, path, 0));
        assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, NULL, &read));
        assert_memory_equal(made.view, read.view, 9 * sizeof *read.view);
        const motet_ct_view *view = read.view;
        read.view = made.view;
        assert_memory_equal(&made, &read, sizeof read);
        read.view = view;
        assert_status(c, motet_ct_views_write(c, &made, path, 0), MOTET_EXISTS);
        assert_ok(c, motet_ct_views_write(c, &made, path, 1));
        motet_ct_views_release(c, &made);
        motet_ct_views_release(c, &read);
    }
    motet_context_free(c);
}

static void what_no_geometry_can_be_made_of_is_not_written(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views v = sizes();
    motet_ct_view view = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}}; /* source in the detector */
    v.views = 1;
    v.pitch_u = v.pitch_v = 1;
    v.view = &view;
    const char *path = test_path("never.json");
    assert_status(c, motet_ct_views_write(c, &v, path, 0), MOTET_BAD_ARGUMENT);
    assert_int_equal(access(path, F_OK), -1);
    motet_context_free(c);
}

static void a_path_in_json_is_the_trajectory_in_degrees(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const char *path =
        written("helix.json",
                "{\"motet\": \"geometry\", \"beam\": \"cone\", \"columns\": 6, \"rows\": 5,\n"
                "\"pitch\": [1, 2], \"size\": [4, 3, 2], \"voxel\": [1, 1, 2],\n"
                "\"path\": {\"kind\": \"helical\", \"views\": 8, \"start\": 45, \"arc\": -720,\n"
                "\"sid\": 30, \"sdd\": 50, \"rise\": 4, \"shift_u\": 0.5, \"tilt\": 10}}");
    motet_ct_views read, made, v = sizes();
    assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, NULL, &read));
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.path = MOTET_CT_PATH_HELICAL;
    t.start = pi / 4, t.arc = -4 * pi;
    t.sid = 30, t.sdd = 50, t.rise = 4, t.shift_u = 0.5, t.tilt = pi / 18;
    v.views = 8;
    assert_ok(c, motet_ct_trajectory_make(c, &t, &v, &made));
    assert_int_equal(read.views, 8);
    for (int k = 0; k < 8; k++) {
        const motet_ct_view *a = &read.view[k], *b = &made.view[k];
        assert_near(a->source, b->source[0], b->source[1], b->source[2]);
        assert_near(a->detector, b->detector[0], b->detector[1], b->detector[2]);
        assert_near(a->u, b->u[0], b->u[1], b->u[2]);
        assert_near(a->v, b->v[0], b->v[1], b->v[2]);
    }
    assert_true(read.pitch_v == 2 && read.voxel[2] == 2 && read.nx == 4);
    motet_ct_views_release(c, &read);
    motet_ct_views_release(c, &made);

    written("angles.json", "{\"motet\": \"geometry\", \"beam\": \"parallel\", \"path\": "
                           "{\"kind\": \"circular\", \"angles\": [0, 90, 30.5]}}");
    v = sizes();
    v.pitch_u = v.pitch_v = 1;
    assert_ok(c,
              motet_ct_views_read(c, test_path("angles.json"), MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_int_equal(read.views, 3);
    assert_int_equal(read.beam, MOTET_CT_BEAM_PARALLEL);
    assert_near(read.view[1].source, -1, 0, 0);
    assert_near(read.view[2].u, cos(30.5 * pi / 180), sin(30.5 * pi / 180), 0);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

/* ---- ASTRA ---- */

/* cone_vec of a circular scan as ASTRA's documentation writes it. */
static void cone_vec(double angle, double so, double od, double pu, double pv, double row[12])
{
    const double v[12] = {so * sin(angle),
                          -so * cos(angle),
                          0,
                          -od * sin(angle),
                          od * cos(angle),
                          0,
                          pu * cos(angle),
                          pu * sin(angle),
                          0,
                          0,
                          0,
                          pv};
    memcpy(row, v, sizeof v);
}

static void check_astra(motet_context *c, const char *path, double tolerance)
{
    motet_ct_views v = sizes(), read;
    assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_int_equal(read.views, 7);
    assert_int_equal(read.beam, MOTET_CT_BEAM_CONE);
    assert_true(fabs(read.pitch_u - 0.25) < tolerance && fabs(read.pitch_v - 0.5) < tolerance);
    for (int k = 0; k < 7; k++) {
        const double a = 0.3 + 2 * pi * k / 7;
        near_tolerance(read.view[k].source, 40 * sin(a), -40 * cos(a), 0, tolerance);
        near_tolerance(read.view[k].detector, -10 * sin(a), 10 * cos(a), 0, tolerance);
        near_tolerance(read.view[k].u, cos(a), sin(a), 0, tolerance); /* a unit vector: row 7 */
        near_tolerance(read.view[k].v, 0, 0, 1, tolerance);
    }
    motet_ct_views_release(c, &read);
}

static void astra_vectors_carry_the_pitch_in_u_and_v(void **state)
{
    (void)state;
    motet_context *c = test_context();
    double rows[7][12];
    float single[7][12];
    char text[8192] = "# src, d, u, v\n\n";
    for (int k = 0; k < 7; k++) {
        cone_vec(0.3 + 2 * pi * k / 7, 40, 10, 0.25, 0.5, rows[k]);
        for (int i = 0; i < 12; i++) {
            single[k][i] = (float)rows[k][i];
            snprintf(text + strlen(text), 64, "%s%.17g",
                     i == 0  ? ""
                     : k & 1 ? " "
                             : ", ",
                     rows[k][i]);
        }
        strcat(text, k & 1 ? "\r\n" : "   # view\n");
    }
    check_astra(c, written("vectors.txt", text), 1e-9);
    for (int type = 0; type < 2; type++) {
        motet_store_info info = {.type = type ? MOTET_F32 : MOTET_F64, .axes = 2, .shape = {7, 12}};
        motet_store *store;
        const char *path = test_path(type ? "single.npy" : "double.npy");
        assert_ok(c, motet_store_create(c, path, NULL, &info, 0, &store));
        assert_ok(c, motet_store_write(store, 0, 7, type ? (void *)single : (void *)rows));
        assert_ok(c, motet_store_commit(store));
        motet_store_free(store);
        check_astra(c, path, type ? 1e-5 : 1e-9);
    }
    motet_context_free(c);
}

static void astra_vectors_of_a_plane_and_of_parallel_rays(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views v = sizes(), read;
    v.rows = v.nz = 0;
    written("fan.txt", "0 -40 0 10 0.5 0\n40 0 -10 0 0 0.5\n");
    assert_ok(c, motet_ct_views_read(c, test_path("fan.txt"), MOTET_CT_GEOMETRY_ASTRA, &v, &read));
    assert_int_equal(read.rows, 1);
    assert_int_equal(read.nz, 1);
    assert_true(read.pitch_u == 0.5 && read.pitch_v == 0.5);
    assert_near(read.view[1].source, 40, 0, 0);
    assert_near(read.view[1].u, 0, 1, 0);
    assert_near(read.view[1].v, 0, 0, 1);
    motet_ct_views_release(c, &read);
    v.beam = MOTET_CT_BEAM_PARALLEL;
    assert_ok(c, motet_ct_views_read(c, test_path("fan.txt"), MOTET_CT_GEOMETRY_ASTRA, &v, &read));
    assert_int_equal(read.beam, MOTET_CT_BEAM_PARALLEL);
    motet_ct_views_release(c, &read);
    v.rows = 2; /* a plane has one row */
    assert_status(c,
                  motet_ct_views_read(c, test_path("fan.txt"), MOTET_CT_GEOMETRY_ASTRA, &v, &read),
                  MOTET_BAD_ARGUMENT);
    assert_message(c, "rows", "1", "2", NULL);
    motet_context_free(c);
}

static void count(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component;
    (void)text;
    if (level == MOTET_LOG_WARNING) ++*(int *)user;
}

static void astra_vectors_without_the_pitch_are_warned_about(void **state)
{
    (void)state;
    int warnings = 0;
    motet_context_options options;
    motet_context_options_init(&options);
    options.log = count;
    options.log_user = &warnings;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    motet_ct_views v = sizes(), read;
    written("unit.txt", "0 -40 0 0 10 0 1 0 0 0 0 1\n");
    v.pitch_u = v.pitch_v = 0.25;
    assert_ok(c, motet_ct_views_read(c, test_path("unit.txt"), MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_int_equal(warnings, 1);
    assert_true(read.pitch_u == 0.25);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

/* ---- RTK ---- */

/* The first projection of the example in RTK's documentation of the format, made flat; the matrix
 * was computed by RTK. */
static const char rtk_example[] =
    "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n<RTKThreeDCircularGeometry version=\"3\">\n"
    "  <SourceToIsocenterDistance>1000</SourceToIsocenterDistance>\n"
    "  <SourceToDetectorDistance>1536</SourceToDetectorDistance>\n"
    "  <Projection>\n    <GantryAngle>271.847274780273</GantryAngle>\n"
    "    <ProjectionOffsetX>-117.056503295898</ProjectionOffsetX>\n"
    "    <ProjectionOffsetY>-1.01195001602173</ProjectionOffsetY>\n    <Matrix>\n"
    "      -166.5093078829                   0   -1531.42837748039   -117056.503295898\n"
    "      -1.01142410874151               -1536  0.0326206557691505   -1011.95001602173\n"
    "      -0.999480303105996                   0  0.0322354417240802               -1000\n"
    "    </Matrix>\n  </Projection>\n</RTKThreeDCircularGeometry>\n";

/* Places that RTK's matrix and the view project to, of points around the isocentre. */
static void assert_projects(const motet_ct_view *w, const double m[3][4])
{
    uint64_t seed = 1;
    for (int trial = 0; trial < 20; trial++) {
        double p[3], h[3], to[3], n[3], top = 0, bottom = 0, on[3];
        for (int i = 0; i < 3; i++) p[i] = test_uniform(&seed, -100, 100);
        for (int i = 0; i < 3; i++)
            h[i] = m[i][0] * p[0] + m[i][1] * p[1] + m[i][2] * p[2] + m[i][3];
        for (int i = 0; i < 3; i++) {
            n[i] = w->u[(i + 1) % 3] * w->v[(i + 2) % 3] - w->u[(i + 2) % 3] * w->v[(i + 1) % 3];
            to[i] = p[i] - w->source[i];
        }
        for (int i = 0; i < 3; i++) {
            top += n[i] * (w->detector[i] - w->source[i]);
            bottom += n[i] * to[i];
        }
        double u = 0, along_v = 0;
        for (int i = 0; i < 3; i++) {
            on[i] = w->source[i] + top / bottom * to[i] - w->detector[i];
            u += on[i] * w->u[i];
            along_v += on[i] * w->v[i];
        }
        assert_true(fabs(u - h[0] / h[2]) < 1e-6 && fabs(along_v - h[1] / h[2]) < 1e-6);
    }
}

static void rtk_views_project_points_where_rtks_matrix_does(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views v = sizes(), read;
    v.pitch_u = v.pitch_v = 0.8;
    assert_ok(c, motet_ct_views_read(c, written("rtk.xml", rtk_example), MOTET_CT_GEOMETRY_AUTO, &v,
                                     &read));
    assert_int_equal(read.views, 1);
    const double m[3][4] = {{-166.5093078829, 0, -1531.42837748039, -117056.503295898},
                            {-1.01142410874151, -1536, 0.0326206557691505, -1011.95001602173},
                            {-0.999480303105996, 0, 0.0322354417240802, -1000}};
    assert_projects(&read.view[0], m);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

/* A file that RTK 2.7 wrote, of AddProjection(300, 500, 40, 3, -2, 17, -9, 4, 5) and
 * AddProjection(310, 520, -75, -1, 6, -33, 28, -2.5, 1.5), with its matrices. */
static void all_nine_parameters_of_rtk_are_taken_as_rtk_takes_them(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views v = sizes(), read;
    v.pitch_u = v.pitch_v = 0.8;
    assert_ok(c, motet_ct_views_read(c, MOTET_SOURCE "/tests/fuzz/corpus/geometry/nine.xml",
                                     MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_int_equal(read.views, 3);
    const double m[2][3][4] = {{{-362.992289516396, 74.5071397525303, 335.687777372876, 1700},
                                {-148.424542015379, -474.312130693243, -55.2010688733529, 400},
                                {0.614700848217349, -0.292371704722737, 0.732571944233734, -300}},
                               {{-246.046773150983, -205.557589294374, -409.401163781289, -835},
                                {-174.711298546392, -387.511998425469, 299.550769046806, 2175},
                                {-0.810093561327006, 0.544639035015027, 0.217063915551223, -310}}};
    for (int k = 0; k < 2; k++) assert_projects(&read.view[k], m[k]);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

static void rtk_angles_turn_about_y_and_offsets_lie_in_rotated_axes(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views v = sizes(), read;
    v.pitch_u = v.pitch_v = 1;
    const char *path = written(
        "nine.xml",
        "<RTKThreeDCircularGeometry "
        "version='2'><SourceToIsocenterDistance>10</SourceToIsocenterDistance>"
        "<SourceToDetectorDistance>15</SourceToDetectorDistance>"
        "<Projection><GantryAngle>90</GantryAngle></Projection>"
        "<Projection><GantryAngle>0</GantryAngle><OutOfPlaneAngle>90</OutOfPlaneAngle></Projection>"
        "<Projection><OutOfPlaneAngle>0</OutOfPlaneAngle><InPlaneAngle>90</InPlaneAngle>"
        "<SourceOffsetX>1</SourceOffsetX><ProjectionOffsetY>2</ProjectionOffsetY></Projection>"
        "</RTKThreeDCircularGeometry>");
    assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_RTK, &v, &read));
    assert_int_equal(read.views, 3);
    assert_near(read.view[0].source, 10, 0, 0); /* z turns to x: a gantry turns about y */
    assert_near(read.view[0].detector, -5, 0, 0);
    assert_near(read.view[0].u, 0, 0, -1);
    assert_near(read.view[0].v, 0, 1, 0);
    assert_near(read.view[1].source, 0, -10, 0);
    assert_near(read.view[1].v, 0, 0, 1);
    assert_near(read.view[2].u, 0, 1, 0);
    assert_near(read.view[2].v, -1, 0, 0);
    assert_near(read.view[2].source, 0, 1, 10);
    assert_near(read.view[2].detector, -2, 0, -5);
    motet_ct_views_release(c, &read);
    path =
        written("flat.xml",
                "<RTKThreeDCircularGeometry version=\"3\"><Projection><GantryAngle>90</GantryAngle>"
                "</Projection></RTKThreeDCircularGeometry>");
    assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_int_equal(read.beam, MOTET_CT_BEAM_PARALLEL); /* sdd 0 */
    assert_near(read.view[0].source, -1, 0, 0);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

/* ---- LEAP ---- */

static const char leap_head[] =
    "# CT volume parameters\nnumX = 4\nnumY = 3\nnumZ = 2\nvoxelWidth = 5.0e-01\n"
    "voxelHeight = 2.5e-01\noffsetX = 1\noffsetY = -2\noffsetZ = 3\n\n# CT geometry parameters\n"
    "geometry = modular\nnumAngles = 2\nnumRows = 5\nnumCols = 7\npixelHeight = 2.0e-01\n"
    "pixelWidth = 4.0e-01\nsod = 0\nsdd = 0\n";
static const char leap_views[] = "sourcePositions = -1.0e+01, 0.0, 0.0, 0.0, -1.0e+01, 0.0\n"
                                 "moduleCenters = 5.0, 0.0, 0.0, 0.0, 5.0, 0.0\n"
                                 "rowVectors = 0.0, 0.0, 1.0, 0.0, 0.0, 1.0\n"
                                 "colVectors = 0.0, 1.0, 0.0, -1.0, 0.0, 0.0\n";

static void leap_rows_run_along_v_and_its_centre_is_in_pixels(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views read;
    char text[2048];
    snprintf(text, sizeof text, "%scenterRow = 2\ncenterCol = 3\n%s", leap_head, leap_views);
    assert_ok(
        c, motet_ct_views_read(c, written("leap.txt", text), MOTET_CT_GEOMETRY_AUTO, NULL, &read));
    assert_int_equal(read.columns, 7);
    assert_int_equal(read.rows, 5);
    assert_true(read.nx == 4 && read.ny == 3 && read.nz == 2);
    assert_true(read.pitch_u == 0.4 && read.pitch_v == 0.2);
    assert_near(read.voxel, 0.5, 0.5, 0.25);
    assert_near(read.centre, 1, -2, 3);
    assert_near(read.view[1].source, 0, -10, 0);
    assert_near(read.view[1].detector, 0, 5, 0);
    assert_near(read.view[1].u, -1, 0, 0);
    assert_near(read.view[1].v, 0, 0, 1);
    motet_ct_views_release(c, &read);
    /* Pixel (1, 4.5) is at the module's centre: the middle (2, 3) lies a row up, 1.5 columns back.
     */
    snprintf(text, sizeof text, "%scenterRow = 1\ncenterCol = 4.5\n%s", leap_head, leap_views);
    assert_ok(
        c, motet_ct_views_read(c, written("leap2.txt", text), MOTET_CT_GEOMETRY_AUTO, NULL, &read));
    assert_near(read.view[0].detector, 5, -0.6, 0.2);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

static void angles_come_from_ranges_and_files(void **state)
{
    (void)state;
    motet_context *c = test_context();
    double angles[3] = {7, 7, 7};
    assert_status(c, motet_ct_angles_read(c, "0:90", 0, angles), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_ct_angles_read(c, NULL, 3, angles), MOTET_BAD_ARGUMENT);
    const char *path = written("degrees.txt", "0 # first\n\n30\n-45.5\n");
    assert_status(c, motet_ct_angles_read(c, path, 2, angles), MOTET_BAD_SHAPE);
    assert_true(angles[0] == 7 && angles[2] == 7);
    assert_ok(c, motet_ct_angles_read(c, "0:-90", 3, angles));
    assert_near(angles, 0, -pi / 4, -pi / 2);
    assert_ok(c, motet_ct_angles_read(c, path, 3, angles));
    assert_near(angles, 0, pi / 6, -45.5 * pi / 180);
    motet_context_free(c);
}

/* Editors of some systems begin each text with a byte order mark. */
static void a_byte_order_mark_changes_nothing(void **state)
{
    (void)state;
    motet_context *c = test_context();
    char leap[4096], marked[4608];
    snprintf(leap, sizeof leap, "%s%s", leap_head, leap_views);
    const char *const texts[] = {
        "{\"motet\": \"geometry\", \"version\": 1, \"beam\": \"cone\", \"pitch\": [1, 1], "
        "\"path\": "
        "{\"kind\": \"circular\", \"views\": 2, \"sid\": 3, \"sdd\": 4}}",
        "0 -320 0 0 192 0 1.25 0 0 0 0 1.25\n320 0 0 -192 0 0 0 1.25 0 0 0 1.25\n",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<RTKThreeDCircularGeometry version=\"3\">"
        "<SourceToIsocenterDistance>3</SourceToIsocenterDistance>"
        "<SourceToDetectorDistance>4</SourceToDetectorDistance>"
        "<Projection><GantryAngle>0</GantryAngle></Projection>"
        "<Projection><GantryAngle>90</GantryAngle></Projection></RTKThreeDCircularGeometry>",
        leap};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        motet_ct_views v = sizes(), plain, read;
        v.columns = v.rows = 0;
        v.pitch_u = v.pitch_v = 1;
        if (i < 3) v.columns = 6, v.rows = 5;
        assert_ok(c, motet_ct_views_read(c, written("plain.txt", texts[i]), MOTET_CT_GEOMETRY_AUTO,
                                         &v, &plain));
        snprintf(marked, sizeof marked, "\xef\xbb\xbf%s", texts[i]);
        assert_ok(c, motet_ct_views_read(c, written("marked.txt", marked), MOTET_CT_GEOMETRY_AUTO,
                                         &v, &read));
        assert_int_equal(read.views, plain.views);
        assert_memory_equal(read.view, plain.view, (size_t)read.views * sizeof *read.view);
        motet_ct_views_release(c, &plain);
        motet_ct_views_release(c, &read);
    }
    double angles[3];
    const char *path = written("marked.txt", "\xef\xbb\xbf"
                                             "0\n30\n-45.5\n");
    assert_ok(c, motet_ct_angles_read(c, path, 3, angles));
    assert_near(angles, 0, pi / 6, -45.5 * pi / 180);
    motet_context_free(c);
}

/* ---- Refusals ---- */

static void what_is_wrong_is_named_with_its_place(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_views v = sizes(), read;
    v.pitch_u = v.pitch_v = 1;
    char leap[4096];
    snprintf(leap, sizeof leap, "%s%s", leap_head, leap_views);
    char short_leap[4096];
    snprintf(short_leap, sizeof short_leap, "%s", leap);
    *strstr(short_leap, ", -1.0, 0.0, 0.0\n") = 0;
    char twisted[4096];
    snprintf(twisted, sizeof twisted, "%s", rtk_example);
    memcpy(strstr(twisted, "-1531.4"), "-1531.9", 7);
#define HEAD "{\"motet\": \"geometry\", \"beam\": \"cone\", "
#define VIEW "{\"source\": [0, -9, 0], \"detector\": [0, 1, 0], \"u\": [1, 0, 0], \"v\": [0, 0, 1]"
#define RTK  "<RTKThreeDCircularGeometry version=\"3\">"
    const struct {
        const char *text, *one, *two;
        motet_status status;
    } bad[] = {
        {"", "no numbers", "bad.", MOTET_BAD_DATA},
        {"{", "line 1", "bad.", MOTET_BAD_DATA},
        {"{}", "motet", "geometry", MOTET_BAD_DATA},
        {"{\"motet\": \"geometry\"}", "beam", "cone", MOTET_BAD_DATA},
        {HEAD "\"beam\": \"cone\"}", "duplicate", "beam", MOTET_BAD_DATA},
        {HEAD "\"views\": []}", "views", "list", MOTET_BAD_DATA},
        {HEAD "\"views\": [" VIEW "}], \"path\": {}}", "views", "path", MOTET_BAD_DATA},
        {HEAD "\"views\": [" VIEW "}, 3]}", "view 1", "object", MOTET_BAD_DATA},
        {HEAD "\"views\": [" VIEW ", \"w\": 0}]}", "view 0", "members", MOTET_BAD_DATA},
        {HEAD "\"views\": [{\"source\": [0, 1]}]}", "source", "three numbers", MOTET_BAD_DATA},
        {HEAD "\"version\": 2}", "version", "expected 1", MOTET_UNSUPPORTED},
        {HEAD "\"colums\": 3}", "colums", "columns", MOTET_BAD_DATA},
        {HEAD "\"columns\": 0}", "columns", "1 to", MOTET_BAD_DATA},
        {HEAD "\"path\": {\"kind\": \"circle\"}}", "kind", "circular", MOTET_BAD_DATA},
        {HEAD "\"path\": {\"views\": 3}}", "path", "sdd", MOTET_BAD_DATA},
        {HEAD "\"path\": {\"views\": 3, \"angles\": [1]}}", "views", "angles", MOTET_BAD_DATA},
        {HEAD "\"path\": {\"arc\": 3, \"angles\": [1]}}", "angles", "arc", MOTET_BAD_DATA},
        {"1 2 3\n", "view 0 has 3", "12", MOTET_BAD_DATA},
        {"0 -9 0 1 1 0\n0 -9 0 1 1\n", "view 1 has 5", "12", MOTET_BAD_DATA},
        {"0 -9 0 1 1 x\n", "line 1", "\"x\"", MOTET_BAD_DATA},
        {"0 -9 0 1 1 0x\n", "line 1", "\"x\"", MOTET_BAD_DATA},
        {"0 -9 0 1 1 nan\n", "line 1", "\"nan\"", MOTET_BAD_DATA},
        {"0 -9 0 1 1 1e999\n", "line 1", "1e999", MOTET_BAD_DATA},
        {"0 -9 0 1 0 0\n", "u is of length 0", "view 0", MOTET_BAD_DATA},
        {"0 -9 0 1 1 0\n0 -9 0 1 2 0\n", "view 1", "pitch", MOTET_UNSUPPORTED},
        {"0 -9 0 0 1 0 1 0 0 0.5 0 1\n", "view 0", "right angles", MOTET_UNSUPPORTED},
        {"<a/>", "<a>", "RTKThreeDCircularGeometry", MOTET_BAD_DATA},
        {"<RTKThreeDCircularGeometry/>", "version none", "3", MOTET_UNSUPPORTED},
        {"<RTKThreeDCircularGeometry version=\"1\"/>", "version 1", "3", MOTET_UNSUPPORTED},
        {RTK "</RTKThreeDCircularGeometry>", "Projection", "no", MOTET_BAD_DATA},
        {RTK "<Projection>", "line 1", "no element", MOTET_BAD_DATA},
        {RTK "<Projection><GantryAngle>x</GantryAngle>", "GantryAngle", "\"x\"", MOTET_BAD_DATA},
        {RTK "<Projection><Matrix>1 2</Matrix>", "matrix", "2 numbers", MOTET_BAD_DATA},
        {RTK "<a><a><a><a><a><a><a><a><a>", "more than 8", "line 1", MOTET_BAD_DATA},
        {RTK "<RadiusCylindricalDetector>9</RadiusCylindricalDetector>", "cylindrical", "flat",
         MOTET_UNSUPPORTED},
        {"<!DOCTYPE a [<!ENTITY b \"c\">]>" RTK "&b;", "entity", "line 1", MOTET_BAD_DATA},
        {twisted, "element (0, 2)", "-1531.9", MOTET_BAD_DATA},
        {short_leap, "colVectors has 3", "2 views", MOTET_BAD_DATA},
        {"geometry = cone\n", "cone", "modular", MOTET_UNSUPPORTED},
        {"geometry = modular\nwhat\n", "line 2", "what", MOTET_BAD_DATA},
        {"numX = 3\n", "geometry", "no", MOTET_BAD_DATA},
        {"geometry = modular\nnumAngles = 1.5\n", "numAngles", "whole", MOTET_BAD_DATA},
        {"geometry = modular\nnumAngles = 9999\n", "numAngles", "9999", MOTET_BAD_DATA},
        {"geometry = modular\ndetectorType = curved\n", "curved", "flat", MOTET_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char name[32];
        snprintf(name, sizeof name, "bad.%zu", i);
        const char *path = written(name, bad[i].text);
        memset(&read, 0x5a, sizeof read);
        const motet_ct_views before = read;
        assert_status(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, &v, &read),
                      bad[i].status);
        assert_message(c, path, bad[i].one, bad[i].two, NULL);
        assert_memory_equal(&read, &before, sizeof read);
    }
    assert_status(c, motet_ct_views_read(c, test_path("absent"), MOTET_CT_GEOMETRY_AUTO, &v, &read),
                  MOTET_NOT_FOUND);
    assert_status(
        c, motet_ct_views_read(c, test_path("bad.0"), (motet_ct_geometry_format)9, &v, &read),
        MOTET_BAD_ARGUMENT);
    motet_context_free(c);
}

static void what_is_said_nowhere_or_twice_is_named(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const char *path = written("two.txt", "0 -9 0 0 1 0 1 0 0 0 0 1\n0 9 0 0 -1 0 1 0 0 0 0 1\n");
    motet_ct_views v = sizes(), read;
#define MISSING(field, value, word)                                                                \
    do {                                                                                           \
        v = sizes();                                                                               \
        v.field = value;                                                                           \
        assert_status(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, &v, &read),          \
                      MOTET_BAD_ARGUMENT);                                                         \
        assert_message(c, word, NULL);                                                             \
    } while (0)
    MISSING(columns, 0, "size of the detector");
    MISSING(rows, 0, "size of the detector");
    MISSING(ny, 0, "size of the volume");
    MISSING(voxel[1], 0, "size of a voxel");
    MISSING(views, 3, "2 views, expected 3");
    MISSING(size, 3, "motet_ct_views_init");
#undef MISSING
    v = sizes();
    v.views = 2;
    v.pitch_u = 3;                      /* lengths of the caller win */
    v.view = (const motet_ct_view *)&v; /* not looked at */
    assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_true(read.pitch_u == 3 && read.pitch_v == 1 && read.columns == 6);
    motet_ct_views_release(c, &read);
    /* What stands in for what the file omits does not win over what it says. */
    v.views = -7;
    v.pitch_u = -5;
    v.columns = -v.columns;
    v.nx = -9;
    assert_ok(c, motet_ct_views_read(c, path, MOTET_CT_GEOMETRY_AUTO, &v, &read));
    assert_true(read.views == 2 && read.pitch_u == 1 && read.columns == 6 && read.nx == 9);
    motet_ct_views_release(c, &read);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back_bit_for_bit),
        cmocka_unit_test(what_no_geometry_can_be_made_of_is_not_written),
        cmocka_unit_test(a_path_in_json_is_the_trajectory_in_degrees),
        cmocka_unit_test(astra_vectors_carry_the_pitch_in_u_and_v),
        cmocka_unit_test(astra_vectors_of_a_plane_and_of_parallel_rays),
        cmocka_unit_test(astra_vectors_without_the_pitch_are_warned_about),
        cmocka_unit_test(rtk_views_project_points_where_rtks_matrix_does),
        cmocka_unit_test(all_nine_parameters_of_rtk_are_taken_as_rtk_takes_them),
        cmocka_unit_test(rtk_angles_turn_about_y_and_offsets_lie_in_rotated_axes),
        cmocka_unit_test(leap_rows_run_along_v_and_its_centre_is_in_pixels),
        cmocka_unit_test(angles_come_from_ranges_and_files),
        cmocka_unit_test(a_byte_order_mark_changes_nothing),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(what_is_said_nowhere_or_twice_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
