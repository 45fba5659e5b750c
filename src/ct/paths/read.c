/* Views from files. */
#include <motet/ct_paths.h>

#include "base/fail.h"

motet_status motet_ct_views_read(motet_context *context, const char *path,
                                 motet_ct_geometry_format format, const motet_ct_views *given,
                                 motet_ct_views *out)
{
    (void)format;
    (void)given;
    (void)out;
    return fail(context, MOTET_UNSUPPORTED, "%s: files of geometry cannot be read yet", path);
}
