/* Help on the terminal and as docs/cli.md. Lines stay within 80 columns. */
#include "help.h"

#include <string.h>

#include "args.h"

enum { WIDTH = 80 };

/* Words of `text` from column `at`, wrapped to column `indent`. */
static void wrap(FILE *out, const char *text, int at, int indent)
{
    int column = at;
    while (*text) {
        const int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", n, text);
        column += n;
        text += n + (text[n] == ' ');
    }
    fputc('\n', out);
}

/* One row of a list: what it is, then its help in a column of its own. */
static void row(FILE *out, const char *left, const char *help, int indent)
{
    const int used = fprintf(out, "  %s", left);
    if (used + 2 > indent)
        fprintf(out, "\n%*s", indent, "");
    else
        fprintf(out, "%*s", indent - used, "");
    wrap(out, help, indent, indent);
}

static void flag_title(const flag *f, char *out, size_t bytes)
{
    int n = 0;
    if (f->letter) n = snprintf(out, bytes, "-%c, ", f->letter);
    n += snprintf(out + n, bytes - (size_t)n, "--%s", f->name);
    if (f->value)
        snprintf(out + n, bytes - (size_t)n, (f->rules & MAY_BE_BARE) ? "[=%s]" : " %s", f->value);
}

static void flag_help(const flag *f, char *out, size_t bytes)
{
    if (f->initial)
        snprintf(out, bytes, "%s (default: %s)", f->help, f->initial);
    else
        snprintf(out, bytes, "%s", f->help);
}

static void flag_row(FILE *out, const flag *f)
{
    char title[128], help[512];
    flag_title(f, title, sizeof title);
    flag_help(f, help, sizeof help);
    row(out, title, help, 26);
}

static void usage_text(const command *c, char *out, size_t bytes)
{
    size_t n = (size_t)snprintf(out, bytes, "motet %s", c->name);
    for (int i = 0; c->positionals[i].name; i++)
        n += (size_t)snprintf(out + n, bytes - n, c->positionals[i].optional ? " [%s]" : " %s",
                              c->positionals[i].name);
    const flag *f;
    int others = 0;
    for (int i = 0; (f = command_flag(c, i)); i++)
        if (f->rules & NEEDED)
            n += (size_t)snprintf(out + n, bytes - n, " %s%c %s", f->letter ? "-" : "--", f->letter,
                                  f->value);
        else
            others = 1;
    snprintf(out + n, bytes - n, "%s", others ? " [flags]" : "");
}

static void list(FILE *out, const char *group)
{
    for (const command *c = commands; c->name; c++)
        if (command_is_below(c, group)) row(out, command_word(c), c->help, 16);
}

static const char *const exit_codes[][2] = {{"0", "done"},
                                            {"1", "the command line is wrong"},
                                            {"2", "an input was refused"},
                                            {"3", "reading or writing failed"},
                                            {"4", "a device or memory was not there"},
                                            {"5", "cancelled (Ctrl-C)"},
                                            {"6", "a check failed, or a defect in Motet"}};

void help_top(FILE *out)
{
    fputs("motet: computations that outgrow one device, with one answer on any of them\n\n"
          "usage: motet COMMAND ...\n\n",
          out);
    list(out, "");
    fputs("\nmotet COMMAND --help tells more.\n\nexit codes\n", out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        row(out, exit_codes[i][0], exit_codes[i][1], 5);
}

void help_command(FILE *out, const command *c)
{
    if (command_is_group(c)) {
        fprintf(out, "motet %s: %s\n\nusage: motet %s COMMAND ...\n\n", c->name, c->help, c->name);
        list(out, c->name);
        fprintf(out, "\nmotet %s COMMAND --help tells more.\n", c->name);
        return;
    }
    char usage[256];
    usage_text(c, usage, sizeof usage);
    fprintf(out, "motet %s:", c->name);
    wrap(out, c->help, 7 + (int)strlen(c->name), 0);
    fprintf(out, "\nusage: %s\n", usage);
    if (c->about) {
        fputc('\n', out);
        wrap(out, c->about, 0, 0);
    }
    if (c->positionals[0].name) fputc('\n', out);
    for (int i = 0; c->positionals[i].name; i++)
        row(out, c->positionals[i].name, c->positionals[i].help, 26);
    const flag *f;
    const char *shown = NULL;
    for (int i = 0; (f = command_flag(c, i)); i++) {
        const char *title = command_own_flags(c) ? command_flag_title(c, i) : "";
        if (!shown || strcmp(title, shown)) fprintf(out, "\n%s%sflags\n", title, *title ? " " : "");
        shown = title;
        flag_row(out, f);
    }
    fprintf(out, "\nexample\n  %s\n      ", c->example);
    wrap(out, c->example_help, 6, 6);
}

static void markdown_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|<>*_\\", *text)) fputc('\\', out);
        fputc(*text, out);
    }
}

