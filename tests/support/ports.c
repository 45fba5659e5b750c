#include "support/ports.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/ports.k.h"
#include "support/toy.h"
#include "support/toy_kernels.h"

int ports_mistakes(void) { return toy_mistakes(); }
static atomic_int makes;
int ports_makes(void) { return atomic_exchange(&makes, 0); }

enum {
    IN = PORTS_IN,
    WITH = PORTS_WITH,
    BEGIN = PORTS_BEGIN,
    END = PORTS_END,
    OUT = PORTS_OUT,
    FIXED = PORTS_FIXED,
    STREAM = PORTS_STREAM,
    ALSO = PORTS_ALSO
};
_Static_assert((int)PORTS_VIEWS == (int)RT_PORTS, "kernels see every port");

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    ports_args a = {.first = {chunk->first[0], chunk->first[1]},
                    .count = {chunk->count[0], chunk->count[1]},
                    .stream_first = chunk->stream_first,
                    .stream_count = chunk->stream_count,
                    .first_block = chunk->first_block};
    for (int i = 0; i < RT_PORTS; i++) a.port[i] = toy_view_of(&chunk->port[i]);
    return rt_launch(queue, user, &a, a.count[0] * a.count[1]);
}

/* Arrays. */

static motet_array *floats(motet_context *c, int64_t rows, int64_t columns, uint64_t seed)
{
    motet_array *a = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 2, (int64_t[]){rows, columns}, &a));
    for (int64_t i = 0; i < a->elements; i++)
        ((float *)a->data)[i] =
            (float)test_uniform(&seed, -1, 1) * (float)(1u << test_random(&seed) % 24);
    return a;
}

static motet_array *integers(motet_context *c, int axes, int64_t rows, int64_t columns)
{
    motet_array *a = NULL;
    assert_ok(c, motet_array_create(c, MOTET_I64, axes, (int64_t[]){rows, columns}, &a));
    for (int64_t i = 0; i < a->elements; i++) ((int64_t *)a->data)[i] = 1000 * i;
    return a;
}

static int64_t *numbers(int64_t count, int64_t below, uint64_t seed)
{
    int64_t *list = calloc((size_t)count + 1, sizeof *list);
    for (int64_t i = 0; i < count; i++) list[i] = (int64_t)(test_random(&seed) % (uint64_t)below);
    return list;
}

/* Rows of 0 to 5 elements, and one that is as long as many. */
static int64_t *offsets(int64_t rows, uint64_t seed)
{
    int64_t *offset = calloc((size_t)rows + 1, sizeof *offset);
    for (int64_t i = 0; i < rows; i++)
        offset[i + 1] = offset[i] + (i == rows / 3 ? 3 * rows : (int64_t)(test_random(&seed) % 6));
    return offset;
}

static rt_port read_port(const char *name, const motet_array *a, int axis0, int axis1)
{
    return (rt_port){.name = name, .array = a, .access = RT_READ, .cut = {axis0, axis1}};
}

static void ragged(motet_context *c, ports_case *p, int64_t n)
{
    p->offset = offsets(n, 4);
    assert_ok(c, motet_array_wrap(c, p->offset, MOTET_I64, 1, &n, 0, &p->array[2]));
    assert_ok(c, motet_array_wrap(c, p->offset + 1, MOTET_I64, 1, &n, 0, &p->array[3]));
    p->op.axes = 1;
    p->op.port[BEGIN] = read_port("begins", p->array[2], 0, 0);
    p->op.port[END] = read_port("ends", p->array[3], 0, 0);
}

/* Cases. */

static void make_listed(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    p->array[0] = floats(c, n + 3, m, 1);
    p->array[1] = floats(c, m, n + 1, 2);
    p->out = floats(c, n, m, 3);
    p->list = numbers(n, n + 3, 5);
    p->other = numbers(n, n + 1, 6);
    p->op.name = "ports.listed", p->op.user = &K_ports_listed;
    p->op.port[IN] = read_port("in", p->array[0], 0, 1);
    p->op.port[IN].list = p->list, p->op.port[IN].list_count = n;
    p->op.port[WITH] = read_port("with", p->array[1], 1, 0);
    p->op.port[WITH].list = p->other, p->op.port[WITH].list_count = n;
    p->op.port[OUT] = (rt_port){.name = "out", .array = p->out, .access = RT_WRITE, .cut = {0, 1}};
    const float *in = p->array[0]->data, *with = p->array[1]->data;
    float *out = p->expected = malloc(p->out->bytes + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] =
                in[p->list[i] * m + j] * (1 + (float)i * 0.125f) + with[j * (n + 1) + p->other[i]];
}

