#include "run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device_list.h"
#include "report.h"
#include "supervise.h"
#include "weights.h"

static volatile sig_atomic_t stopped;
static _Atomic(motet_context *) reached; /* by Ctrl-C */
static char log_error[256];              /* what a context that was never made had to say */
static int line_shown;                   /* a progress line stands on the terminal */

static void on_stop(int signal_number)
{
    (void)signal_number;
    const int kept = errno;
    stopped = 1;
    motet_context *context = atomic_load(&reached);
    if (context) motet_context_cancel(context);
    child_orphaned();
    errno = kept;
}

static void install_handlers(void)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_stop;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct sigaction former;
        /* nohup's choice stands; a SIGINT ignored by a shell's background job is still heard when
         * sent on purpose */
        if (stops[i] == SIGHUP && !sigaction(SIGHUP, NULL, &former) && former.sa_handler == SIG_IGN)
            continue;
        sigaction(stops[i], &action, NULL);
    }
    /* Full pipes and file size limits then come back as errors of write, and clean-up runs. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

int run_stopped(void) { return stopped; }

static void clear_line(void)
{
    if (line_shown) fputs("\r\033[K", stderr);
    line_shown = 0;
}

int cancelled(const args *a)
{
    const char *folder = args_text(a, "resume");
    clear_line();
    if (folder && access(folder, F_OK) == 0) /* else nothing was begun */
        return complain(a->command, EXIT_CANCELLED,
                        "cancelled; no output was written, %.200s keeps what is finished", folder);
    return complain(a->command, EXIT_CANCELLED, "cancelled; nothing was written");
}

int run_cancelled(const run *r) { return cancelled(r->args); }

static void on_log(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component;
    (void)user;
    if (level == MOTET_LOG_ERROR) snprintf(log_error, sizeof log_error, "%s", text);
    if (level != MOTET_LOG_WARNING) return; /* errors come back as statuses */
    clear_line();
    const char *hint =
        strstr(text, "(view, v, u)?") ? " motet ct convert --sinogram swaps them" : "";
    fprintf(stderr, "motet: warning: %s%s\n", text, hint);
}

static void show_progress(const char *phase, int64_t done, int64_t total)
{
    static double last;
    static char last_phase[64];
    const double now = run_now();
    const int terminal = isatty(STDERR_FILENO);
    const int ends = done >= total || strncmp(phase, last_phase, sizeof last_phase - 1);
    if (!ends && now - last < (terminal ? 0.05 : 1.0)) return;
    last = now;
    snprintf(last_phase, sizeof last_phase, "%s", phase);
    char text[128];
    if (total > 0)
        snprintf(text, sizeof text, "%s: %lld of %lld (%lld%%)", phase, (long long)done,
                 (long long)total, (long long)((double)done * 100.0 / (double)total));
    else
        snprintf(text, sizeof text, "%s: %lld", phase, (long long)done);
    if (terminal)
        fprintf(stderr, "\r\033[K%s", text);
    else
        fprintf(stderr, "%s\n", text);
    fflush(stderr);
    line_shown = terminal;
}

static motet_go on_progress(const motet_progress *p, void *user)
{
    run *r = user;
    if (r->progress && !r->alone) show_progress(p->phase, p->done, p->total);
    child_beat();
    return stopped ? MOTET_STOP : MOTET_GO_ON;
}

void run_progress(run *r, const char *phase, int64_t done, int64_t total)
{
    if (r->progress) show_progress(phase, done, total);
    child_beat();
}

void run_progress_end(run *r)
{
    (void)r;
    clear_line();
}

int run_exit_code(motet_status status)
{
    switch (status) {
    case MOTET_OK: return EXIT_OK;
    case MOTET_NOT_FOUND:
    case MOTET_BUSY:
    case MOTET_IO: return EXIT_FILES;
    case MOTET_NO_MEMORY:
    case MOTET_OVER_BUDGET: return EXIT_DEVICE;
    default: break;
    }
    switch (motet_status_class_of(status)) {
    case MOTET_CLASS_CALLER:
    case MOTET_CLASS_DATA: return EXIT_REFUSED;
    case MOTET_CLASS_RESOURCE: return EXIT_FILES;
    case MOTET_CLASS_DEVICE: return EXIT_DEVICE;
    case MOTET_CLASS_CANCELLED: return EXIT_CANCELLED;
    default: return EXIT_CHECK;
    }
}

