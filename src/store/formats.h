/* The formats there are; listed in formats.c. */
#ifndef MOTET_STORE_FORMATS_H
#define MOTET_STORE_FORMATS_H

#include "store/format.h"

extern const store_format store_hdf5;
extern const store_format store_mha;
extern const store_format store_npy;
extern const store_format store_npz;
extern const store_format store_png;
extern const store_format store_stack;
extern const store_format store_tiff;

#endif
