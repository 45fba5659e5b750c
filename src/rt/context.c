/* Making and freeing a context: base's part, then what the runtime keeps in it, devices last. */
#include "base/context.h"

#include "base/fail.h"
#include "base/log.h"
#include "rt/calibrate.h"
#include "rt/devices.h"
#include "rt/job.h"
#include "rt/journal.h"
#include "rt/plan_record.h"
#include "rt/turn.h"
#include "rt/weights.h"

static motet_status open_all(motet_context *c, const char *devices)
{
    TRY(rt_weights_open(c));
    TRY(rt_turns_create(c));
    return rt_devices_open(c, devices);
}

motet_status motet_context_create(const motet_context_options *options, motet_context **out)
{
    motet_context *c;
    motet_status st = context_begin(options, &c);
    if (st != MOTET_OK) return st;
    st = open_all(c, options ? options->devices : NULL);
    if (st != MOTET_OK) { /* there will be no context to read the reason from */
        motet_error error;
        motet_context_error(c, &error);
        log_text(c, MOTET_LOG_ERROR, "context", "%s", error.message);
        motet_context_free(c);
        return st;
    }
    *out = c;
    return MOTET_OK;
}

void motet_context_free(motet_context *context)
{
    if (!context) return;
    rt_jobs_end(context);
    rt_devices_close(context);
    rt_journal_close(context->journal);
    rt_turns_free(context);
    rt_calibrations_free(context);
    rt_weights_close(context);
    rt_plan_records_clear(context);
    context_end(context);
}
