/* The inside of finding the rotation axis: see centre.c. */
#ifndef MOTET_CT_CENTRE_H
#define MOTET_CT_CENTRE_H

#include <motet/ct.h>

#include "base/log.h"
#include "ct/directions.h"

typedef struct mirror { /* what a view's opposite is made of: (1 - part) * low + part * high */
    int64_t view, low, high;
    double part;
} mirror;

typedef struct finder {
    motet_context *context;
    const float *sinogram; /* views, columns, rows */
    const double *angles;
    int64_t views, columns, rows;
    int bits;                    /* of the transform's length, a power of two >= 2 columns */
    int64_t frequencies;         /* 1 .. frequencies - 1 are used; spacing 2 pi / 2^bits */
    double *turn, *work;         /* of ct_fft_f64: 2^bits complex values each */
    double *re, *im;             /* views * frequencies: spectra of one row */
    double *weight;              /* of a view: half the gaps to its neighbours modulo pi */
    double *phase_re, *phase_im; /* of the harmonic at hand, per view */
    double *turn_re, *turn_im;   /* e^{-i angle} */
    double *sum[4];              /* frequencies each */
    double *d_re, *d_im;         /* D(w), weight included */
    double *profile;             /* columns */
    double *window;              /* columns; NULL: none */
    direction *order;
    mirror *mirrors;
    int64_t mirror_count;
    int by_mirrors; /* the scan holds opposite views */
    double energy;  /* E */
    log_phase phase;
    int64_t measured; /* rows, of all passes: the progress */
    motet_status st;  /* CANCELLED ends every loop */
} finder;

/* Once in each round of a loop that a scan can make long. 0: the rest does not matter any more. */
int centre_goes_on(finder *f);

/* ---- centre_angles.c ---- */

/* Weights for the wedge; warns of holes. */
void centre_weigh_views(finder *f);
/* The opposite of every view that has one: a view, or two neighbours to interpolate between. */
void centre_find_mirrors(finder *f);

/* ---- centre_measure.c ---- */

/* Fills D(w) and E for an object of this radius in columns. */
void centre_measure(finder *f, double radius);
int64_t centre_rows(const finder *f); /* that a measure looks at */
/* M(centre). */
double centre_disagreement(const finder *f, double centre);

#endif