static void make_rows(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    ragged(c, p, n);
    p->array[0] = floats(c, n, m, 1);
    p->out = floats(c, p->offset[n], 2, 2);
    p->op.name = "ports.rows", p->op.user = &K_ports_rows;
    p->op.port[IN] = read_port("in", p->array[0], 0, 0);
    p->op.port[OUT] =
        (rt_port){.name = "out", .array = p->out, .access = RT_WRITE, .offset = p->offset};
    const float *in = p->array[0]->data;
    float *out = p->expected = malloc(p->out->bytes + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < p->offset[i + 1] - p->offset[i]; k++) {
            *out++ = in[i * m + k % m];
            *out++ = (float)k;
        }
}

static void make_sums(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    (void)m;
    ragged(c, p, n);
    const int64_t total = p->offset[n];
    p->array[0] = floats(c, 2, total, 1);
    p->out = floats(c, n, 1, 2);
    p->op.name = "ports.sums", p->op.user = &K_ports_sums;
    p->op.port[IN] = read_port("in", p->array[0], 1, 0);
    p->op.port[IN].offset = p->offset;
    p->op.port[OUT] = (rt_port){.name = "out", .array = p->out, .access = RT_WRITE};
    const float *in = p->array[0]->data;
    float *out = p->expected = calloc(p->out->bytes + 1, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = p->offset[i]; k < p->offset[i + 1]; k++) out[i] += in[total + k];
}

static void make_count(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    p->array[0] = floats(c, n, m, 1);
    p->out = integers(c, 1, PORTS_BINS, 0);
    p->op.name = "ports.count", p->op.user = &K_ports_count;
    p->op.port[IN] = read_port("in", p->array[0], 0, 1);
    p->op.port[WITH] = read_port("whole", p->array[0], RT_WHOLE, RT_WHOLE);
    p->op.port[OUT] =
        (rt_port){.name = "out", .array = p->out, .access = RT_ADD, .cut = {RT_WHOLE, RT_WHOLE}};
    const float *in = p->array[0]->data;
    int64_t *out = p->expected = malloc(p->out->bytes + 1);
    memcpy(out, p->out->data, p->out->bytes);
    for (int64_t i = 0; i < n * m; i++) out[ports_bin(in[i])] += i;
}

static void make_limbs(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    p->array[0] = floats(c, n, m, 1);
    p->out = integers(c, 2, m, K_LIMBS_FLOAT);
    p->op.name = "ports.limbs", p->op.user = &K_ports_limbs;
    p->op.port[IN] = read_port("in", p->array[0], 0, 1);
    p->op.port[OUT] = (rt_port){.name = "out",
                                .array = p->out,
                                .access = RT_ADD,
                                .cut = {RT_WHOLE, 0},
                                .limbs = K_LIMBS_FLOAT};
    const float *in = p->array[0]->data;
    int64_t *out = p->expected = malloc(p->out->bytes + 1);
    memcpy(out, p->out->data, p->out->bytes);
    for (int64_t j = 0; j < m; j++) {
        for (int64_t i = 0; i < n; i++) k_limbs_add_float(out + j * K_LIMBS_FLOAT, in[i * m + j]);
        k_limbs_normalise(out + j * K_LIMBS_FLOAT, K_LIMBS_FLOAT);
    }
}

