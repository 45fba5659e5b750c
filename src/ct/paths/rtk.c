/* ThreeDCircularGeometry XML of RTK, versions 2 and 3: nine parameters a view, degrees and mm, the
 * rotation axis y (IEC 61217). A parameter that stands outside the projections holds for all.
 *
 * With M = Rz(-InPlaneAngle) Rx(-OutOfPlaneAngle) Ry(-GantryAngle), the source is at M'
 * (SourceOffsetX, SourceOffsetY, sid), the origin of the detector at M' (ProjectionOffsetX,
 * ProjectionOffsetY, sid - sdd), its axes u = M' x and v = M' y. The origin is taken as the
 * detector's middle, as it is where the stack of projections is centred. sdd = 0 means parallel
 * rays. The matrix that the file gives, too, is compared with what follows from the parameters, as
 * RTK does. Expat keeps its own memory, which the greatest size of a file bounds. */
#include <expat.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/geometry.h"
#include "ct/paths/read.h"
#include "kern/exact.h"

enum parameter {
    GANTRY,
    OUT_OF_PLANE,
    IN_PLANE,
    SID,
    SDD,
    SOURCE_X,
    SOURCE_Y,
    ORIGIN_X,
    ORIGIN_Y,
    PARAMETERS
};
enum { TEXT = 4096, DEPTH = 8, MATRIX = 12 };
static const double matrix_tolerance = 1e-3; /* as RTK's own */

static const struct {
    const char *name;
    enum parameter parameter;
} names[] = {{"GantryAngle", GANTRY},
             {"Angle", GANTRY}, /* of former versions */
             {"OutOfPlaneAngle", OUT_OF_PLANE},
             {"InPlaneAngle", IN_PLANE},
             {"SourceToIsocenterDistance", SID},
             {"SourceToDetectorDistance", SDD},
             {"SourceOffsetX", SOURCE_X},
             {"SourceOffsetY", SOURCE_Y},
             {"ProjectionOffsetX", ORIGIN_X},
             {"ProjectionOffsetY", ORIGIN_Y}};

typedef struct rtk {
    const paths_file *file;
    XML_Parser parser;
    motet_status status; /* of the first failure, whose message is set */
    int depth, begun, has_matrix;
    size_t length; /* of text, of the innermost element */
    char text[TEXT + 1];
    double value[PARAMETERS], matrix[MATRIX];
    motet_ct_view *view;
    int64_t count, room, parallel;
} rtk;

