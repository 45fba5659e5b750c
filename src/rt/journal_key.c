/* What a run of an operation depends on, as a digest.
 *
 * How the work is cut is left out: no cut changes a result. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <string.h>

#include "base/build.h"
#include "rt/journal.h"
#include "rt/pipe_box.h"

enum { FORMAT = 1, PIECE = 1 << 26 };

int rt_journal_takes(const rt_op *op)
{
    if (!op->fingerprint[0] && !op->fingerprint[1]) return 0;
    int writes = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        if (!p->array->data && p->array->bytes) return 0;
        if (p->source || p->sink || p->access == RT_ADD || p->array->residence) return 0;
        /* What was there before is needed when a record turns out to be damaged. */
        if (p->access == RT_UPDATE && !rt_port_private(op, i)) return 0;
        writes |= p->access != RT_READ;
    }
    return writes;
}

static void add(XXH3_state_t *s, const void *data, size_t bytes)
{
    XXH3_128bits_update(s, data, bytes);
}

static void add_word(XXH3_state_t *s, int64_t word) { add(s, &word, sizeof word); }

/* Arrays may be large: a cancellation is looked for between pieces. */
static motet_status add_bytes(XXH3_state_t *s, const char *data, size_t bytes, log_phase *phase)
{
    for (size_t part; bytes; data += part, bytes -= part) {
        part = bytes < PIECE ? bytes : PIECE;
        add(s, data, part);
        if (phase) TRY(log_phase_step(phase, 0));
    }
    return MOTET_OK;
}

static motet_status add_port(XXH3_state_t *s, const rt_op *op, int number, const void *data,
                             log_phase *phase)
{
    const rt_port *p = &op->port[number];
    const motet_array *a = p->array;
    add_word(s, number);
    add_word(s, p->access);
    add_word(s, a->type);
    add_word(s, a->axes);
    for (int i = 0; i < a->axes; i++) add_word(s, a->shape[i]);
    for (int i = 0; i < op->axes; i++) add_word(s, p->cut[i]);
    add_word(s, p->streamed ? p->stream_axis : -1);
    add_word(s, p->halo);
    add_word(s, p->transform ? (int64_t)p->made_type : -1); /* what it does is in the fingerprint */
    if (p->list) add(s, p->list, (size_t)op->extent[0] * sizeof *p->list);
    if (p->offset) add(s, p->offset, (size_t)(op->extent[0] + 1) * sizeof *p->offset);
    add_word(s, (p->list ? 1 : 0) + (p->offset ? 2 : 0));
    return p->access == RT_WRITE ? MOTET_OK : add_bytes(s, data, a->bytes, phase);
}

motet_status rt_journal_key_of(const rt_op *op, void *const data[RT_PORTS], log_phase *phase,
                               digest *out)
{
    XXH3_state_t state;
    memset(&state, 0, sizeof state);
    XXH3_128bits_reset(&state);
    uint64_t build[2];
    build_id(build);
    add_word(&state, FORMAT);
    add(&state, build, sizeof build);
    const char *version = motet_version();
    add(&state, version, strlen(version) + 1);
    add(&state, op->name, strlen(op->name) + 1);
    add(&state, op->fingerprint, sizeof op->fingerprint);
    add_word(&state, op->axes);
    for (int i = 0; i < op->axes; i++) add_word(&state, op->extent[i]);
    add_word(&state, op->stream_extent);
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array) TRY(add_port(&state, op, i, data[i], phase));
    const XXH128_hash_t h = XXH3_128bits_digest(&state);
    *out = (digest){h.low64, h.high64};
    return MOTET_OK;
}

digest rt_journal_key(const rt_op *op, void *const data[RT_PORTS])
{
    digest key = {0, 0};
    (void)rt_journal_key_of(op, data, NULL, &key); /* nobody cancels it */
    return key;
}
