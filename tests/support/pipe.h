/* Operations to run on several devices: the toys and projection, with the bits that the cpu gives.
 */
#ifndef MOTET_TEST_PIPE_H
#define MOTET_TEST_PIPE_H

#include <stdlib.h>

#include "ct/operations.h"
#include "support/sim.h"
#include "support/toy.h"

enum { PIPE_SMOOTH, PIPE_SUM, PIPE_UPDATE, PIPE_PROJECT, PIPE_OPS };

typedef struct pipe_case {
    motet_array *in, *with, *out;
    motet_ct_geometry *geometry;
    rt_op op;
} pipe_case;

static inline motet_ct_geometry *pipe_geometry(motet_context *c, int64_t views, int64_t columns,
                                               int64_t rows)
{
    motet_ct_geometry *g = NULL;
    double *angles = calloc((size_t)views, sizeof *angles);
    for (int64_t i = 0; i < views; i++) angles[i] = 3.14 * (double)i / (double)views;
    motet_ct_parallel o;
    motet_ct_parallel_init(&o);
    o.views = views, o.columns = columns, o.rows = rows, o.angles = angles, o.pitch = 1;
    assert_ok(c, motet_ct_geometry_parallel(c, &o, &g));
    free(angles);
    return g;
}

static inline motet_array *pipe_array3(motet_context *c, int64_t a, int64_t b, int64_t d,
                                       uint64_t seed)
{
    motet_array *out = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){a, b, d}, &out));
    float *data = motet_array_data(out);
    for (int64_t i = 0; i < a * b * d; i++) data[i] = (float)test_uniform(&seed, -1, 1);
    return out;
}

static inline void pipe_case_make(motet_context *c, int which, int64_t n, int64_t m, pipe_case *out)
{
    memset(out, 0, sizeof *out);
    if (which == PIPE_PROJECT) {
        out->geometry = pipe_geometry(c, 10, m, n);
        out->in = pipe_array3(c, n, m, m, 1);
        out->out = pipe_array3(c, 10, m, n, 2);
        out->op = ct_project_op(out->geometry, out->in, out->out);
        return;
    }
    out->in = toy_array(c, n, m, 1);
    if (which == PIPE_SUM) {
        out->with = toy_array(c, n, 17, 2);
        out->out = toy_array(c, 17, m, 3);
        out->op = toy_sum(out->with, out->in, out->out);
    } else {
        out->out = toy_array(c, n, m, 3);
        out->op =
            which == PIPE_SMOOTH ? toy_smooth(out->in, out->out) : toy_update(out->in, out->out);
    }
}

static inline void pipe_case_free(pipe_case *p)
{
    motet_array_free(p->in);
    motet_array_free(p->with);
    motet_array_free(p->out);
    if (p->geometry) motet_ct_geometry_free(p->geometry);
}

/* The digest of the result that one cpu gives. */
static inline void pipe_expected(int which, int64_t n, int64_t m, char digest[33])
{
    motet_context *c = test_context();
    pipe_case p;
    pipe_case_make(c, which, n, m, &p);
    assert_ok(c, rt_run(c, &p.op));
    assert_ok(c, motet_array_digest(p.out, digest));
    pipe_case_free(&p);
    motet_context_free(c);
}

/* Device sets of one to four, unlike in speed and memory. */
static const char *const pipe_sets[] = {
    "sim:0",          "sim:0,sim:5", "sim:3,sim:0,sim:7", "cpu,sim:2", "sim:0,sim:1,sim:2,sim:6",
    "sim:4,cpu,sim:1"};
enum { PIPE_SETS = 6 };

static inline int pipe_sim_number(const motet_context *c, int device) /* -1: the cpu */
{
    const char *name = c->devices->set[device].info.name;
    return strncmp(name, "sim:", 4) ? -1 : name[4] - '0';
}

#endif
