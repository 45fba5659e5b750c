/* Rows of unlike length: their making within bounds, their digest. */
#include "rt/rows.h"

#include <string.h>

#include "base/mem.h"
#include "kern/digest.h"
#include "kern/scan.h"
#include "rt/plan_inside.h"

int64_t rt_rows_allowed(const motet_context *c, uint64_t most)
{
    const int64_t left = mem_left(c);
    return most && most < (uint64_t)left ? (int64_t)most : left;
}

int64_t rt_rows_bytes(int64_t entries, motet_type type, int64_t width)
{
    return plan_mul(plan_mul(entries, width), (int64_t)motet_type_bytes(type));
}

motet_status rt_rows_fit(motet_context *c, const char *name, int64_t rows, int64_t entries,
                         int64_t bytes, int64_t allowed)
{
    if (bytes <= allowed && bytes < INT64_MAX) return MOTET_OK;
    return fail(c, MOTET_OVER_BUDGET,
                "%s: %lld rows with %lld entries take %lld bytes, %lld are allowed", name,
                (long long)rows, (long long)entries, (long long)bytes, (long long)allowed);
}

motet_status rt_rows_array(motet_context *c, motet_type type, int64_t rows, int64_t columns,
                           motet_array **out)
{
    TRY(motet_array_create(c, type, 2, (int64_t[]){rows, columns}, out));
    (*out)->flags = MOTET_WRITE_DIRECT;
    return MOTET_OK;
}

static int64_t first_negative(const int64_t *length, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        if (length[i] < 0) return i;
    return -1;
}

motet_status rt_rows_create(motet_context *c, const char *name, int64_t rows, const int64_t *length,
                            motet_type type, int64_t width, int64_t held, int64_t allowed,
                            rt_rows **out)
{
    const int64_t bad = first_negative(length, rows);
    if (bad >= 0)
        return fail(c, MOTET_BAD_DATA, "%s: row %lld has %lld entries", name, (long long)bad,
                    (long long)length[bad]);
    int64_t entries = 0;
    for (int64_t i = 0; i < rows; i++) entries = plan_add(entries, length[i]);
    const int64_t bytes =
        plan_add(rt_rows_bytes(entries, type, width), plan_mul(plan_add(rows, 1), 8));
    TRY(rt_rows_fit(c, name, rows, entries, plan_add(held, bytes), allowed));
    motet_status st = MOTET_NO_MEMORY;
    rt_rows *r = mem_new(c, rt_rows);
    if (r) r->offset = mem_alloc_array(c, rows + 1, sizeof *r->offset);
    if (!r || !r->offset) {
        st = fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld rows", name, (long long)rows);
        goto out;
    }
    r->context = c;
    r->rows = rows;
    scan_exclusive(length, rows, r->offset, &r->offset[rows]);
    TRY_GOTO(rt_rows_array(c, type, entries, width, &r->data));
    *out = r;
    return MOTET_OK;
out:
    if (r) {
        mem_free(c, r->offset);
        mem_free(c, r);
    }
    return st;
}

void rt_rows_free(rt_rows *rows)
{
    if (!rows) return;
    motet_array_free(rows->data);
    mem_free(rows->context, rows->offset);
    mem_free(rows->context, rows);
}

void rt_rows_digest(const rt_rows *rows, char out[33])
{
    const size_t element = motet_type_bytes(rows->data->type);
    const int64_t shape[3] = {rows->rows, rt_rows_entries(rows), rt_rows_width(rows)};
    digest_rows state;
    digest_rows_begin(&state, rows->data->type, 3, shape);
    digest_rows_add(&state, rows->offset, 1, (size_t)(rows->rows + 1) * 8, 8);
    digest_rows_add(&state, rows->data->data, shape[1], (size_t)shape[2] * element, element);
    digest_text(digest_rows_end(&state), out);
}
