/* Instruction sets: what this processor has, and which one a context gets. */
#ifndef MOTET_DEV_CPU_ISA_H
#define MOTET_DEV_CPU_ISA_H

#include <motet/device.h>

/* The best of this processor, never AUTO. */
motet_isa isa_best(void);
/* Which of a kernel's functions serves an instruction set (not AUTO). */
int isa_index(motet_isa isa);

#endif
