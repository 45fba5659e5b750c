/* An 8-bit picture of one slice. */
#ifndef MOTET_CLI_PICTURE_H
#define MOTET_CLI_PICTURE_H

#include <stdint.h>

/* The values that become black and white: percentiles 0.5 and 99.5 of the finite values inside the
 * inscribed circle (nearest rank). 0 when there is no memory; black = white = 0 when no value is
 * finite. */
int picture_window(const float *slice, int64_t ny, int64_t nx, double *black, double *white);
/* Grey levels, row 0 first; in place of the values. */
void picture_grey(const float *slice, int64_t count, double black, double white, uint8_t *out);

#endif
