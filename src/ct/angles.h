/* The angles of a scan's views, from what the user or a file says. */
#ifndef MOTET_CT_ANGLES_H
#define MOTET_CT_ANGLES_H

#include <motet/context.h>

/* "start:stop" in degrees, stop included, or a file: text with one angle in degrees per line ('#'
 * begins a remark) or .npy in degrees. Fills views radians; BAD_SHAPE when the count differs. */
motet_status angles_given(motet_context *context, const char *text, int64_t views, double *angles);

typedef enum angles_unit { ANGLES_DEGREES, ANGLES_RADIANS, ANGLES_UNKNOWN } angles_unit;
/* "degrees", "deg", "radians", "rad", in any case. */
angles_unit angles_unit_of(const char *text);
/* What directions_look_like_degrees says; UNKNOWN of no angles. */
angles_unit angles_guess(int64_t views, const double *angles);
/* To radians, in place; warns when the unit is a guess or contradicts the values. `unit_text` NULL:
 * none was given. */
motet_status angles_convert(motet_context *context, const char *path, const char *unit_text,
                            int64_t views, double *angles);

#endif
