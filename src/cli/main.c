/* Finds the command in the table, parses its arguments, runs it, and makes sure that what was
 * printed arrived. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "help.h"
#include "json_memory.h"
#include "supervise.h"

static int unknown_command(const command *group, const char *word)
{
    const char *words[64];
    int n = 0;
    const char *prefix = group ? group->name : "";
    for (const command *c = commands; c->name && n < 63; c++)
        if (command_is_below(c, prefix)) words[n++] = command_word(c);
    words[n] = NULL;
    const char *near = suggest(word, words);
    const char *space = group ? " " : "";
    for (const command *c = commands; c->name && !group; c++)
        if (strchr(c->name, ' ') && !strcmp(command_word(c), word))
            return complain(NULL, EXIT_USAGE, "no command \"%s\"; did you mean motet %s?", word,
                            c->name);
    if (near)
        return complain(group, EXIT_USAGE, "no command \"%s\"; did you mean motet %s%s%s?", word,
                        prefix, space, near);
    return complain(group, EXIT_USAGE, "no command \"%s\"; motet %s%s--help lists them", word,
                    prefix, space);
}

static int run(const command *c, int argc, char **argv, int first)
{
    args a;
    int help = 0;
    const int code = args_parse(c, argc, argv, first, &a, &help);
    if (code) return code;
    if (help) {
        help_command(stdout, c);
        return EXIT_OK;
    }
    return supervise_wanted(&a) ? supervise(&a) : c->run(&a);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help_top(stderr);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        help_top(stdout);
        return EXIT_OK;
    }
    if (!strcmp(word, "--version")) word = "version";
    if (word[0] == '-')
        return complain(NULL, EXIT_USAGE, "%s comes before the command; motet --help", word);
    const command *c = strchr(word, ' ') ? NULL : command_find(word);
    if (!c) return unknown_command(NULL, word);
    if (!command_is_group(c)) return run(c, argc, argv, 2);
    if (argc < 3)
        return complain(c, EXIT_USAGE, "a command is missing; motet %s --help lists them", c->name);
    if (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")) {
        help_command(stdout, c);
        return EXIT_OK;
    }
    char name[128];
    snprintf(name, sizeof name, "%s %s", c->name, argv[2]);
    const command *below = strchr(argv[2], ' ') ? NULL : command_find(name);
    if (!below) return unknown_command(c, argv[2]);
    return run(below, argc, argv, 3);
}

/* A standard stream that was closed would be the number of the next file opened, and what is
 * printed would go into that file. Opened for reading only, it still fails when written to. */
static int occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    if (!occupy_standard_streams()) return EXIT_FILES;
    if (!child_begin()) return EXIT_CANCELLED;
    json_memory_watch();
    int code = dispatch(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        const int reason = errno;
        if (reason != EPIPE) /* the reader of a pipe may leave when it has seen enough */
            fprintf(stderr, "motet: writing to standard output: %s\n", strerror(reason));
        if (!code) code = EXIT_FILES;
    }
    child_over(code);
    return code;
}
