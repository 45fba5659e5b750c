/* motet verify: one small fixed case of each engine on every device, and on the CPU for every
 * instruction set and several numbers of threads. Every digest must be the one in golden.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ct_case.h"
#include "device_list.h"
#include "golden.h"
#include "words.h"

/* Not multiples of any vector width, so that remainders are computed too. */
enum { CASE_ROWS = 19, CASE_COLUMNS = 61, CASE_VIEWS = 24, CASE_SIZE = 13 };

static const struct {
    ct_scene scene;
    ct_step step;
    const char *name, *digest;
} golden[] = {
#define ROW(scene, step, name, digest) {scene, step, name, digest},
    GOLDEN_LIST(ROW)
#undef ROW
};
enum { DIGEST = 33, CASES = sizeof golden / sizeof *golden };

typedef struct verification {
    run *r;
    char first[CASES][DIGEST];   /* of the first configuration */
    char against[CASES][DIGEST]; /* of the other machine; "" when there is none */
    int compared, configurations, differing;
    int width;     /* of the column of devices */
    char all[600]; /* the devices, to be used at once */
    json_t *rows;
} verification;

static int refuse(const verification *v, const char *path, int line, const char *what)
{
    return complain(v->r->args->command, EXIT_REFUSED,
                    "%s:%d: %s, expected a case and 32 hexadecimal digits", path, line, what);
}

static int read_line(verification *v, const char *path, int number, char *line)
{
    line[strcspn(line, "\r\n")] = 0;
    if (!*line || *line == '#') return EXIT_OK;
    char *digest = strchr(line, ' ');
    if (!digest) return refuse(v, path, number, "no digest");
    *digest++ = 0;
    if (strlen(digest) != 32 || strspn(digest, "0123456789abcdef") != 32)
        return refuse(v, path, number, "a malformed digest");
    for (int i = 0; i < CASES; i++)
        if (!strcmp(golden[i].name, line)) {
            if (*v->against[i]) return refuse(v, path, number, "a case for the second time");
            memcpy(v->against[i], digest, DIGEST);
            return EXIT_OK;
        }
    return refuse(v, path, number, "an unknown case");
}

static int read_against(verification *v, const char *path)
{
    const command *c = v->r->args->command;
    FILE *file = fopen(path, "re");
    if (!file) return complain(c, EXIT_FILES, "%s: %s", path, strerror(errno));
    char line[256];
    int code = EXIT_OK;
    for (int number = 1; !code && fgets(line, sizeof line, file); number++) {
        if (number > 1000 || (!strchr(line, '\n') && !feof(file)))
            code = refuse(v, path, number, "no list of digests");
        else
            code = read_line(v, path, number, line);
    }
    if (!code && ferror(file)) code = complain(c, EXIT_FILES, "%s: %s", path, strerror(errno));
    fclose(file);
    for (int i = 0; i < CASES && !code; i++)
        if (!*v->against[i])
            code = complain(c, EXIT_REFUSED, "%s: lacks a digest of %s", path, golden[i].name);
    v->compared = !code;
    return code;
}

/* What is wrong with a digest; NULL: nothing. */
static const char *verdict(verification *v, int i, const char *digest)
{
    if (!*v->first[i]) memcpy(v->first[i], digest, DIGEST);
    if (strcmp(digest, golden[i].digest)) return "DIFFERS from the released digest";
    if (strcmp(digest, v->first[i])) return "DIFFERS from the first row";
    if (v->compared && strcmp(digest, v->against[i])) return "DIFFERS from --against";
    return NULL;
}

static void tell(verification *v, int i, const char *device, const char *isa, int threads,
                 const char *digest)
{
    const char *wrong = verdict(v, i, digest);
    v->differing += wrong != NULL;
    char number[16];
    snprintf(number, sizeof number, "%d", threads);
    if (v->r->talks)
        printf("%-21s  %-*s  %-4s  %7s  %s  %s\n", golden[i].name, v->width, device, isa,
               threads ? number : "-", digest, wrong ? wrong : "ok");
    json_array_append_new(v->rows,
                          json_pack("{s:s, s:s, s:s, s:i, s:s, s:b}", "case", golden[i].name,
                                    "device", device, "isa", isa, "threads", threads, "digest",
                                    digest, "ok", wrong == NULL));
}

static motet_status run_scene(verification *v, motet_context *context, ct_scene scene,
                              const char *device, const char *isa, int threads)
{
    ct_case c;
    motet_status st = scene == CT_SLICES
                          ? ct_case_create(context, CASE_ROWS, CASE_COLUMNS, CASE_VIEWS, &c)
                          : ct_case_create_views(context, scene, CASE_SIZE, CASE_VIEWS, &c);
    if (st != MOTET_OK) return st;
    for (int i = 0; i < CASES && st == MOTET_OK; i++) {
        if (golden[i].scene != scene) continue;
        const motet_array *result = NULL;
        char digest[DIGEST] = "";
        st = ct_case_run(&c, golden[i].step, &result);
        if (st == MOTET_OK) st = motet_array_digest(result, digest);
        if (st == MOTET_OK) tell(v, i, device, isa, threads, digest);
    }
    ct_case_free(&c);
    return st;
}

