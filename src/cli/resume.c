#include "resume.h"

#include <stdio.h>
#include <unistd.h>

#include "supervise.h"

int resume_begin(run *r)
{
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = args_text(r->args, "resume");
    const motet_status st =
        o.folder ? motet_context_journal(r->context, &o) : child_journal(r->context);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

void resume_end(run *r)
{
    const char *folder = args_text(r->args, "resume");
    motet_journal_counts n;
    motet_context_journal_counts(r->context, &n);
    char path[4096]; /* removed while it is locked: what another process then makes is its own */
    if (folder && snprintf(path, sizeof path, "%s/journal", folder) < (int)sizeof path)
        unlink(path);
    motet_context_journal(r->context, NULL);
    if (folder || n.records)
        json_object_set_new(r->result, "resumed",
                            json_pack("{s:I, s:I}", "parts", (json_int_t)n.found, "bytes",
                                      (json_int_t)n.found_bytes));
    if (!folder) return;
    if (n.records && !n.found)
        complain(r->args->command, EXIT_OK,
                 "warning: %.200s was of another input, other options or another build; all was "
                 "computed anew",
                 folder);
    rmdir(folder); /* what else is in it stays */
}
