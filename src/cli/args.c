/* Parsing: flags before, between or after positionals, "--flag value" and "--flag=value", "--" ends
 * flags. Values are checked here by the kind the table gives them, so that commands only ever see
 * good ones. */
#include "args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "device_list.h"
#include "weights.h"

int complain(const command *c, int code, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
    fprintf(stderr, "motet%s%s: %s\n", c ? " " : "", c ? c->name : "", text);
    return code;
}

const char *choice_at(const char *choices, int index, int *length)
{
    while (*choices) {
        const size_t n = strcspn(choices, "|");
        if (index-- == 0) {
            *length = (int)n;
            return choices;
        }
        choices += n + (choices[n] == '|');
    }
    return NULL;
}

int choice_index(const char *choices, const char *word)
{
    int length;
    const char *c;
    for (int i = 0; (c = choice_at(choices, i, &length)); i++)
        if (strlen(word) == (size_t)length && !strncmp(c, word, (size_t)length)) return i;
    return -1;
}

static int in_bounds(const flag *f, double x)
{
    if ((f->rules & NOT_ZERO) && !(x > 0 || x < 0)) return 0;
    return (!(f->low < 0 || f->low > 0 || f->high > 0)) || (x >= f->low && x <= f->high);
}

/* "a:b" cut at the separator into two texts. */
static int cut(const char *text, char separator, char first[64], char second[64])
{
    const char *at = strchr(text, separator);
    if (!at || (size_t)(at - text) >= 64 || strlen(at + 1) >= 64) return 0;
    memcpy(first, text, (size_t)(at - text));
    first[at - text] = 0;
    strcpy(second, at + 1);
    return 1;
}

static int finite_real(const char *text, double *out)
{
    return number_real(text, out) && *out - *out == 0;
}

/* "X", "XxY" or "XxYxZ" (or with commas) into numbers; of one the others are copies. */
static int read_several(const flag *f, const char *text, flag_value *v)
{
    char one[64];
    v->count = 0;
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, f->kind == FLAG_SIZES ? "x" : "x,");
        if (!n || n >= sizeof one || v->count == 3) return 0;
        memcpy(one, at, n);
        one[n] = 0;
        const int i = v->count++;
        if (f->kind == FLAG_SIZES) {
            if (!number_whole(one, &v->whole[i]) || !in_bounds(f, (double)v->whole[i])) return 0;
        } else if (!finite_real(one, &v->real[i]) || !in_bounds(f, v->real[i])) {
            return 0;
        }
        at += n;
        if (!*at) break;
    }
    for (int i = v->count; v->count == 1 && i < 3; i++) {
        v->whole[i] = v->whole[0];
        v->real[i] = v->real[0];
    }
    return 1;
}

static int weights_text(const char *text)
{
    weights one;
    int lists = 0, got;
    for (; (got = weights_next(&text, &one)) > 0; lists++) continue;
    return lists > 0 && got == 0;
}

static int read_value(const flag *f, const char *text, flag_value *v)
{
    char first[64], second[64];
    v->text = text;
    if ((f->rules & MAY_BE_AUTO) && !strcmp(text, "auto")) return v->automatic = 1;
    switch (f->kind) {
    case FLAG_SWITCH: return 0;
    case FLAG_TEXT:
    case FLAG_FILE: return *text != 0;
    case FLAG_DEVICES: return device_list_good(text);
    case FLAG_WEIGHTS: return weights_text(text);
    case FLAG_REAL: return finite_real(text, &v->real[0]) && in_bounds(f, v->real[0]);
    case FLAG_WHOLE: return number_whole(text, &v->whole[0]) && in_bounds(f, (double)v->whole[0]);
    case FLAG_BYTES: return number_bytes(text, &v->bytes) && v->bytes > 0;
    case FLAG_CHOICE: return (v->choice = choice_index(f->value, text)) >= 0;
    case FLAG_SPAN:
        return cut(text, ':', first, second) && number_whole(first, &v->whole[0]) &&
               number_whole(second, &v->whole[1]) && v->whole[0] >= 0 && v->whole[1] > v->whole[0];
    case FLAG_INTERVAL:
        return cut(text, ':', first, second) && finite_real(first, &v->real[0]) &&
               finite_real(second, &v->real[1]) && v->real[1] > v->real[0];
    case FLAG_SIZES:
    case FLAG_REALS: return read_several(f, text, v);
    case FLAG_SIZE:
        if (!cut(text, 'x', first, second)) {
            if (!number_whole(text, &v->whole[0])) return 0;
            v->whole[1] = v->whole[0];
        } else if (!number_whole(first, &v->whole[0]) || !number_whole(second, &v->whole[1])) {
            return 0;
        }
        return in_bounds(f, (double)v->whole[0]) && in_bounds(f, (double)v->whole[1]);
    }
    return 0;
}

