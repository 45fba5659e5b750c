#include "resume.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervise.h"

/* The CPU does not break its process: what it finishes needs no copy, unless one was asked for or
 * another process has left some. */
static int shares(const run *r)
{
    const char *word = args_text(r->args, "supervise");
    if (child_is_fresh() || (word && !strcmp(word, "yes"))) return 1;
    for (int i = 0; i < r->devices_used; i++)
        if (strcmp(r->device[i], "cpu") != 0) return 1;
    return 0;
}

int resume_begin(run *r)
{
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = args_text(r->args, "resume");
    motet_status st = MOTET_OK;
    if (o.folder)
        st = motet_context_journal(r->context, &o);
    else if (shares(r))
        st = child_journal(r->context);
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
