#include "support/toy_form.h"

#include <stdlib.h>

#include "support/pipe.h"

struct toy_form {
    motet_context *context;
    toy_which which;
    pipe_case map;
};

static const struct {
    int64_t rows, columns;
} sizes[TOY_SIZES] = {{40, 13}, {7, 5}, {96, 24}};

const char *toy_form_name(toy_which which)
{
    static const char *const names[TOY_FORMS] = {"smooth", "sum", "update", "project"};
    return names[which];
}

toy_form *toy_form_make(motet_context *context, toy_which which, int size)
{
    static const int map[] = {PIPE_SMOOTH, PIPE_SUM, PIPE_UPDATE, PIPE_PROJECT};
    toy_form *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->context = context;
    f->which = which;
    pipe_case_make(context, map[which], sizes[size].rows, sizes[size].columns, &f->map);
    return f;
}

void toy_form_free(toy_form *f)
{
    pipe_case_free(&f->map);
    free(f);
}

motet_status toy_form_run(toy_form *f, const rt_run_options *options)
{
    return rt_run_with(f->context, &f->map.op, options);
}

void toy_form_digest(const toy_form *f, char digest[33])
{
    assert_ok(f->context, motet_array_digest(f->map.out, digest));
}

const char *toy_form_expected(toy_which which, int size)
{
    static char kept[TOY_FORMS][TOY_SIZES][33];
    char *digest = kept[which][size];
    if (*digest) return digest;
    motet_context *c = test_context();
    toy_form *f = toy_form_make(c, which, size);
    const rt_run_options plain = {.shard_rows = 0};
    assert_ok(c, toy_form_run(f, &plain));
    toy_form_digest(f, digest);
    toy_form_free(f);
    motet_context_free(c);
    return digest;
}
