/* Small operations that use each kind of port, and what they should give, by plain loops. */
#ifndef MOTET_TEST_PORTS_H
#define MOTET_TEST_PORTS_H

#include "rt/run.h"
#include "support/sim.h"

enum {
    PORTS_LISTED, /* out[i][j] = in[list[i]][j] (1 + i / 8) + with[j][other[i]] */
    PORTS_ROWS,   /* element k of ragged row i of out: { in[i][k % m], k } */
    PORTS_SUMS,   /* out[i] = the sum of ragged row i of in[1], in order */
    PORTS_COUNT,  /* out[b] += i m + j for each in[i][j] that belongs in bin b: shared by all */
    PORTS_LIMBS,  /* out[j] += in[i][j] exactly: shared along one axis, cut along the other */
    /* out[i][j] = (in[i][j] + fixed[2][3]) + with[0][i] x[0][j] + with[1][i] x[1][j] + ..: all from
     * sources, with and x streamed */
    PORTS_SOURCE,
    /* out[i][j] = with[0][i] (x[0][j] y[0]) + ..: x, streamed, is made into float64 x[k][j] y[j] */
    PORTS_MADE,
    PORTS_SINK,      /* out[i][j] = 2 in[i][j] goes to a sink; also[i] = in[i][0] into an array */
    PORTS_ROWS_SINK, /* the same as PORTS_ROWS, to a sink */
    PORTS_CASES
};

enum { PORTS_ARRAYS = 5 };

/* Gives parts of an array that nobody else sees, and counts. */
typedef struct ports_source {
    rt_source source;
    motet_array bare; /* its sizes */
    const motet_array *hidden;
    int64_t reads, fail_at; /* 0: never */
    motet_status status;    /* of that */
} ports_source;

/* Takes parts; they are in the array `out` after the end, if that is good. */
typedef struct ports_sink {
    rt_sink sink;
    motet_array bare;
    motet_array *out;
    float *taken;
    int64_t takes, fail_at;
    int64_t last[2]; /* corner of the part that came last */
    int64_t elements;
    int wrong; /* not in order, or not where the last one was expected */
    int ends;
    motet_status status; /* of the failure; then of the end */
} ports_sink;

typedef struct ports_case {
    ports_sink sink;
    rt_op op;
    ports_source source[PORTS_ARRAYS];
    motet_array *array[PORTS_ARRAYS]; /* owned; NULL: none */
    int64_t *list, *other, *offset;
    motet_array *out;
    void *expected; /* out->bytes */
} ports_case;

void ports_case_make(motet_context *context, int which, int64_t n, int64_t m, ports_case *out);
void ports_case_free(ports_case *made);
/* The result has the expected bits. */
int ports_right(const ports_case *made);

/* Elements that a kernel found outside of its view. Reset by reading. */
int ports_mistakes(void);
/* How often the transform of PORTS_MADE was called. Reset by reading. */
int ports_makes(void);

#endif
