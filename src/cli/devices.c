/* motet devices: names as --devices takes them. */
#include <stdio.h>
#include <string.h>

#include "words.h"

static int tell(run *r)
{
    json_t *list = json_array();
    json_object_set_new(r->result, "devices", list);
    const int count = motet_context_devices(r->context);
    if (r->talks)
        printf("%-8s  %-5s  %7s  %10s  %10s  %s\n", "device", "isa", "threads", "memory", "free",
               "description");
    for (int i = 0; i < count; i++) {
        motet_device_info d;
        const motet_status st = motet_context_device(r->context, i, &d);
        if (st != MOTET_OK) return run_fail(r, r->context, st);
        char total[WORDS], available[WORDS], threads[16] = "-";
        const int cpu = !strcmp(d.name, "cpu");
        if (cpu) snprintf(threads, sizeof threads, "%d", d.threads);
        const char *isa = cpu ? motet_isa_text(d.isa) : "-";
        if (r->talks)
            printf("%-8s  %-5s  %7s  %10s  %10s  %s%s%s\n", d.name, isa, threads,
                   words_bytes(d.memory_total, total), words_bytes(d.memory_free, available),
                   d.description, *d.uuid ? ", " : "", d.uuid);
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:I, s:I, s:I, s:s}", "name",
                                              d.name, "description", d.description, "threads",
                                              cpu ? d.threads : 0, "isa", isa, "memory_total",
                                              (json_int_t)d.memory_total, "memory_free",
                                              (json_int_t)d.memory_free, "memory_context",
                                              (json_int_t)d.memory_context, "uuid", d.uuid));
    }
    char absence[160];
    const int gpus = motet_context_gpus(r->context, absence);
    json_object_set_new(r->result, "gpus", json_integer(gpus));
    json_object_set_new(r->result, "no_gpu", gpus ? json_null() : json_string(absence));
    if (!gpus && r->talks) printf("no GPU: %s\n", absence);
    return EXIT_OK;
}

int run_devices(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    code = tell(&r);
    return run_end(&r, code);
}