static void stop(rtk *r, motet_status status)
{
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

#define BAD(r, status, ...)                                                                        \
    stop((r), fail((r)->file->context, (status), "%s: line %llu: " __VA_ARGS__))
#define AT(r) (r)->file->path, (unsigned long long)XML_GetCurrentLineNumber((r)->parser)

static void begin_document(rtk *r, const char *name, const char **attributes)
{
    const char *version = "none";
    if (strcasecmp(name, "RTKThreeDCircularGeometry")) {
        stop(r, fail(r->file->context, MOTET_BAD_DATA,
                     "%s: it begins with <%.40s>, expected <RTKThreeDCircularGeometry>",
                     r->file->path, name));
        return;
    }
    for (; attributes[0]; attributes += 2)
        if (!strcmp(attributes[0], "version")) version = attributes[1];
    if (strcmp(version, "2") && strcmp(version, "3"))
        stop(r, fail(r->file->context, MOTET_UNSUPPORTED, "%s: version %.20s, expected 2 or 3",
                     r->file->path, version));
    r->begun = 1;
}

static void XMLCALL on_begin(void *user, const char *name, const char **attributes)
{
    rtk *r = user;
    if (r->status != MOTET_OK) return;
    r->length = 0;
    if (r->depth == 0) begin_document(r, name, attributes);
    if (++r->depth > DEPTH)
        BAD(r, MOTET_BAD_DATA, "more than %d elements in each other", AT(r), DEPTH);
    if (!strcasecmp(name, "Projection")) r->has_matrix = 0;
}

static void XMLCALL on_text(void *user, const char *text, int length)
{
    rtk *r = user;
    if (r->status != MOTET_OK) return;
    if ((size_t)length > TEXT - r->length) {
        BAD(r, MOTET_BAD_DATA, "more than %d bytes of text in an element", AT(r), TEXT);
        return;
    }
    memcpy(r->text + r->length, text, (size_t)length);
    r->length += (size_t)length;
}

/* Entities could make a small file endless. */
static void XMLCALL on_entity(void *user, const char *name, int is_parameter, const char *value,
                              int length, const char *base, const char *system, const char *public,
                              const char *notation)
{
    rtk *r = user;
    (void)name, (void)is_parameter, (void)value, (void)length;
    (void)base, (void)system, (void)public, (void)notation;
    if (r->status == MOTET_OK) BAD(r, MOTET_BAD_DATA, "an entity, expected none", AT(r));
}

static void turn(double a, double b, double cosine, double sine, double out[2])
{
    out[0] = k_fma(cosine, a, -sine * b);
    out[1] = k_fma(sine, a, cosine * b);
}

/* The rows of M: where the rotated axes lie in space. */
static void axes_of(const double value[PARAMETERS], double m[3][3])
{
    double cosine[3], sine[3], two[2];
    for (int i = 0; i < 3; i++) /* by the negative angle */
        ct_direction(-value[i] * paths_degree(), &cosine[i], &sine[i]);
    for (int column = 0; column < 3; column++) {
        double e[3] = {column == 0, column == 1, column == 2};
        turn(e[2], e[0], cosine[GANTRY], sine[GANTRY], two); /* about y: from z to x */
        e[2] = two[0], e[0] = two[1];
        turn(e[1], e[2], cosine[OUT_OF_PLANE], sine[OUT_OF_PLANE], two);
        e[1] = two[0], e[2] = two[1];
        turn(e[0], e[1], cosine[IN_PLANE], sine[IN_PLANE], two);
        e[0] = two[0], e[1] = two[1];
        for (int i = 0; i < 3; i++) m[i][column] = e[i];
    }
}

/* RTK's matrix from space to the detector's plane, up to a factor that it leaves as it comes. */
static void matrix_of(const double value[PARAMETERS], double m[3][3], double out[MATRIX])
{
    const double x = value[SOURCE_X] - value[ORIGIN_X], y = value[SOURCE_Y] - value[ORIGIN_Y];
    const double sid = value[SID], sdd = value[SDD];
    const int parallel = sdd == 0.0;
    for (int j = 0; j < 4; j++) {
        double a = j < 3 ? m[0][j] : -value[SOURCE_X], b = j < 3 ? m[1][j] : -value[SOURCE_Y];
        const double depth = parallel ? (j == 3) : j < 3 ? m[2][j] : -sid;
        const double scale = parallel ? 1.0 : -sdd;
        out[j] = k_fma(scale, a, x * depth);
        out[4 + j] = k_fma(scale, b, y * depth);
        out[8 + j] = depth;
    }
}

static void check_matrix(rtk *r, double m[3][3])
{
    double expected[MATRIX];
    char file[NUMBER_TEXT], ours[NUMBER_TEXT];
    matrix_of(r->value, m, expected);
    for (int i = 0; i < MATRIX; i++) {
        const double room = matrix_tolerance * k_max(1.0, 1e-6 * k_abs(expected[i]));
        if (k_abs(r->matrix[i] - expected[i]) <= room) continue;
        BAD(r, MOTET_BAD_DATA,
            "element (%d, %d) of the matrix of view %lld is %s, from the parameters follows %s",
            AT(r), i / 4, i % 4, (long long)r->count, number_text(r->matrix[i], file),
            number_text(expected[i], ours));
        return;
    }
}

static int make_room(rtk *r)
{
    if (r->count < r->room) return 1;
    const int64_t room = r->room ? 2 * r->room : 256;
    motet_ct_view *grown = mem_grow(r->file->context, r->view, (size_t)room * sizeof *grown);
    if (!grown) {
        BAD(r, MOTET_NO_MEMORY, "no memory for %lld views", AT(r), (long long)room);
        return 0;
    }
    r->view = grown;
    r->room = room;
    return 1;
}

static void take_projection(rtk *r)
{
    double m[3][3];
    const double *p = r->value;
    if (!make_room(r)) return;
    axes_of(p, m);
    if (r->has_matrix) check_matrix(r, m);
    const int parallel = p[SDD] == 0.0;
    motet_ct_view *w = &r->view[r->count];
    for (int i = 0; i < 3; i++) {
        w->u[i] = m[0][i];
        w->v[i] = m[1][i];
        w->source[i] =
            parallel ? 0.0 - m[2][i]
                     : k_fma(p[SOURCE_X], m[0][i], k_fma(p[SOURCE_Y], m[1][i], p[SID] * m[2][i]));
        w->detector[i] =
            k_fma(p[ORIGIN_X], m[0][i], k_fma(p[ORIGIN_Y], m[1][i], (p[SID] - p[SDD]) * m[2][i]));
    }
    r->parallel += parallel;
    r->count++;
    if (r->parallel && r->parallel != r->count)
        BAD(r, MOTET_UNSUPPORTED, "parallel and cone beams in one file", AT(r));
}

static void take_matrix(rtk *r)
{
    const char *at = r->text;
    for (int i = 0; i < MATRIX; i++)
        if (!paths_number(&at, &r->matrix[i])) {
            BAD(r, MOTET_BAD_DATA, "a matrix of %d numbers, expected 12", AT(r), i);
            return;
        }
    r->has_matrix = 1;
}

static void take_parameter(rtk *r, const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i].name)) continue;
        const char *at = r->text;
        double value;
        if (!paths_number(&at, &value) || at[strspn(at, " \t\r\n")])
            BAD(r, MOTET_BAD_DATA, "%s is \"%.*s\", expected a number", AT(r), names[i].name,
                paths_word(r->text + strspn(r->text, " \t\r\n")),
                r->text + strspn(r->text, " \t\r\n"));
        else if (names[i].parameter <= IN_PLANE && !(k_abs(value) <= 1e6))
            BAD(r, MOTET_BAD_DATA, "%s is %.*s, expected degrees within 1e6", AT(r), names[i].name,
                paths_word(r->text), r->text);
        else
            r->value[names[i].parameter] = value;
        return;
    }
    if (!strcasecmp(name, "RadiusCylindricalDetector")) {
        const char *at = r->text;
        double value;
        if (!paths_number(&at, &value) || value != 0.0)
            BAD(r, MOTET_UNSUPPORTED, "a cylindrical detector; motet has flat ones", AT(r));
    } else if (strncasecmp(name, "Collimation", 11) &&
               strcasecmp(name, "RTKThreeDCircularGeometry")) {
        log_warning(r->file->context, "ct.paths", "%s: <%.40s> is not known, and left out",
                    r->file->path, name);
    }
}

