/* The formats there are. */
#include "store/formats.h"

#include <stddef.h>

const store_format *const store_formats[] = {
    &store_npy,
    &store_hdf5,
    NULL,
};
