/* Making and freeing a context: base's part, then the devices. */
#include "base/context.h"

motet_status motet_context_create(const motet_context_options *options, motet_context **out)
{
    return context_begin(options, out);
}

void motet_context_free(motet_context *context)
{
    if (context) context_end(context);
}
