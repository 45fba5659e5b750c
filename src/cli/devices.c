/* motet devices: names as --devices takes them. */
#include <stdio.h>

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
        if (d.threads) snprintf(threads, sizeof threads, "%d", d.threads);
        const char *isa = d.threads ? motet_isa_text(d.isa) : "-";
        if (r->talks)
            printf("%-8s  %-5s  %7s  %10s  %10s  %s\n", d.name, isa, threads,
                   words_bytes(d.memory_total, total), words_bytes(d.memory_free, available),
                   d.description);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:i, s:s, s:I, s:I}", "name", d.name, "description",
                            d.description, "threads", d.threads, "isa", isa, "memory_total",
                            (json_int_t)d.memory_total, "memory_free", (json_int_t)d.memory_free));
    }
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
