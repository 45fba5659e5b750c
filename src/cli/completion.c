/* Completion scripts, made from the table. bash and zsh share one script: zsh reads it through
 * bashcompinit, which is how it gives the same answers; fish gets its own lines. */
#include <stdio.h>
#include <string.h>

#include "args.h"

static void print_choices(const char *choices)
{
    int length;
    const char *c;
    for (int i = 0; (c = choice_at(choices, i, &length)); i++)
        printf("%s%.*s", i ? " " : "", length, c);
}

static void bash_case(const command *c)
{
    const flag *f;
    printf("    \"%s\")\n        flags=\"", c->name);
    for (int i = 0; (f = command_flag(c, i)); i++) printf("--%s ", f->name);
    printf("--help\"\n        case \"$before\" in\n");
    for (int i = 0; (f = command_flag(c, i)); i++) {
        if (f->kind == FLAG_CHOICE || f->kind == FLAG_DEVICES) {
            printf("        --%s) words=\"", f->name);
            print_choices(f->kind == FLAG_CHOICE ? f->value : "auto|cpu|cuda:0");
            printf("\" ;;\n");
        } else if (f->kind != FLAG_SWITCH && f->kind != FLAG_FILE && !(f->rules & MAY_BE_BARE)) {
            printf("        --%s) words=%s ;;\n", f->name,
                   (f->rules & MAY_BE_AUTO) ? "auto" : "none");
        }
    }
    printf("        esac\n");
    if (c->positionals[0].choices) {
        printf("        places=\"");
        print_choices(c->positionals[0].choices);
        printf("\"\n");
    }
    printf("        ;;\n");
}

static void words_below(const char *group)
{
    for (const command *c = commands; c->name; c++)
        if (command_is_below(c, group)) printf(" %s", command_word(c));
}

static void bash_script(void)
{
    printf("# Completion of motet for bash: source it, or keep it where bash-completion looks.\n"
           "_motet() {\n"
           "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"\" command=\"${COMP_WORDS[1]}\"\n"
           "    local flags=\"\" words=\"\" places=\"\"\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -gt 0 ]; then before=\"${COMP_WORDS[COMP_CWORD-1]}\"; fi\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"--help --version");
    words_below("");
    printf("\" -- \"$word\"))\n        return\n    fi\n    case \"$command\" in\n");
    for (const command *c = commands; c->name; c++)
        if (command_is_group(c)) {
            printf("    %s)\n        if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
                   "            COMPREPLY=($(compgen -W \"--help",
                   c->name);
            words_below(c->name);
            printf("\" -- \"$word\"))\n            return\n        fi\n"
                   "        command=\"$command ${COMP_WORDS[2]}\" ;;\n");
        }
    printf("    help)\n        if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
           "            COMPREPLY=($(compgen -W \"");
    words_below("");
    printf("\" -- \"$word\"))\n            return\n        fi\n        case \"$before\" in\n");
    for (const command *c = commands; c->name; c++)
        if (command_is_group(c)) {
            printf("        %s) COMPREPLY=($(compgen -W \"", c->name);
            words_below(c->name);
            printf("\" -- \"$word\")) ;;\n");
        }
    printf("        esac\n        return ;;\n    esac\n    case \"$command\" in\n");
    for (const command *c = commands; c->name; c++)
        if (!command_is_group(c)) bash_case(c);
    printf(
        "    esac\n"
        "    if [ \"$words\" = none ]; then return; fi\n"
        "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); return; "
        "fi\n"
        "    case \"$word\" in\n"
        "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
        "    *)\n"
        "        if [ -n \"$places\" ]; then COMPREPLY=($(compgen -W \"$places\" -- \"$word\"))\n"
        "        else COMPREPLY=($(compgen -f -- \"$word\")); fi ;;\n"
        "    esac\n"
        "}\n"
        "complete -o filenames -F _motet motet\n");
}

static void fish_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

/* The condition "the words so far begin with this command". */
static void fish_when(const command *c)
{
    const char *space = strchr(c->name, ' ');
    if (!space)
        printf("-n '__fish_seen_subcommand_from %s' ", c->name);
    else
        printf("-n '__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s' ",
               (int)(space - c->name), c->name, space + 1);
}

static void fish_command(const command *c)
{
    const flag *f;
    for (int i = 0; (f = command_flag(c, i)); i++) {
        printf("complete -c motet ");
        fish_when(c);
        printf("-l %s ", f->name);
        if (f->letter) printf("-s %c ", f->letter);
        if (f->kind == FLAG_FILE)
            printf("-r -F ");
        else if (f->kind == FLAG_CHOICE) {
            printf("-x -a '");
            print_choices(f->value);
            printf("' ");
        } else if (f->kind != FLAG_SWITCH && !(f->rules & MAY_BE_BARE)) {
            printf("-x ");
        }
        printf("-d ");
        fish_quoted(f->help);
        putchar('\n');
    }
    if (c->positionals[0].choices) {
        printf("complete -c motet -f ");
        fish_when(c);
        printf("-a '");
        print_choices(c->positionals[0].choices);
        printf("'\n");
    }
}

static void fish_script(void)
{
    printf("# Completion of motet for fish: keep it in ~/.config/fish/completions/motet.fish\n");
    for (const command *c = commands; c->name; c++) {
        printf("complete -c motet -f ");
        const char *space = strchr(c->name, ' ');
        if (!space)
            printf("-n __fish_use_subcommand ");
        else {
            printf("-n '__fish_seen_subcommand_from %.*s; and not __fish_seen_subcommand_from",
                   (int)(space - c->name), c->name);
            char group[64];
            snprintf(group, sizeof group, "%.*s", (int)(space - c->name), c->name);
            words_below(group);
            printf("' ");
        }
        printf("-a %s -d ", command_word(c));
        fish_quoted(c->help);
        putchar('\n');
    }
    for (const command *c = commands; c->name; c++)
        if (!command_is_group(c)) fish_command(c);
}

int run_completion(const args *a)
{
    const char *shells = "bash|zsh|fish";
    switch (choice_index(shells, a->positional[0])) {
    case 0: bash_script(); return EXIT_OK;
    case 1:
        printf("#compdef motet\nautoload -U +X bashcompinit && bashcompinit\n");
        bash_script();
        return EXIT_OK;
    case 2: fish_script(); return EXIT_OK;
    default:
        return complain(a->command, EXIT_USAGE, "SHELL is \"%s\", expected bash, zsh or fish",
                        a->positional[0]);
    }
}