/* Where a number in the text passes a bound that `expected` does not tell: "; at most 1e+09". */
static const char *bound_of(const flag *f, const char *text, char out[64])
{
    char number[NUMBER_TEXT];
    *out = 0;
    if (!(f->low < 0 || f->low > 0 || f->high > 0)) return out;
    for (const char *at = text, *end; *at && !*out; at = *end ? end + 1 : end) {
        const double x = number_prefix(at, &end);
        if (end == at) break;
        if (!(x < f->low || x > f->high)) continue;
        number_text(x > f->high ? f->high : f->low, number);
        if (!strstr(f->expected, number))
            snprintf(out, 64, "; at %s %s", x > f->high ? "most" : "least", number);
    }
    return out;
}

static int find_flag(const command *c, const char *name, size_t length)
{
    const flag *f;
    for (int i = 0; (f = command_flag(c, i)); i++)
        if (strlen(f->name) == length && !strncmp(f->name, name, length)) return i;
    return -1;
}

static int find_letter(const command *c, char letter)
{
    const flag *f;
    for (int i = 0; (f = command_flag(c, i)); i++)
        if (f->letter && f->letter == letter) return i;
    return -1;
}

static int unknown_flag(const command *c, const char *typed)
{
    const char *names[MAX_FLAGS + 2] = {0};
    char word[64];
    int n = 0;
    const flag *f;
    for (int i = 0; (f = command_flag(c, i)); i++) names[n++] = f->name;
    names[n] = "help";
    const char *name = typed + strspn(typed, "-");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "="), name);
    const char *near = suggest(word, names);
    if (near) return complain(c, EXIT_USAGE, "unknown flag %s; did you mean --%s?", typed, near);
    return complain(c, EXIT_USAGE, "unknown flag %s; motet %s --help lists them", typed, c->name);
}

static int is_flag(const command *c, const char *text)
{
    if (strncmp(text, "--", 2) || !text[2]) return 0;
    return find_flag(c, text + 2, strcspn(text + 2, "=")) >= 0 || !strcmp(text, "--help");
}

static int take_flag(const command *c, args *out, int argc, char **argv, int *at)
{
    const char *typed = argv[*at], *text = NULL;
    int index;
    if (typed[1] == '-') {
        const size_t length = strcspn(typed + 2, "=");
        index = find_flag(c, typed + 2, length);
        if (typed[2 + length] == '=') text = typed + 2 + length + 1;
    } else {
        index = find_letter(c, typed[1]);
        if (typed[2] == '=')
            text = typed + 3;
        else if (typed[2])
            text = typed + 2;
    }
    if (index < 0) return unknown_flag(c, typed);

    const flag *f = command_flag(c, index);
    flag_value *v = &out->values[index];
    if (v->given) return complain(c, EXIT_USAGE, "--%s is given twice", f->name);
    v->given = 1;
    if (f->kind == FLAG_SWITCH) {
        if (text) return complain(c, EXIT_USAGE, "--%s takes no value, got \"%s\"", f->name, text);
        return EXIT_OK;
    }
    if (!text && (f->rules & MAY_BE_BARE)) return EXIT_OK;
    if (!text) {
        if (*at + 1 >= argc || is_flag(c, argv[*at + 1]))
            return complain(c, EXIT_USAGE, "--%s needs a value: %s", f->name, f->expected);
        text = argv[++*at];
    }
    char bound[64];
    if (!read_value(f, text, v))
        return complain(c, EXIT_USAGE, "--%s is \"%s\", expected %s%s", f->name, text, f->expected,
                        bound_of(f, text, bound));
    return EXIT_OK;
}

