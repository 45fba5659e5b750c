/* What parent and child of a supervised run agree on. */
#ifndef MOTET_CLI_CHILD_H
#define MOTET_CLI_CHILD_H

#define CHILD_VARIABLE "MOTET_SUPERVISED"

enum {
    CHILD_FILES = 32,
    CHILD_MESSAGE = 4096,
    CHILD_NAMES = 1024 /* of devices that are left out, with commas between them */
};

/* The folder that a path lies in, "." when it names none. */
void child_folder(const char *path, char folder[CHILD_MESSAGE]);
/* What the names of its temporary files and folders hold. */
void child_name(const char *mark, char name[32]);

#endif
