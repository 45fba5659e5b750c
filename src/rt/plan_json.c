/* A plan as a JSON object; its shape is told in motet/plan.h. */
#include "rt/plan_json.h"

static json_t *numbers(const int64_t *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++)
        if (json_array_append_new(list, json_integer(values[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *share_json(const rt_share *s, const rt_op *op, const char *name)
{
    json_t *rows = numbers(s->cut.rows, op->axes);
    if (!rows) return NULL;
    return json_pack(
        "{s:s, s:i, s:I, s:I, s:o, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:o}",
        "name", name, "axis", s->axis, "first", (json_int_t)s->first, "rows", (json_int_t)s->rows,
        "chunk", rows, "stream_block", (json_int_t)(op->stream_extent ? s->cut.stream_rows : 0),
        "chunks", (json_int_t)s->chunks, "blocks", (json_int_t)s->blocks, "slots", s->slots, "ring",
        s->ring, "fixed_bytes", (json_int_t)s->fixed_bytes, "chunk_bytes",
        (json_int_t)s->chunk_bytes, "block_bytes", (json_int_t)s->block_bytes, "resident_bytes",
        (json_int_t)s->resident_bytes, "reserved_bytes", (json_int_t)s->reserved_bytes,
        "peak_bytes", (json_int_t)s->peak_bytes, "staging_bytes", (json_int_t)s->staging_bytes,
        "limit", s->chunks && s->limit < INT64_MAX ? json_integer(s->limit) : json_null());
}

json_t *rt_plan_json(const rt_plan *plan, const rt_op *op, const rt_plan_device *devices)
{
    json_t *box = numbers(op->extent, op->axes), *list = json_array();
    for (int i = 0; list && i < plan->devices; i++)
        if (json_array_append_new(list, share_json(&plan->share[i], op, devices[i].name))) {
            json_decref(list);
            list = NULL;
        }
    if (!box || !list) {
        json_decref(box);
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:o}", "name", op->name, "mode",
                     rt_mode_text(plan->mode), "box", box, "chunks", (json_int_t)plan->chunks,
                     "row_bytes", (json_int_t)plan->row_bytes, "private_bytes",
                     (json_int_t)plan->private_bytes, "host_bytes", (json_int_t)plan->host_bytes,
                     "devices", list);
}