static motet_status give(const rt_view *part, void *user)
{
    ports_source *s = user;
    if (++s->reads == s->fail_at)
        return fail_at(s->hidden->context, s->status, __FILE__, __LINE__, 0,
                       "the source of an array failed");
    char *to = part->data;
    const motet_array *a = s->hidden;
    const size_t element = motet_type_bytes(a->type);
    for (int64_t i = part->first[0]; i < part->first[0] + part->count[0]; i++) {
        const size_t bytes = (size_t)part->count[1] * element;
        memcpy(to, (char *)a->data + (size_t)(i * a->shape[1] + part->first[1]) * element, bytes);
        to += bytes;
    }
    return MOTET_OK;
}

static void hide(ports_case *p, int port, int array)
{
    ports_source *s = &p->source[array];
    s->hidden = p->array[array];
    s->bare = *s->hidden;
    s->bare.data = NULL;
    s->source = (rt_source){.read = give, .user = s};
    s->status = MOTET_IO;
    p->op.port[port].array = &s->bare;
    p->op.port[port].source = &s->source;
}

static rt_port stream_port(const char *name, const motet_array *a, int axis0, int axis1)
{
    rt_port p = read_port(name, a, axis0, axis1);
    p.streamed = 1;
    return p;
}

static void make_source(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    enum { TERMS = 19 };
    p->array[0] = floats(c, n, m, 1);
    p->array[1] = floats(c, TERMS, n, 2);
    p->array[2] = floats(c, 3, 41, 3);
    p->array[3] = floats(c, TERMS, m, 4);
    p->out = floats(c, n, m, 5);
    p->op.name = "ports.source", p->op.user = &K_ports_source_sum;
    p->op.stream_extent = TERMS;
    p->op.port[IN] = read_port("in", p->array[0], 0, 1);
    p->op.port[IN].halo = 2; /* for nothing, but it comes */
    p->op.port[WITH] = stream_port("with", p->array[1], 1, RT_WHOLE);
    p->op.port[FIXED] = read_port("fixed", p->array[2], RT_WHOLE, RT_WHOLE);
    p->op.port[STREAM] = stream_port("x", p->array[3], RT_WHOLE, 1);
    p->op.port[OUT] = (rt_port){.name = "out", .array = p->out, .access = RT_WRITE, .cut = {0, 1}};
    hide(p, IN, 0), hide(p, WITH, 1), hide(p, FIXED, 2), hide(p, STREAM, 3);
    const float *in = p->array[0]->data, *with = p->array[1]->data, *x = p->array[3]->data;
    float *out = p->expected = malloc(p->out->bytes + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            out[i * m + j] = in[i * m + j] + ((float *)p->array[2]->data)[2 * 41 + 3];
            for (int64_t k = 0; k < TERMS; k++) out[i * m + j] += with[k * n + i] * x[k * m + j];
        }
}

static motet_status make_block(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                               const rt_queue *queue, const void *user)
{
    (void)user;
    makes++;
    const ports_make_args a = {toy_view_of(raw), toy_view_of(made),
                               toy_view_of(&chunk->port[FIXED])};
    return rt_launch(queue, &K_ports_make, &a, raw->count[0] * raw->count[1]);
}

static void make_made(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    enum { TERMS = 23 };
    p->array[0] = floats(c, TERMS, n, 2);
    p->array[1] = floats(c, m, 1, 3);
    p->array[2] = floats(c, TERMS, m, 4);
    p->out = floats(c, n, m, 5);
    p->op.name = "ports.made", p->op.user = &K_ports_made;
    p->op.stream_extent = TERMS;
    p->op.port[WITH] = stream_port("with", p->array[0], 1, RT_WHOLE);
    p->op.port[FIXED] = read_port("y", p->array[1], RT_WHOLE, RT_WHOLE);
    p->op.port[STREAM] = stream_port("x", p->array[2], RT_WHOLE, 1);
    p->op.port[STREAM].transform = make_block;
    p->op.port[STREAM].made_type = MOTET_F64;
    p->op.port[OUT] = (rt_port){.name = "out", .array = p->out, .access = RT_WRITE, .cut = {0, 1}};
    const float *with = p->array[0]->data, *y = p->array[1]->data, *x = p->array[2]->data;
    float *out = p->expected = malloc(p->out->bytes + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float sum = 0;
            for (int64_t k = 0; k < TERMS; k++)
                sum = (float)(sum + with[k * n + i] * ((double)x[k * m + j] * y[j]));
            out[i * m + j] = sum;
        }
}

