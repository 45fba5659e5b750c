/* Every form of operation behind one face: made on a context, run as told, digested. What sim.forms
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
    TOY_EMIT,    /* ragged, counted */
    TOY_WALK,    /* ragged within a capacity, and exchange, for some steps */
    TOY_COVER,   /* exact sums */
    TOY_FORMS
} toy_which;

enum { TOY_SIZES = 3 };

typedef struct toy_form toy_form;

const char *toy_form_name(toy_which which);
toy_form *toy_form_make(motet_context *context, toy_which which, int size);
void toy_form_free(toy_form *form);
/* Once for each that was made and succeeded: an update's output is its input, too. */
motet_status toy_form_run(toy_form *form, const rt_run_options *options);
/* Of the outputs as they are. */
void toy_form_digest(const toy_form *form, char digest[33]);
/* What one CPU gives; kept. Not from several threads at once. */
const char *toy_form_expected(toy_which which, int size);

#endif
