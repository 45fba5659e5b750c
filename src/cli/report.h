/* The report of --json: one shape for all commands. */
#ifndef MOTET_CLI_REPORT_H
#define MOTET_CLI_REPORT_H

#include "run.h"

/* Composes and writes it; an exit code. */
int report_write(run *r);

#endif
