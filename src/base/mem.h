/* Memory through the context's allocator: accounted, bounded, 64-byte aligned, checked for
 * overflow. All answer NULL when there is none; the caller says what for. */
#ifndef MOTET_BASE_MEM_H
#define MOTET_BASE_MEM_H

#include <motet/context.h>

void *mem_alloc(motet_context *context, size_t bytes); /* uninitialised */
void *mem_zero(motet_context *context, size_t bytes);
void *mem_alloc_array(motet_context *context, int64_t count, size_t element);
void *mem_zero_array(motet_context *context, int64_t count, size_t element);
void *
mem_grow(motet_context *context, void *block,
         size_t bytes); /* keeps contents; NULL block legal; on failure the old block lives on */
void mem_free(motet_context *context, void *block);       /* NULL is legal */
char *mem_text(motet_context *context, const char *text); /* a copy */
char *mem_format(motet_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define mem_new(context, type)          ((type *)mem_zero((context), sizeof(type)))
#define mem_array(context, type, count) ((type *)mem_zero_array((context), (count), sizeof(type)))

/* The context's bound on memory and what is left of it, idle memory included; INT64_MAX both when
 * there is none. */
int64_t mem_bound(const motet_context *context);
int64_t mem_left(const motet_context *context);

/* count * element in *bytes; 0 if it would pass 2^63 - 1 or count is negative. */
int mem_product(int64_t count, size_t element, size_t *bytes);

#endif
