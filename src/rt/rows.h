/* Rows of unlike length, one behind the other. */
#ifndef MOTET_RT_ROWS_H
#define MOTET_RT_ROWS_H

#include "base/fail.h"
#include "rt/array.h"

/* Row i is the entries [offset[i], offset[i + 1]) of data. */
typedef struct rt_rows {
    motet_context *context;
    int64_t rows;
    int64_t *offset;   /* rows + 1 */
    motet_array *data; /* [entries][width] */
} rt_rows;

/* Rows of so many entries each; the entries are zeros. BAD_DATA: a negative length. OVER_BUDGET:
 * with the `held` bytes that their making takes they pass what is allowed; the message begins with
 * `name`. */
motet_status rt_rows_create(motet_context *context, const char *name, int64_t rows,
                            const int64_t *length, motet_type type, int64_t width, int64_t held,
                            int64_t allowed, rt_rows **out);
void rt_rows_free(rt_rows *rows); /* NULL is legal */
static inline int64_t rt_rows_entries(const rt_rows *rows) { return rows->offset[rows->rows]; }
static inline int64_t rt_rows_width(const rt_rows *rows) { return rows->data->shape[1]; }
/* Of lengths and entries: 32 hexadecimal digits. */
void rt_rows_digest(const rt_rows *rows, char out[33]);

/* Host bytes that may be taken now: what the context has left, and at most `most` (0: no other
 * bound). */
int64_t rt_rows_allowed(const motet_context *context, uint64_t most);
/* Bytes of so many entries; INT64_MAX when they pass that. */
int64_t rt_rows_bytes(int64_t entries, motet_type type, int64_t width);
/* OVER_BUDGET unless rows with so many entries, which take so many bytes, are allowed; INT64_MAX
 * bytes never are. */
motet_status rt_rows_fit(motet_context *context, const char *name, int64_t rows, int64_t entries,
                         int64_t bytes, int64_t allowed);
/* An array of its own that operations write in place: nobody else sees it before they succeed. */
motet_status rt_rows_array(motet_context *context, motet_type type, int64_t rows, int64_t columns,
                           motet_array **out);

#endif