static int wants_help(int argc, char **argv, int first)
{
    for (int i = first; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return 1;
    return 0;
}

/* A flag like --mask takes its value after '=' only: what follows a bare one is an argument, which
 * may be why there are too many. */
static int one_too_many(const command *c, char **argv, int first, int at)
{
    for (int i = first; i < at && strcmp(argv[i], "--"); i++) {
        const int index =
            strncmp(argv[i], "--", 2) ? -1 : find_flag(c, argv[i] + 2, strlen(argv[i] + 2));
        flag_value v;
        if (index >= 0 && command_flag(c, index)->rules & MAY_BE_BARE &&
            read_value(command_flag(c, index), argv[i + 1], &v))
            return complain(c, EXIT_USAGE,
                            "one argument too many: \"%s\"; a value of %s is written %s=%s",
                            argv[at], argv[i], argv[i], argv[i + 1]);
    }
    return complain(c, EXIT_USAGE, "one argument too many: \"%s\"; motet %s --help", argv[at],
                    c->name);
}

int args_parse(const command *c, int argc, char **argv, int first, args *out, int *help)
{
    memset(out, 0, sizeof *out);
    out->command = c;
    out->argc = argc;
    out->argv = argv;
    for (int i = 0; i < MAX_FLAGS; i++) out->values[i].choice = -1;
    *help = wants_help(argc, argv, first);
    if (*help) return EXIT_OK;

    int count = 0, most = 0, only_positionals = 0;
    while (c->positionals[most].name) most++;
    for (int i = first; i < argc; i++) {
        const char *a = argv[i];
        if (!only_positionals && !strcmp(a, "--")) {
            only_positionals = 1;
        } else if (!only_positionals && a[0] == '-' && a[1]) {
            const int code = take_flag(c, out, argc, argv, &i);
            if (code) return code;
        } else {
            if (count == most) return one_too_many(c, argv, first, i);
            if (!*a)
                return complain(c, EXIT_USAGE, "%s is \"\", expected %s",
                                c->positionals[count].name, c->positionals[count].help);
            out->positional[count++] = a;
        }
    }
    if (count < most && !c->positionals[count].optional)
        return complain(c, EXIT_USAGE, "%s is missing: %s", c->positionals[count].name,
                        c->positionals[count].help);
    const flag *f;
    for (int i = 0; (f = command_flag(c, i)); i++)
        if ((f->rules & NEEDED) && !out->values[i].given)
            return complain(c, EXIT_USAGE, "--%s is missing: %s", f->name, f->expected);
    return EXIT_OK;
}

const flag_value *args_value(const args *a, const char *name)
{
    static const flag_value absent = {.choice = -1};
    const int index = find_flag(a->command, name, strlen(name));
    return index < 0 ? &absent : &a->values[index];
}

int args_given(const args *a, const char *name) { return args_value(a, name)->given; }
const char *args_text(const args *a, const char *name) { return args_value(a, name)->text; }

double args_real(const args *a, const char *name, double otherwise)
{
    const flag_value *v = args_value(a, name);
    return v->given && v->text && !v->automatic ? v->real[0] : otherwise;
}

int64_t args_whole(const args *a, const char *name, int64_t otherwise)
{
    const flag_value *v = args_value(a, name);
    return v->given && v->text && !v->automatic ? v->whole[0] : otherwise;
}