static void markdown_code(FILE *out, const char *text) /* inside a table even code escapes | */
{
    fputc('`', out);
    for (; *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('`', out);
}

static void markdown_row(FILE *out, const char *code, const char *help)
{
    fputs("| ", out);
    markdown_code(out, code);
    fputs(" | ", out);
    markdown_text(out, help);
    fputs(" |\n", out);
}

static void markdown_flag(FILE *out, const flag *f)
{
    char title[128], help[512];
    flag_title(f, title, sizeof title);
    flag_help(f, help, sizeof help);
    markdown_row(out, title, help);
}

static void markdown_command(FILE *out, const command *c)
{
    char usage[256];
    usage_text(c, usage, sizeof usage);
    fprintf(out, "\n## motet %s\n\n", c->name);
    markdown_text(out, c->help);
    fprintf(out, "\n\n    %s\n\n", usage);
    if (c->about) {
        markdown_text(out, c->about);
        fputs("\n\n", out);
    }
    const int own = command_own_flags(c);
    if (c->positionals[0].name || own) fputs("| | |\n|---|---|\n", out);
    for (int i = 0; c->positionals[i].name; i++)
        markdown_row(out, c->positionals[i].name, c->positionals[i].help);
    for (int i = 0; i < own; i++) markdown_flag(out, command_flag(c, i));
    if (c->positionals[0].name || own) fputc('\n', out);
    const flag *f;
    const char *shown = NULL;
    for (int i = own; (f = command_flag(c, i)); i++) {
        const char *title = command_flag_title(c, i);
        if (!shown || strcmp(title, shown))
            fprintf(out, "%s%c%s flags: ", shown ? "\n\n" : "", title[0] - 'a' + 'A', title + 1);
        else
            fputs(", ", out);
        shown = title;
        fprintf(out, "`--%s`", f->name);
    }
    if (shown) fputs("\n\n", out);
    fprintf(out, "Example: `%s`: ", c->example);
    markdown_text(out, c->example_help);
    fputs("\n", out);
}

void help_markdown(FILE *out)
{
    fputs("# The motet command\n\n"
          "Made by `motet help --markdown`; a test checks that it is up to date.\n\n"
          "Flags may stand anywhere after the command, as `--flag value` or `--flag=value`; `--` "
          "ends them.\nNumbers use a point, whatever the locale; bytes are whole numbers, perhaps "
          "with K, "
          "M, G or T (or KiB to TiB): powers of 1024.\nOutputs are written beside their place and "
          "renamed when they are whole, of several when all are; the report of `--json` "
          "comes last, as it tells their digests.\nOne that exists is refused without "
          "`--overwrite`. Ctrl-C ends a run and leaves nothing behind but the folder of "
          "`--resume`.\n\n| Exit code | |\n"
          "|---|---|\n",
          out);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(out, "| %s | %s |\n", exit_codes[i][0], exit_codes[i][1]);
    for (int group = 0; group < SHARED_GROUPS; group++) {
        const char *title = shared_groups[group].title;
        if (!group || strcmp(title, shared_groups[group - 1].title))
            fprintf(out, "\n## %c%s flags\n\n| | |\n|---|---|\n", title[0] - 'a' + 'A', title + 1);
        for (const flag *f = shared_groups[group].flags; f->name; f++) markdown_flag(out, f);
    }
    for (const command *c = commands; c->name; c++)
        if (!command_is_group(c)) markdown_command(out, c);
}

int run_help(const args *a)
{
    if (args_given(a, "markdown")) {
        help_markdown(stdout);
        return EXIT_OK;
    }
    if (!a->positional[0]) {
        help_top(stdout);
        return EXIT_OK;
    }
    char name[256];
    snprintf(name, sizeof name, a->positional[1] ? "%s %s" : "%s", a->positional[0],
             a->positional[1]);
    const command *c = command_find(name);
    if (!c)
        return complain(a->command, EXIT_USAGE, "no command \"%s\"; motet --help lists them", name);
    help_command(stdout, c);
    return EXIT_OK;
}
