/* What parent and child of a supervised run agree on. */
#ifndef MOTET_CLI_CHILD_H
#define MOTET_CLI_CHILD_H

#include <sys/types.h>

#define CHILD_VARIABLE "MOTET_SUPERVISED"

enum { CHILD_FILES = 32, CHILD_MESSAGE = 4096 };

/* The folder that a path lies in, "." when it names none. */
void child_folder(const char *path, char folder[CHILD_MESSAGE]);
/* What the names of a process's temporary files and folders hold. */
void child_mark(pid_t pid, char mark[32]);

#endif
