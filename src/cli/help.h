/* Help texts, from the table. */
#ifndef MOTET_CLI_HELP_H
#define MOTET_CLI_HELP_H

#include <stdio.h>

#include "command.h"

void help_top(FILE *out);
void help_command(FILE *out, const command *c); /* a group lists what is below it */
void help_markdown(FILE *out);

#endif
