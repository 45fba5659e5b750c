/* A body that is known exactly, to try geometries on: the Shepp-Logan head in three dimensions (ten
 * ellipsoids; L. A. Shepp, B. F. Logan, IEEE Trans. Nucl. Sci. 21(3):21, 1974, with the contrast of
 * P. Toft). */
#ifndef MOTET_CT_PHANTOM_PUBLIC_H
#define MOTET_CT_PHANTOM_PUBLIC_H

#include <motet/array.h>
#include <motet/ct_geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_ct_phantom {
    uint32_t size;
    double radius;  /* half width of the box around the volume's middle that holds the head, in
                       length units; 0: half of the volume's least side */
    double value;   /* attenuation of bone per length unit; default 1 */
    int64_t points; /* along each axis of a voxel or pixel, of which the mean is taken; default 1:
                       its middle */
} motet_ct_phantom;

MOTET_API void motet_ct_phantom_init(motet_ct_phantom *phantom);
/* volume (z, y, x): what a reconstruction should find. The geometry is one of views in space.
 * `phantom` may be NULL. BAD_SHAPE; BAD_ARGUMENT names the field: a radius that is negative or not
 * finite, a value that is not finite, points < 1 or > 64; UNSUPPORTED: a geometry made of angles;
 * CANCELLED. The volume is written whole or not at all, unless it is MOTET_WRITE_DIRECT. */
MOTET_API motet_status motet_ct_phantom_volume(motet_ct_geometry *geometry,
                                               const motet_ct_phantom *phantom,
                                               motet_array *volume);
/* sinogram (view, u, v): exact line integrals between source and pixel. Errors as above. */
MOTET_API motet_status motet_ct_phantom_project(motet_ct_geometry *geometry,
                                                const motet_ct_phantom *phantom,
                                                motet_array *sinogram);

#ifdef __cplusplus
}
#endif
#endif
