/* The formats there are. MetaImage has no magic and comes last. */
#include "store/formats.h"

#include <stddef.h>

const store_format *const store_formats[] = {
    &store_npy, &store_npz, &store_hdf5, &store_png, &store_tiff, &store_stack, &store_mha, NULL,
};
