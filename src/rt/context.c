/* Making and freeing a context: base's part, then the devices. */
#include "base/context.h"

#include "base/log.h"
#include "rt/devices.h"
#include "rt/weights.h"

motet_status motet_context_create(const motet_context_options *options, motet_context **out)
{
    motet_context *c;
    motet_status st = context_begin(options, &c);
    if (st != MOTET_OK) return st;
    st = rt_weights_open(c);
    if (st == MOTET_OK) st = rt_devices_open(c, options ? options->devices : NULL);
    if (st != MOTET_OK) { /* there will be no context to read the reason from */
        log_text(c, MOTET_LOG_ERROR, "context", "%s", c->error.message);
        rt_weights_close(c);
        context_end(c);
        return st;
    }
    *out = c;
    return MOTET_OK;
}

void motet_context_free(motet_context *context)
{
    if (!context) return;
    rt_devices_close(context);
    rt_weights_close(context);
    context_end(context);
}
