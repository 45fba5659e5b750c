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

typedef struct ports_case {
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

#endif
