/* Any bytes at all, read as hdf5. What libhdf5 itself does with hostile files is out of our hands
 * (src/store/README.md); its leaks are passed over here, ours are counted by the context. */
#include "store.h"

#include "store/formats.h"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    return fuzz_store(&store_hdf5, data, bytes, "/data");
}