static int has_flag(const command *c, const char *name)
{
    const flag *f;
    for (int i = 0; (f = command_flag(c, i)); i++)
        if (!strcmp(f->name, name)) return 1;
    return 0;
}

const char *run_hint(const run *r, motet_status status, const char *message, char out[RUN_HINT])
{
    static const struct {
        const char *field, *flag, *advice;
    } hints[] = {
        {"options.angles", "angles", "--angles START:STOP (degrees) or --angles FILE does"},
        {"gives the size of the detector", "detector", "--detector NUxNV does"},
        {"gives the pitch of the detector", "pitch", "--pitch P or PxQ (mm) does"},
        {"gives the size of the volume", "size", "--size N or NxNxN does"},
        {"gives the size of a voxel", "voxel", "--voxel V or VxVxV (mm) does"},
        {"not finite or beyond 1e30", "nan-as-zero", "--nan-as-zero takes them as 0"},
        {"options.flats", "flats",
         "--flats FILE does, and --line-integrals says that the data need none"},
    };
    *out = 0;
    if (status == MOTET_EXISTS && !args_given(r->args, "overwrite"))
        snprintf(out, RUN_HINT, "; --overwrite replaces it");
    static const char *const bounds[] = {"host-memory", "memory"};
    for (size_t i = 0; i < 2 && status == MOTET_NO_MEMORY && !*out; i++)
        if (args_given(r->args, bounds[i]))
            snprintf(out, RUN_HINT, "; --%s allows %.40s", bounds[i],
                     args_text(r->args, bounds[i]));
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && strstr(message, " to use: ")) /* of GPUs */
        snprintf(out, RUN_HINT, "; CUDA_VISIBLE_DEVICES is \"%.80s\"", visible);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (!strstr(message, hints[i].field)) continue;
        const int here = has_flag(r->args->command, hints[i].flag);
        snprintf(out, RUN_HINT, "; %s%s", here ? "" : "motet ct recon ", hints[i].advice);
    }
    return out;
}

/* The device that was lost first, as after a kernel that traps all GPUs of a process are: it has
 * the least time to wait. "-": none is known. */
static const char *culprit(const run *r, const motet_context *context)
{
    const char *name = "-";
    double least = 0;
    for (int i = 0; context == r->context && i < r->devices_used; i++) {
        motet_device_state s;
        if (motet_context_device_state(context, i, &s) != MOTET_OK || !s.lost) continue;
        if (*name != '-' && s.wait >= least) continue;
        name = r->device[i];
        least = s.wait;
    }
    return name;
}

int run_fail(const run *r, const motet_context *context, motet_status status)
{
    if (status == MOTET_CANCELLED) return run_cancelled(r);
    motet_error error;
    memset(&error, 0, sizeof error);
    if (context) motet_context_error(context, &error);
    clear_line();
    const char *message =
        error.status == status && *error.message ? error.message : motet_status_text(status);
    if ((status == MOTET_DEVICE_LOST || status == MOTET_DEVICE_HUNG) &&
        child_lost(culprit(r, context), message))
        return run_exit_code(status);
    char hint[RUN_HINT];
    return complain(r->args->command, run_exit_code(status), "%s%s", message,
                    run_hint(r, status, message, hint));
}

/* The list that the command was given; those without such a flag compute nothing worth a GPU. */
static const char *devices_of(const args *a)
{
    const flag *f;
    int i = 0;
    while ((f = command_flag(a->command, i)) && f->kind != FLAG_DEVICES) i++;
    if (!f) return "cpu";
    return args_given(a, "devices") ? args_text(a, "devices") : "auto";
}

