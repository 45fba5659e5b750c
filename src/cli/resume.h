/* Going on where a former process stopped: the journal of --resume, or the one that a supervised
 * child shares with its parent. */
#ifndef MOTET_CLI_RESUME_H
#define MOTET_CLI_RESUME_H

#include "run.h"

/* Before the work. An exit code. */
int resume_begin(run *r);
/* After the outputs took their places: tells of what was found and removes the journal. After any
 * failure before, it stays. */
void resume_end(run *r);

#endif
