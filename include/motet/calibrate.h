/* Sharing work out by measurement: how fast each device is at an operation, and how large a part of
 * it is worth sending away.
 *
 * A calibration runs the operation itself, on outputs of its own, so often that every weighting is
 * measured `repeats` times by turns and the best time of each counts:
 *   1. on each device alone: weights in proportion to 1 / time;
 *   2. on all of them, the fastest device with its weight and the others with 1, 1/2, 1/4, 1/10 and
 *      none of theirs. The largest part within 3 % of the fastest is taken; none only if that wins
 *      a second comparison as well.
 * A weight that a former calibration or motet_context_weights set for this operation is changed by
 * a factor of four at most. The weights are then those of the operation, as if set by
 * motet_context_weights. Results never change: weights say who computes, not what. */
#ifndef MOTET_CALIBRATE_H
#define MOTET_CALIBRATE_H

#include <motet/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_calibrate_options {
    uint32_t size;
    int warm_up;         /* runs of each weighting that do not count; 1 */
    int repeats;         /* that do; 3 */
    int throughput_only; /* 1: without step 2 */
} motet_calibrate_options;

MOTET_API void motet_calibrate_options_init(motet_calibrate_options *options);

/* Calibrates what the operation consists of, on made-up data of the geometry's sizes. NULL options:
 * the defaults. Whatever fails, weights and records stay as they were. BAD_ARGUMENT: a `size` that
 * _init did not set, warm_up below 0, repeats below 1, or a clock that measured no time;
 * DEVICE_LOST: a device was lost meanwhile; OVER_BUDGET, NO_MEMORY: as the operation would be, the
 * outputs included; CANCELLED. */
MOTET_API motet_status motet_ct_calibrate(motet_ct_geometry *geometry, motet_ct_operation operation,
                                          const motet_calibrate_options *options);

/* The record of the last calibration of an operation, as one JSON object. Names are those of the
 * report: "ct.project", "ct.backproject", "ct.filter"; a reconstruction consists of the last two.
 *   {"operation", "rows", "warm_up", "repeats",
 *    "devices": [{"name", "alone_seconds", "throughput_weight", "former_weight", "weight"}],
 *    "reference", "trials": [{"share", "weights": [..], "rows": [..], "seconds", "skipped"}],
 *    "chosen_share", "bounded", "runs", "drifted"}
 * `alone_seconds` is null where the operation does not fit, `former_weight` where there was none;
 * `share` is the factor of all weights but the reference's, `skipped` why it was not measured or
 * null. `runs`: since then; `drifted`: three of them in a row took some device more than 1.5 times
 * as long, or as short, as recorded, so that a new calibration is due. The text is freed with
 * motet_text_free. NOT_FOUND: it was not calibrated. */
MOTET_API motet_status motet_context_calibration(motet_context *context, const char *operation,
                                                 char **json);

#ifdef __cplusplus
}
#endif
#endif
