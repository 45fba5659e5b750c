#include "json_memory.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int lacked;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory && bytes) lacked = 1;
    return memory;
}

void json_memory_watch(void) { json_set_alloc_funcs(allocate, free); }

int json_memory_lacked(void) { return lacked; }
