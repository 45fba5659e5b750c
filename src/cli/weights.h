/* --weights: "1,2.5", or lists with names before them and ';' between: "1,2;ct.filter=0,1". */
#ifndef MOTET_CLI_WEIGHTS_H
#define MOTET_CLI_WEIGHTS_H

enum { WEIGHTS = 16, WEIGHTS_NAME = 64 };

/* What an operation may be called: the library takes any name, so a slip would go unnoticed. */
#define WEIGHTS_OPERATIONS "ct, ct.project, ct.backproject, ct.filter, ct.fdk, ct.normalise"

typedef struct weights {
    char operation[WEIGHTS_NAME]; /* "": all */
    int count;
    double weight[WEIGHTS];
} weights;

/* The list at *at, which moves on to the next; 1: there was one, 0: the end, -1: it is no list of
 * numbers of at least 0, or for an operation that nobody knows. */
int weights_next(const char **at, weights *out);

#endif