void run_options(run *r, motet_context_options *o)
{
    const args *a = r->args;
    motet_context_options_init(o);
    o->log = on_log;
    o->progress = on_progress;
    o->progress_user = r;
    o->devices = child_devices(devices_of(a), r->devices, sizeof r->devices);
    o->lost_ends = child_is();
    o->threads = (int)args_whole(a, "threads", 0);
    const flag_value *isa = args_value(a, "isa");
    o->isa = isa->given ? (motet_isa)isa->choice : MOTET_ISA_AUTO;
    o->chunk = args_whole(a, "chunk", 0);
    o->verify_fraction = args_real(a, "verify-fraction", 0);
    o->memory = args_value(a, "memory")->bytes;
    o->host_memory = args_value(a, "host-memory")->bytes;
}

motet_status run_weights(const run *r, motet_context *context)
{
    /* They are of all devices that are named: without those left out they mean nothing. */
    const char *at = *r->devices ? NULL : args_text(r->args, "weights");
    weights one;
    while (at && weights_next(&at, &one) > 0) {
        const char *operation = *one.operation ? one.operation : NULL;
        const motet_status st = motet_context_weights(context, operation, one.count, one.weight);
        if (st != MOTET_OK) return st;
    }
    return MOTET_OK;
}

/* The CPU's memory is the host's: the smaller bound holds. 1: that is --memory. */
static int bound_host(motet_context_options *o)
{
    if (!o->memory || (o->host_memory && o->host_memory <= o->memory)) return 0;
    o->host_memory = o->memory;
    return 1;
}

motet_status run_context(run *r, const motet_context_options *options, motet_context **out)
{
    motet_context_options o = *options;
    if (device_list_cpu(o.devices)) bound_host(&o);
    motet_status st = motet_context_create(&o, out);
    /* Without GPUs auto is the CPU. */
    if (st == MOTET_OK && device_list_auto(o.devices) && motet_context_devices(*out) == 1 &&
        bound_host(&o)) {
        motet_context_free(*out);
        st = motet_context_create(&o, out);
    }
    r->host_memory = o.host_memory;
    if (st == MOTET_OK) atomic_store(&reached, *out);
    return st;
}

void run_context_free(run *r, motet_context *context)
{
    atomic_store(&reached, r->context == context ? NULL : r->context);
    motet_context_free(context);
}

int run_context_failed(const run *r, motet_status st)
{
    const char *text = *log_error ? log_error : motet_status_text(st);
    /* The flags were well formed, so what is missing is a device or an instruction set. */
    const int lacking = st == MOTET_BAD_ARGUMENT || st == MOTET_UNSUPPORTED;
    char hint[RUN_HINT];
    if (child_is_fresh() && child_lost("-", text)) return EXIT_DEVICE;
    return complain(r->args->command, lacking ? EXIT_DEVICE : run_exit_code(st), "%s%s", text,
                    run_hint(r, st, text, hint));
}

void run_context_use(run *r, motet_context *context)
{
    const int count = motet_context_devices(context);
    r->context = context;
    r->devices_used = 0;
    atomic_store(&reached, context);
    for (int i = 0; i < count && i < RUN_DEVICES; i++) {
        motet_device_info d;
        motet_device_state s;
        if (motet_context_device_state(r->context, i, &s) != MOTET_OK) continue;
        memcpy(r->device[r->devices_used++], s.name, sizeof s.name);
        if (!strcmp(s.name, "cpu")) continue;
        const int there = motet_context_device(r->context, i, &d) == MOTET_OK;
        child_uses(s.name, there ? d.uuid : "");
    }
}