static motet_status take(const rt_view *part, void *user)
{
    ports_sink *s = user;
    if (++s->takes == s->fail_at)
        return fail_at(s->out->context, s->status, __FILE__, __LINE__, 0, "the sink is full");
    const int later =
        part->first[0] != s->last[0] ? part->first[0] > s->last[0] : part->first[1] > s->last[1];
    s->wrong |= !later || part->stride[1] != 1 || part->stride[0] != part->count[1] || s->ends;
    s->last[0] = part->first[0], s->last[1] = part->first[1];
    s->elements += part->count[0] * part->count[1];
    for (int64_t i = 0; i < part->count[0]; i++)
        memcpy(s->taken + (part->first[0] + i) * s->bare.shape[1] + part->first[1],
               (float *)part->data + i * part->count[1], (size_t)part->count[1] * sizeof(float));
    return MOTET_OK;
}

static void ended(motet_status status, void *user)
{
    ports_sink *s = user;
    s->ends++;
    s->status = status;
    if (status == MOTET_OK && s->out->bytes) memcpy(s->out->data, s->taken, s->out->bytes);
}

/* What is written to port OUT goes to the sink. */
static void attach(ports_case *p)
{
    ports_sink *s = &p->sink;
    *s = (ports_sink){.sink = {take, ended, s}, .bare = *p->out, .out = p->out, .last = {-1, -1}};
    s->bare.data = NULL;
    s->taken = calloc(1, p->out->bytes + 1);
    s->status = MOTET_IO;
    p->op.port[OUT].array = &s->bare;
    p->op.port[OUT].sink = &s->sink;
}

static void make_rows_sink(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    make_rows(c, n, m, p);
    p->op.name = "ports.rows_sink";
    attach(p);
}

static void make_sink(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    p->array[0] = floats(c, n, m, 1);
    p->array[1] = floats(c, n, m, 2);
    p->out = floats(c, n, m, 3);
    p->op.name = "ports.sink", p->op.user = &K_ports_twice;
    p->op.port[IN] = read_port("in", p->array[0], 0, 1);
    p->op.port[ALSO] =
        (rt_port){.name = "also", .array = p->array[1], .access = RT_WRITE, .cut = {0, 1}};
    p->op.port[OUT] = (rt_port){.name = "out", .array = p->out, .access = RT_WRITE, .cut = {0, 1}};
    attach(p);
    const float *in = p->array[0]->data;
    float *out = p->expected = malloc(p->out->bytes + 1);
    for (int64_t i = 0; i < n * m; i++) out[i] = 2 * in[i];
}

void ports_case_make(motet_context *c, int which, int64_t n, int64_t m, ports_case *p)
{
    static void (*const make[PORTS_CASES])(motet_context *, int64_t, int64_t, ports_case *) = {
        make_listed, make_rows, make_sums, make_count,    make_limbs,
        make_source, make_made, make_sink, make_rows_sink};
    memset(p, 0, sizeof *p);
    p->op = (rt_op){.axes = 2, .extent = {n, m}, .enqueue = enqueue};
    make[which](c, n, m, p);
}

void ports_case_free(ports_case *p)
{
    for (int i = 0; i < PORTS_ARRAYS; i++) motet_array_free(p->array[i]);
    motet_array_free(p->out);
    free(p->sink.taken);
    free(p->list);
    free(p->other);
    free(p->offset);
    free(p->expected);
}

/* Once the sink has taken all, in order, what was written beside it is there, too. */
static int sink_right(const ports_case *p)
{
    const ports_sink *s = &p->sink;
    return !s->taken ||
           (!s->wrong && s->ends == 1 && s->status == MOTET_OK && s->elements == p->out->elements &&
            (!p->op.port[ALSO].array ||
             !memcmp(p->array[0]->data, p->array[1]->data, p->out->bytes)));
}

int ports_right(const ports_case *p)
{
    if (!sink_right(p)) return 0;
    return !p->out->bytes || !memcmp(p->out->data, p->expected, p->out->bytes);
}
