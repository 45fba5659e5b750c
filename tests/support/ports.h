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
    PORTS_CASES
};

enum { PORTS_ARRAYS = 5 };

typedef struct ports_case {
    rt_op op;
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
