#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_memory.h"
#include "supervise.h"

/* JSON is UTF-8; a path need not be. Bytes that are not are shown as '?'. */
static json_t *text_of(const char *text)
{
    json_t *good = json_string(text);
    if (good) return good;
    char *copy = strdup(text);
    if (!copy) return json_null();
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    good = json_string(copy);
    free(copy);
    return good ? good : json_null();
}

static json_t *files_of(json_t *paths)
{
    json_t *files = json_array(), *path;
    size_t i;
    json_array_foreach(paths, i, path)
    {
        char digest[33];
        int64_t bytes = 0;
        json_t *file = json_object();
        json_object_set_new(file, "path", text_of(json_string_value(path)));
        const int known = !file_digest(json_string_value(path), digest, &bytes);
        json_object_set_new(file, "bytes", known ? json_integer(bytes) : json_null());
        json_object_set_new(file, "digest", known ? json_string(digest) : json_null());
        json_array_append_new(files, file);
    }
    return files;
}

/* The context's own account; an empty object when there is none. */
static json_t *account_of(run *r)
{
    char *text = NULL;
    json_t *account = NULL;
    if (r->context && motet_context_report(r->context, &text) == MOTET_OK) {
        account = json_loads(text, 0, NULL);
        motet_text_free(r->context, text);
    }
    return account ? account : json_object();
}

static json_t *part(const json_t *account, const char *name, json_t *otherwise)
{
    json_t *found = json_object_get(account, name);
    if (!found) return otherwise;
    json_decref(otherwise);
    return json_incref(found);
}

static json_t *compose(run *r)
{
    const double seconds = run_now() - r->begun; /* without the digests below */
    json_t *report = json_object(), *words = json_array();
    for (int i = 0; i < r->args->argc; i++)
        json_array_append_new(words, i ? text_of(r->args->argv[i]) : json_string("motet"));
    json_object_set_new(report, "motet",
                        json_pack("{s:s, s:s}", "version", motet_version(), "build", MOTET_BUILD));
    json_object_set_new(report, "command", words);
    json_object_set_new(report, "inputs", files_of(r->inputs));
    json_object_set_new(report, "outputs", files_of(r->outputs));
    json_object_set(report, "result", r->result);
    json_t *account = account_of(r);
    json_object_set_new(report, "plan", part(account, "plan", json_null()));
    json_object_set_new(report, "devices", part(account, "devices", json_array()));
    json_object_set_new(report, "operations", part(account, "operations", json_array()));
    json_t *timing = json_pack("{s:f, s:O}", "seconds", seconds, "stages", r->stages);
    json_object_set_new(report, "timing", timing);
    json_t *memory = part(account, "memory", json_object());
    if (!json_object_get(memory, "planned")) json_object_set_new(memory, "planned", json_null());
    json_object_set_new(report, "memory", memory);
    json_object_set_new(report, "losses", part(account, "losses", json_array()));
    json_object_set_new(report, "warnings", part(account, "warnings", json_array()));
    json_decref(account);
    return report;
}

int report_write(run *r)
{
    const command *c = r->args->command;
    json_t *report = compose(r);
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(17);
    const size_t length = json_dumpb(report, NULL, 0, flags); /* json_dumps may leave out parts */
    char *text = length ? malloc(length + 1) : NULL;
    const int written = text && json_dumpb(report, text, length, flags) == length;
    const int whole = written && !json_memory_lacked(); /* nothing was left out on the way */
    json_decref(report);
    if (!whole) {
        free(text);
        return complain(c, EXIT_DEVICE, "no memory for the report");
    }
    text[length] = '\n';
    char path[1024];
    snprintf(path, sizeof path, "%s",
             strcmp(r->json_file.path, "-") ? r->json_file.path : "standard output");
    if (!child_is()) fflush(stdout); /* a child's words wait until all is done */
    const int reason = outfile_commit(&r->json_file, text, length + 1);
    free(text);
    if (reason) return complain(c, EXIT_FILES, "%s: %s", path, strerror(reason));
    return EXIT_OK;
}
