#include "support/toy_form.h"

#include <stdlib.h>
#include <string.h>

#include "kern/accumulate.h"
#include "support/toy_cover.h"
#include "support/toy_rows.h"

#include "support/pipe.h"

struct toy_form {
    motet_context *context;
    toy_which which;
    int size;
    pipe_case map;
    motet_array *wanted;
    rt_rows *rows; /* NULL: not yet */
    motet_array *gain, *sums, *histogram;
};

static const struct {
    int64_t rows, columns;
} sizes[TOY_SIZES] = {{40, 13}, {7, 5}, {96, 24}};

const char *toy_form_name(toy_which which)
{
    static const char *const names[TOY_FORMS] = {"smooth",  "sum",  "update",
                                                 "project", "emit", "walk"};
    return names[which];
}

toy_form *toy_form_make(motet_context *context, toy_which which, int size)
{
    static const int map[] = {PIPE_SMOOTH, PIPE_SUM, PIPE_UPDATE, PIPE_PROJECT};
    toy_form *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->context = context;
    f->which = which;
    f->size = size;
    const int64_t rows = sizes[size].rows, columns = sizes[size].columns;
    if (which <= TOY_PROJECT) {
        pipe_case_make(context, map[which], rows, columns, &f->map);
    } else if (which == TOY_EMIT) {
        assert_ok(context, motet_array_create(context, MOTET_I64, 1, &rows, &f->wanted));
        int64_t *n = f->wanted->data;
        for (int64_t i = 0; i < rows; i++) n[i] = i == 3 ? 4 * columns : i * i % 6;
    } else if (which == TOY_COVER) {
        assert_ok(context, motet_array_create(context, MOTET_F32, 1, &rows, &f->gain));
        float *gain = f->gain->data;
        for (int64_t i = 0; i < rows; i++) gain[i] = 1 / (1 + (float)(i % 13));
        const int64_t shape[2] = {TOY_CELLS, K_LIMBS_BOUNDED}, bins = TOY_BINS;
        assert_ok(context, motet_array_create(context, MOTET_I64, 2, shape, &f->sums));
        assert_ok(context, motet_array_create(context, MOTET_I64, 1, &bins, &f->histogram));
    }
    return f;
}

void toy_form_free(toy_form *f)
{
    pipe_case_free(&f->map);
    motet_array_free(f->wanted);
    rt_rows_free(f->rows);
    motet_array_free(f->gain);
    motet_array_free(f->sums);
    motet_array_free(f->histogram);
    free(f);
}

motet_status toy_form_run(toy_form *f, const rt_run_options *options)
{
    if (f->which <= TOY_PROJECT) return rt_run_with(f->context, &f->map.op, options);
    if (f->which == TOY_EMIT) {
        const rt_ragged r = toy_emit(f->wanted, 0);
        return rt_ragged_run(f->context, &r, options, &f->rows);
    }
    if (f->which == TOY_COVER) {
        const toy_cover cover = {.gain = f->gain, .map = f->sums, .histogram = f->histogram};
        const rt_op op = toy_cover_op(&cover);
        return rt_run_with(f->context, &op, options);
    }
    const int size = (int)(sizes[f->size].rows % 16);
    const toy_walk walk = {.steps = 2 + (uint32_t)size / 3, .buckets = 32, .capacity = 3};
    return toy_walk_run(f->context, &walk, options, &f->rows);
}

void toy_form_digest(const toy_form *f, char digest[33])
{
    if (f->which <= TOY_PROJECT)
        assert_ok(f->context, motet_array_digest(f->map.out, digest));
    else if (f->which == TOY_COVER)
        assert_ok(f->context, motet_array_digest(f->sums, digest));
    else if (f->rows)
        rt_rows_digest(f->rows, digest);
    else
        strcpy(digest, "none");
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
