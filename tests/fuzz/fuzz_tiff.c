/* Any bytes at all, read as tiff. */
#include "store.h"

#include "store/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    return fuzz_store(&store_tiff, data, bytes, NULL);
}