static motet_status run_cases(verification *v, motet_context *context, const char *device,
                              const char *isa, int threads)
{
    motet_status st = MOTET_OK;
    for (int scene = CT_SLICES; scene <= CT_TILTED && st == MOTET_OK; scene++)
        st = run_scene(v, context, (ct_scene)scene, device, isa, threads);
    return st;
}

static int configuration(verification *v, const char *device, motet_isa isa, int threads,
                         int weighted)
{
    run *r = v->r;
    if (run_stopped()) return run_cancelled(r);
    motet_context_options o;
    run_options(r, &o);
    o.devices = device;
    o.isa = isa;
    o.threads = threads;
    motet_context *context = NULL;
    motet_status st = run_context(r, &o, &context);
    if (st != MOTET_OK) return run_fail(r, NULL, st);
    const int cpu = !strcmp(device, "cpu");
    if (weighted) st = run_weights(r, context);
    if (st == MOTET_OK)
        st = run_cases(v, context, device, cpu ? motet_isa_text(isa) : "-", cpu ? threads : 0);
    int code = EXIT_OK;
    if (st != MOTET_OK) code = run_fail(r, context, st);
    run_context_free(r, context);
    v->configurations++;
    return code;
}

static int every_configuration(verification *v)
{
    static const int threads[] = {1, 2, 4};
    static const motet_isa isas[] = {MOTET_ISA_BASE, MOTET_ISA_V3, MOTET_ISA_V4};
    const args *a = v->r->args;
    const int only = (int)args_whole(a, "threads", 0);
    const flag_value *isa = args_value(a, "isa");
    int code = EXIT_OK;
    for (size_t i = 0; i < sizeof isas / sizeof *isas && !code; i++) {
        if (!motet_isa_available(isas[i])) continue;
        if (isa->given && isa->choice && isas[i] != (motet_isa)isa->choice) continue;
        for (size_t t = 0; t < sizeof threads / sizeof *threads && !code; t++) {
            if (only && t) break;
            code = configuration(v, "cpu", isas[i], only ? only : threads[t], 0);
        }
    }
    const int devices = motet_context_devices(v->r->context);
    for (int i = 0; i < devices && !code; i++) {
        motet_device_info d;
        if (motet_context_device(v->r->context, i, &d) != MOTET_OK) continue;
        if (strcmp(d.name, "cpu")) code = configuration(v, d.name, MOTET_ISA_AUTO, 0, 0);
    }
    if (devices > 1 && !code) code = configuration(v, v->all, MOTET_ISA_AUTO, only, 1);
    return code;
}

/* As they were asked for; those of auto take part alike, the CPU, too. */
static void list_devices(verification *v, const char *asked)
{
    const run *r = v->r;
    size_t used = 0;
    if (asked && !device_list_auto(asked))
        used = (size_t)snprintf(v->all, sizeof v->all, "%s", asked);
    else
        for (int i = 0; i < r->devices_used; i++)
            used += (size_t)snprintf(v->all + used, sizeof v->all - used, "%s%s", i ? "," : "",
                                     r->device[i]);
    if (used > 7) v->width = (int)used;
}

static int save(verification *v, outfile *file, const char *path)
{
    char text[CASES * 64 + 128];
    size_t n = (size_t)snprintf(text, sizeof text, "# motet verify %s\n", motet_version());
    for (int i = 0; i < CASES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %s\n", golden[i].name, v->first[i]);
    const int reason = outfile_commit(file, text, n);
    if (!reason) return EXIT_OK;
    return complain(v->r->args->command, EXIT_FILES, "%s: %s", path, strerror(reason));
}

static int verify(verification *v, outfile *file)
{
    run *r = v->r;
    const args *a = r->args;
    const char *against = args_text(a, "against"), *path = args_text(a, "save");
    run_input(r, against);
    run_output(r, path);
    int code = run_check_distinct(r);
    if (!code && against) code = read_against(v, against);
    if (!code && path) {
        const int reason = outfile_begin(file, path, args_given(a, "overwrite"));
        if (reason == EEXIST)
            return complain(a->command, EXIT_REFUSED, "%s: exists already; --overwrite replaces it",
                            path);
        if (reason) return complain(a->command, EXIT_FILES, "%s: %s", path, strerror(reason));
    }
    if (code) return code;
    if (r->talks)
        printf("%-21s  %-*s  %-4s  %7s  %-32s\n", "case", v->width, "device", "isa", "threads",
               "digest");
    code = every_configuration(v);
    if (code) return code;
    json_object_set_new(r->result, "differing", json_integer(v->differing));
    json_object_set(r->result, "cases", v->rows);
    if (path) code = save(v, file, path);
    if (r->talks && !v->differing)
        printf("%d configurations, the same bits in all%s\n", v->configurations,
               v->compared ? " and on the other machine" : "");
    if (v->differing) {
        fflush(stdout);
        code = complain(a->command, EXIT_CHECK, "%d of %d digests differ", v->differing,
                        v->configurations * CASES);
    }
    return code;
}

int run_verify(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    verification v = {.r = &r, .rows = json_array(), .width = 7};
    list_devices(&v, args_text(a, "devices"));
    outfile file = {.descriptor = -1};
    code = verify(&v, &file);
    outfile_drop(&file);
    json_decref(v.rows);
    return run_end(&r, code);
}