int run_begin(run *r, const args *a)
{
    memset(r, 0, sizeof *r);
    r->args = a;
    r->begun = run_now();
    const char *json = args_text(a, "json");
    r->talks = !args_given(a, "quiet") && !(json && !strcmp(json, "-"));
    r->progress = args_given(a, "progress") || (!args_given(a, "quiet") && isatty(STDERR_FILENO));
    install_handlers();

    motet_context_options options;
    run_options(r, &options);
    motet_context *context;
    const motet_status st = run_context(r, &options, &context);
    if (st != MOTET_OK) return run_context_failed(r, st);
    run_context_use(r, context);
    if (run_weights(r, r->context) != MOTET_OK) {
        const int code = run_fail(r, r->context, MOTET_BAD_ARGUMENT);
        run_end(r, code);
        return code;
    }
    outfile_mark(motet_context_mark(r->context));
    child_marked(motet_context_mark(r->context));
    r->inputs = json_array();
    r->outputs = json_array();
    r->result = json_object();
    r->stages = json_array();
    if (!r->inputs || !r->outputs || !r->result || !r->stages) {
        run_end(r, EXIT_DEVICE);
        return complain(a->command, EXIT_DEVICE, "out of memory");
    }
    return EXIT_OK;
}

/* Only after the inputs and outputs are known to differ: overwriting must not begin on an input. */
static int begin_json(run *r)
{
    const char *path = args_text(r->args, "json");
    if (!path || r->json_file.begun) return EXIT_OK;
    child_output(path);
    const int reason = outfile_begin(&r->json_file, path, args_given(r->args, "overwrite"));
    if (!reason) return EXIT_OK;
    if (reason == EEXIST)
        return complain(r->args->command, EXIT_REFUSED,
                        "%s: exists already; --overwrite replaces it", path);
    return complain(r->args->command, EXIT_FILES, "%s: %s", path, strerror(reason));
}

int run_check_distinct(run *r)
{
    size_t i, j;
    json_t *in, *out;
    const char *json = args_text(r->args, "json");
    if (json && !strcmp(json, "-")) json = NULL;
    json_t *outputs = json_copy(r->outputs);
    if (json) json_array_append_new(outputs, json_string_nocheck(json));
    int code = EXIT_OK;
    json_array_foreach(outputs, i, out)
    {
        const char *path = json_string_value(out);
        json_array_foreach(r->inputs, j, in)
        {
            const motet_status st =
                motet_store_check_distinct(r->context, json_string_value(in), path);
            if (!code && st != MOTET_OK) code = run_fail(r, r->context, st);
        }
        json_array_foreach(outputs, j, in)
        {
            if (code || j >= i) continue;
            const char *other = json_string_value(in);
            motet_status st = motet_store_check_distinct(r->context, other, path);
            if (st == MOTET_SAME_FILE)
                code = complain(r->args->command, EXIT_REFUSED, "%s: two outputs are the same file",
                                path);
        }
    }
    json_decref(outputs);
    return code ? code : begin_json(r);
}

int run_end(run *r, int code)
{
    run_progress_end(r);
    if (!code) code = begin_json(r);
    if (!code && r->json_file.begun) code = report_write(r);
    outfile_drop(&r->json_file);
    json_decref(r->inputs);
    json_decref(r->outputs);
    json_decref(r->result);
    json_decref(r->stages);
    if (r->context) run_context_free(r, r->context);
    r->context = NULL;
    return code;
}

void run_input(run *r, const char *path)
{
    if (path) json_array_append_new(r->inputs, json_string_nocheck(path));
}

void run_output(run *r, const char *path)
{
    if (path) json_array_append_new(r->outputs, json_string_nocheck(path));
    child_output(path);
}

double run_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static json_t *find_stage(const run *r, const char *name)
{
    size_t i;
    json_t *stage;
    json_array_foreach(r->stages, i, stage)
    {
        if (!strcmp(json_string_value(json_object_get(stage, "name")), name)) return stage;
    }
    return NULL;
}

void run_stage(run *r, const char *name, double seconds)
{
    json_t *stage = find_stage(r, name);
    if (!stage) {
        json_array_append_new(r->stages, json_pack("{s:s, s:f}", "name", name, "seconds", seconds));
        return;
    }
    const double before = json_real_value(json_object_get(stage, "seconds"));
    json_object_set_new(stage, "seconds", json_real(before + seconds));
}

double run_stage_seconds(const run *r, const char *name)
{
    return json_real_value(json_object_get(find_stage(r, name), "seconds"));
}

json_t *json_finite(double value) { return isfinite(value) ? json_real(value) : json_null(); }
