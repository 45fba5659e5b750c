/* Calibration: weights of an operation's devices from trials of the operation itself. What is
 * measured, chosen and kept is told in motet/calibrate.h; nothing of it changes a bit of a result.
 */
#ifndef MOTET_RT_CALIBRATE_H
#define MOTET_RT_CALIBRATE_H

#include <motet/calibrate.h>

#include "rt/run.h"
#include "rt/weights.h"

enum { RT_LADDER = 5, RT_DRIFT_RUNS = 3 };
#define RT_NEAR    1.03 /* times as long as the fastest: as good */
#define RT_STEP    4.0  /* the largest factor by which a weight is changed at once */
#define RT_DRIFTED 1.5  /* times as long, or as short, as recorded */

typedef struct rt_trial {
    double share; /* of its throughput weight that each device but the reference has */
    double weight[RT_DEVICES];
    int64_t rows[RT_DEVICES]; /* of the shared axis that each gets */
    double seconds;           /* the best; 0: not measured */
    double pace[RT_DEVICES];  /* seconds that the whole would take each device as it went then; 0:
                                 it had no rows */
    const char *skipped;      /* why it was not measured; NULL: it was */
} rt_trial;

typedef struct rt_calibrated {
    char name[32];
    int part;              /* 1: measured; 0: it was lost already, its weight stays */
    double alone;          /* seconds of the whole operation; 0: it does not fit */
    double throughput;     /* weight by that */
    double former, weight; /* former -1: none */
    double pace;           /* seconds for the whole, as it went in the trial chosen */
} rt_calibrated;           /* weights of each kind sum to the number of devices */

typedef struct rt_calibration {
    char operation[RT_WEIGHTS_NAME];
    int64_t extent[RT_AXES], stream_extent;
    int64_t rows; /* of the shared axis */
    int warm_up, repeats;
    int devices, reference;
    rt_calibrated device[RT_DEVICES];
    int trials, choice; /* -1: none, throughput only */
    rt_trial trial[RT_LADDER];
    int bounded; /* 1: a weight was held back by RT_STEP */
    int64_t runs;
    int far, drifted; /* runs in a row that left the record; there were RT_DRIFT_RUNS */
} rt_calibration;

/* As motet_ct_calibrate for any operation. The arrays that it writes are left alone, sinks are not
 * called. The record is kept in the context, and copied to *out if that is not NULL. */
motet_status rt_calibrate(motet_context *context, const rt_op *op,
                          const motet_calibrate_options *options, rt_calibration *out);

/* 1 and a copy of the record, or 0. */
int rt_calibration_of(motet_context *context, const char *operation, rt_calibration *out);
/* Takes the record over, in place of the operation's former one, together with its weights. */
motet_status rt_calibration_keep(motet_context *context, const rt_calibration *record);
void rt_calibrations_free(motet_context *context);

/* Drift: a run of an operation took its devices so long for so many rows. Of the same box as
 * calibrated, times are compared; of another one, only the devices with each other. Told to the log
 * when a new calibration is due. */
void rt_drift_note(motet_context *context, const rt_op *op, const double seconds[RT_DEVICES],
                   const int64_t rows[RT_DEVICES]);
/* 1: these times leave the record. */
int rt_drift_far(const rt_calibration *record, int same_box, const double seconds[RT_DEVICES],
                 const int64_t rows[RT_DEVICES]);

/* Parts of it, pure: */
/* Weights that sum to `count` of `given` ones; none negative, not all 0. */
void rt_weights_scale(double *weights, int count);
/* The largest share within RT_NEAR of the fastest; -1: nothing was measured. */
int rt_ladder_choose(const rt_trial *trial, int trials);
/* Goes from the former weights towards these, scaled alike, as far as none that is above 0 in both
 * changes by more than RT_STEP; answers whether that is short of them. */
int rt_weights_bound(double *weights, const double *former, int count);

#endif
