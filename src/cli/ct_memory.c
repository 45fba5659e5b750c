#include "ct_memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "words.h"

static uint64_t array_bytes(int64_t a, int64_t b, int64_t c)
{
    uint64_t bytes = sizeof(float);
    const int64_t size[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)size[i], &bytes)) return UINT64_MAX / 4;
    return bytes < UINT64_MAX / 4 ? bytes : UINT64_MAX / 4;
}

static uint64_t volume_bytes(const ct_task *t)
{
    return array_bytes(t->views.nz, t->views.ny, t->views.nx);
}

static uint64_t sinogram_bytes(const ct_task *t)
{
    return array_bytes(t->views.views, t->views.columns, t->views.rows);
}

/* The line that stands before a long run, and "memory" of the report's result. */
void ct_memory_tell(ct_task *t)
{
    run *r = t->r;
    const uint64_t volume = volume_bytes(t), sinogram = sinogram_bytes(t);
    const uint64_t work = (uint64_t)json_integer_value(json_object_get(t->plan, "host_bytes"));
    const uint64_t all = t->from_disk ? t->bound : t->opened + volume + sinogram + work;
    json_t *devices = json_object_get(t->plan, "devices"), *d;
    if (!devices) devices = json_null();
    json_object_set_new(r->result, "memory",
                        json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:O}", "from_disk", t->from_disk,
                                  "host_bytes", (json_int_t)all, "input_bytes",
                                  (json_int_t)t->opened, "volume_bytes", (json_int_t)volume,
                                  "sinogram_bytes", (json_int_t)sinogram, "work_bytes",
                                  (json_int_t)work, "devices", devices));
    if (!r->talks) return;
    char b[4][WORDS];
    size_t i;
    if (t->from_disk)
        printf("memory    at most %s on the host, part by part: %s volume, %s line integrals stay "
               "in files",
               words_bytes(all, b[0]), words_bytes(volume, b[1]), words_bytes(sinogram, b[2]));
    else
        printf("memory    at most %s on the host: %s volume, %s line integrals, %s at work",
               words_bytes(all, b[0]), words_bytes(volume, b[1]), words_bytes(sinogram, b[2]),
               words_bytes(work, b[3]));
    json_array_foreach(devices, i, d)
    {
        const uint64_t peak = (uint64_t)json_integer_value(json_object_get(d, "peak_bytes"));
        if (peak)
            printf("; %s on %s", words_bytes(peak, b[0]),
                   json_string_value(json_object_get(d, "name")));
    }
    putchar('\n');
    fflush(stdout); /* the run may be long */
}

/* Most bytes that arrays in memory may take: the bound, else three quarters of what is free. */
static uint64_t room(const run *r)
{
    if (r->host_memory) return r->host_memory;
    for (int i = 0; i < motet_context_devices(r->context); i++) {
        motet_device_info d;
        if (motet_context_device(r->context, i, &d) == MOTET_OK && !strcmp(d.name, "cpu"))
            return d.memory_free / 4 * 3;
    }
    const long pages = sysconf(_SC_AVPHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages / 4 * 3 * (uint64_t)bytes : UINT64_MAX;
}

/* What a run keeps of itself beside its arrays: plans, records of operations, small arrays of a
 * solver. */
static const uint64_t records = 128 << 10;

/* Reading counts takes one view of them at least, as float64. */
static uint64_t reading_bytes(const ct_task *t)
{
    return t->scan ? array_bytes(2, t->views.columns, t->views.rows) : 0;
}

/* The plan of the work on arrays in memory, within so many bytes of the host, 0: any; OVER_BUDGET
 * where it does not fit. *out, if it is wanted, is to be freed. */
static motet_status plan(ct_task *t, motet_ct_operation operation, uint64_t bytes, json_t **out,
                         uint64_t *work)
{
    char *text = NULL;
    motet_plan_options *o = &t->plan_options;
    o->chunk = args_whole(t->r->args, "chunk", 0);
    o->host_memory = bytes;
    o->direct = 1;
    const motet_status st = motet_ct_plan(t->geometry, operation, o, &text);
    if (st != MOTET_OK) return st;
    json_t *read = json_loads(text, 0, NULL);
    motet_text_free(t->r->context, text);
    if (!read) return MOTET_NO_MEMORY;
    *work = (uint64_t)json_integer_value(json_object_get(read, "host_bytes"));
    if (out)
        *out = read;
    else
        json_decref(read);
    return bytes && *work > bytes ? MOTET_OVER_BUDGET : MOTET_OK;
}

/* The least bytes within which it can be planned; 0: none do, for another reason. */
static uint64_t least_work(ct_task *t, motet_ct_operation operation)
{
    uint64_t low = 0, high = 0, work;
    if (plan(t, operation, (uint64_t)1 << 62, NULL, &high) != MOTET_OK) return 0;
    while (high - low > 1) { /* `low` is too few, `high` does */
        const uint64_t middle = low + (high - low) / 2;
        if (plan(t, operation, middle, NULL, &work) == MOTET_OK)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static int refuse(ct_task *t, motet_ct_operation operation, uint64_t held, int may)
{
    run *r = t->r;
    const uint64_t reads = reading_bytes(t);
    const int arrays = held >= t->bound; /* they alone do not fit */
    uint64_t work = least_work(t, operation);
    char b[2][WORDS], least[64] = ""; /* of what is left it may be too little to tell */
    /* A device is what it does not fit. */
    if (!work && !arrays) return run_fail(r, r->context, MOTET_OVER_BUDGET);
    if (work < reads && work) work = reads;
    if (work)
        snprintf(least, sizeof least, "; the least that does is --host-memory %llu",
                 (unsigned long long)(held + work));
    return complain(
        r->args->command, EXIT_DEVICE, "%s take %s, of %s %s on the host%s%s",
        arrays ? "volume and line integrals" : "volume, line integrals and the work on them",
        words_bytes(arrays ? held : held + work, b[0]), words_bytes(t->bound, b[1]),
        r->host_memory ? "allowed" : "free",
        may ? "" : "; counts are normalised in memory, --line-integrals need not be", least);
}

int ct_memory_plan(ct_task *t, motet_ct_operation operation)
{
    run *r = t->r;
    const args *a = r->args;
    const char *wish = args_text(a, "from-disk");
    motet_memory memory; /* what files and geometry take already */
    motet_context_memory(r->context, &memory);
    t->opened = memory.now;
    t->bound = room(r);
    const uint64_t held = t->opened + volume_bytes(t) + sinogram_bytes(t) + records;
    t->from_disk = wish && !strcmp(wish, "yes");
    if (t->from_disk) return EXIT_OK;
    motet_status st = MOTET_OVER_BUDGET;
    uint64_t work = 0;
    if (held < t->bound && reading_bytes(t) <= t->bound - held)
        st = plan(t, operation, r->host_memory ? t->bound - held : 0, &t->plan, &work);
    if (st == MOTET_OK && work > t->bound - held) st = MOTET_OVER_BUDGET;
    if (st == MOTET_OK) return EXIT_OK;
    json_decref(t->plan);
    t->plan = NULL;
    if (st != MOTET_OVER_BUDGET) return run_fail(r, r->context, st);
    /* Counts are normalised in memory; line integrals may stay in their file. */
    const int may = t->store || args_given(a, "line-integrals");
    if (!may || (wish && !strcmp(wish, "no"))) return refuse(t, operation, held, may);
    t->from_disk = 1;
    return EXIT_OK;
}
