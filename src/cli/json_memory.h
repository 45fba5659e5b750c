/* Whether JSON ever lacked memory. Jansson answers NULL, which the next call takes for a mistake
 * and leaves out: so what is composed without looking at each answer is looked at here, once. */
#ifndef MOTET_CLI_JSON_MEMORY_H
#define MOTET_CLI_JSON_MEMORY_H

/* From now on; before the first value is made. */
void json_memory_watch(void);
/* 1: an allocation failed since, so that something may be missing. */
int json_memory_lacked(void);

#endif