static void XMLCALL on_end(void *user, const char *name)
{
    rtk *r = user;
    if (r->status != MOTET_OK) return;
    r->text[r->length] = 0;
    r->depth--;
    if (!strcasecmp(name, "Projection"))
        take_projection(r);
    else if (!strcasecmp(name, "Matrix"))
        take_matrix(r);
    else
        take_parameter(r, name);
    r->length = 0;
}

static motet_status parse(rtk *r)
{
    const paths_file *f = r->file;
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_begin, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    const int whole = XML_Parse(r->parser, f->text, (int)f->bytes, 1) == XML_STATUS_OK;
    if (r->status != MOTET_OK) return r->status;
    const enum XML_Error error = XML_GetErrorCode(r->parser);
    if (!whole && error == XML_ERROR_NO_MEMORY)
        return fail(f->context, MOTET_NO_MEMORY, "%s: no memory to read it", f->path);
    if (!whole)
        return fail(f->context, MOTET_BAD_DATA, "%s: line %llu: %s", f->path,
                    (unsigned long long)XML_GetCurrentLineNumber(r->parser),
                    XML_ErrorString(error));
    if (!r->count) return fail(f->context, MOTET_BAD_DATA, "%s holds no <Projection>", f->path);
    return MOTET_OK;
}

motet_status paths_read_rtk(const paths_file *f, motet_ct_views *out)
{
    rtk *r = mem_new(f->context, rtk);
    if (r) r->parser = XML_ParserCreate(NULL);
    if (!r || !r->parser) {
        mem_free(f->context, r);
        return fail(f->context, MOTET_NO_MEMORY, "%s: no memory to read it", f->path);
    }
    r->file = f;
    const motet_status st = parse(r);
    out->view = r->view; /* freed by the caller after a failure */
    out->views = r->count;
    out->beam = r->parallel ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    XML_ParserFree(r->parser);
    mem_free(f->context, r);
    return st;
}
