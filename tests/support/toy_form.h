/* Every form of operation behind one face: made on a context, run as told, judged. What sim.forms
 * and sim.seeds run, whatever the form. */
#ifndef MOTET_TEST_TOY_FORM_H
#define MOTET_TEST_TOY_FORM_H

#include "rt/run.h"
#include "support/support.h"

typedef enum toy_which {
    TOY_SMOOTH,  /* map with a halo */
    TOY_SUM,     /* map with a stream */
    TOY_UPDATE,  /* map in place */
    TOY_PROJECT, /* a map of an engine */
    TOY_LISTED,  /* rows picked by lists */
    TOY_SUMS,    /* reads ragged rows */
    TOY_SOURCE,  /* inputs from sources */
    TOY_MADE,    /* blocks made of those that arrive */
    TOY_SINK,    /* the result goes to a sink */
    TOY_EMIT,    /* ragged, counted */
    TOY_WALK,    /* ragged within a capacity, and exchange, for some steps */
    TOY_COVER,   /* exact sums */
    TOY_BATCH,   /* three maps, one after the other */
    TOY_SOLVE,   /* steps of a solver whose state stays on the devices */
    TOY_FORMS
} toy_which;

enum { TOY_SIZES = 3 };

typedef struct toy_form toy_form;

const char *toy_form_name(toy_which which);
toy_form *toy_form_make(motet_context *context, toy_which which, int size);
void toy_form_free(toy_form *form);
/* Once for each that was made: an update's output is its input, too. */
motet_status toy_form_run(toy_form *form, const rt_run_options *options);
/* After a run that answered this: what is wrong with the outputs, which have the digest that one
 * CPU gives, or are untouched; NULL: nothing. */
const char *toy_form_wrong(const toy_form *form, motet_status status);
/* Runs a form on one CPU, whose digest is kept, before several threads judge. */
void toy_form_learn(toy_which which, int size);

#endif
