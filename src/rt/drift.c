/* Whether a run's times still are those of a calibration. Weights depend on the devices' times
 * relative to each other only. So where the box is another one than was measured, and everything
 * may take longer or shorter, the devices of the run are compared with each other. */
#include "rt/calibrate.h"

int rt_drift_far(const rt_calibration *r, int same_box, const double seconds[RT_DEVICES],
                 const int64_t rows[RT_DEVICES])
{
    double total = 0, least = 0, most = 0; /* measured / recorded, of all devices with rows */
    for (int i = 0; i < r->devices; i++) total += (double)rows[i];
    for (int i = 0; i < r->devices; i++) {
        const double recorded = r->device[i].pace * (double)rows[i];
        if (!(rows[i] > 0 && seconds[i] > 0 && recorded > 0)) continue;
        const double ratio = seconds[i] * total / recorded;
        if (least <= 0 || ratio < least) least = ratio;
        if (ratio > most) most = ratio;
    }
    if (least <= 0) return 0;
    if (same_box) return most > RT_DRIFTED || least < 1 / RT_DRIFTED;
    return most > RT_DRIFTED * least;
}
