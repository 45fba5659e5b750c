/* A seed is a world: devices of some speed and memory, what goes wrong with them, an operation of
 * some form, how it is cut and weighed and bounded, and when somebody cancels. Whatever the world,
 * a run that succeeds has the one digest; one that fails says why with a reason that the world has,
 * and leaves its outputs as they were; the checker finds nothing; and it all takes a bounded time
 * of the devices' clock. Then the faults end, and a second run must succeed where a device is left.
 *
 * A world of simulated devices alone repeats exactly; the CPU and second threads have a timing of
 * their own. */
#ifndef MOTET_TEST_SEEDS_H
#define MOTET_TEST_SEEDS_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <motet/journal.h>

#include "support/toy_form.h"

#include "support/sim.h"
#include "support/toy.h"

enum { SEED_DEVICES = 4, SEED_THREADS = 3 };

/* Reasons that a world has for a failure. */
enum {
    SEED_LOSES = 1,
    SEED_HANGS = 2,
    SEED_LACKS = 4, /* memory, of a device or the host */
    SEED_REFUSES = 8,
    SEED_CANCELS = 16,
    SEED_BOUNDS = 32,
    SEED_CORRUPTS = 64
};

typedef struct seed_world {
    uint64_t seed, random;
    motet_context *context;
    sim_config config;
    char names[64];
    int devices, number[SEED_DEVICES]; /* of the simulated device; -1: the CPU */
    int safe;                          /* devices with which nothing goes wrong */
    unsigned reasons, lasting;         /* those that are there in the second run, too */
    rt_run_options options;
    rt_weights weights;
    int64_t budget[RT_DEVICES];
    int64_t reads, cancel_at; /* of the clock */
    int64_t failing;          /* that allocation of the host */
    double verify;            /* the part of the chunks that is computed twice */
    uint64_t host;            /* bytes that runs may take there; 0: no bound */
    int threads;
    toy_which which[SEED_THREADS]; /* of each thread */
    int size[SEED_THREADS];
    int journal; /* a file in memory; -1: none */
    int64_t findings;
    char finding[256];
} seed_world;

/* How often each answer was given, to see that the worlds are not too kind or too harsh. */
static int64_t seed_answers[64];
static int64_t seed_found_again; /* parts of results, in journals */

#define seed_check(w, condition, ...)                                                              \
    do {                                                                                           \
        if (condition) break;                                                                      \
        print_error("seed %llu (%s): ", (unsigned long long)(w)->seed, (w)->names);                \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\nreplay it with MOTET_TEST_SEED=%llu\n", (unsigned long long)(w)->seed);     \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

static inline uint64_t seed_below(seed_world *w, uint64_t n) { return test_random(&w->random) % n; }
static inline int seed_one_in(seed_world *w, uint64_t n) { return seed_below(w, n) == 0; }
/* From 1 to 2^bits, small ones as likely as large ones. */
static inline int64_t seed_some(seed_world *w, uint64_t bits)
{
    return 1 + (int64_t)seed_below(w, (uint64_t)1 << seed_below(w, bits + 1));
}

static inline void seed_found(const char *text, void *user)
{
    seed_world *w = user;
    if (!w->findings++) snprintf(w->finding, sizeof w->finding, "%s", text);
}

/* The devices' clock, and a little more with each look at it. */
static inline int64_t seed_now(void *user)
{
    seed_world *w = user;
    const int64_t reads = __atomic_add_fetch(&w->reads, 1, __ATOMIC_RELAXED);
    if (reads == w->cancel_at && w->context) motet_context_cancel(w->context);
    return (w->context ? sim_now(w->context) : 0) + 1000 * reads;
}

/* What goes wrong with a device; 1: it may be of no use. */
static inline int seed_fault(seed_world *w, sim_fault *f)
{
    switch (seed_below(w, 8)) {
    case 0: f->lose_at_call = seed_some(w, 7); break;
    case 1: f->lose_at_command = seed_some(w, 7); break;
    case 2: f->hang_at_command = seed_some(w, 6); break;
    case 3:
        f->fail_alloc = seed_some(w, 2);
        f->fail_alloc_on = seed_one_in(w, 2);
        w->reasons |= SEED_LACKS;
        return 1;
    case 4:
        if (!seed_one_in(w, 3)) return 0;
        f->fail_call = seed_some(w, 7);
        w->reasons |= SEED_REFUSES;
        return 1;
    case 5:
        f->shrink_per_second = (uint64_t)1 << (20 + seed_below(w, 12));
        w->reasons |= SEED_LACKS | SEED_BOUNDS;
        return 1;
    case 6:
        f->slow_at_command = seed_some(w, 6);
        f->slow = (double)seed_some(w, 6);
        return 0;
    default: return 0;
    }
    w->reasons |= f->hang_at_command ? SEED_HANGS : SEED_LOSES;
    return 1;
}

static inline void seed_devices(seed_world *w)
{
    sim_config_init(&w->config);
    w->config.seed = test_random(&w->random);
    w->config.found = seed_found;
    w->config.found_user = w;
    w->devices = 1 + (int)seed_below(w, SEED_DEVICES);
    const int cpu = seed_one_in(w, 4) ? (int)seed_below(w, (uint64_t)w->devices) : -1;
    unsigned taken = 0;
    for (int i = 0; i < w->devices; i++) {
        const char *comma = i ? "," : "";
        const size_t at = strlen(w->names);
        int number = -1;
        while (i != cpu && number < 0) {
            number = (int)seed_below(w, SIM_DEVICES);
            if (taken >> number & 1) number = -1;
        }
        w->number[i] = number;
        if (number < 0) {
            snprintf(w->names + at, sizeof w->names - at, "%scpu", comma);
            w->safe++;
            continue;
        }
        taken |= 1u << number;
        snprintf(w->names + at, sizeof w->names - at, "%ssim:%d", comma, number);
        sim_device_config *d = &w->config.device[number];
        const int small = seed_one_in(w, 8);
        d->memory = (uint64_t)1 << (small ? 13 + seed_below(w, 5) : 20 + seed_below(w, 5));
        d->items_per_second = 1e5 * (double)seed_some(w, 12);
        d->upload = 1e6 * (double)seed_some(w, 12);
        d->download = 1e6 * (double)seed_some(w, 12);
        d->latency = seed_some(w, 18);
        if (small) w->reasons |= SEED_LACKS | SEED_BOUNDS;
        if (small) w->lasting |= SEED_BOUNDS;
        const int bad = seed_one_in(w, 2) && seed_fault(w, &d->fault);
        w->safe += !bad && !small;
    }
}

static inline void seed_options(seed_world *w)
{
    rt_run_options *o = &w->options;
    if (!seed_one_in(w, 4))
        for (int i = 0; i < RT_AXES; i++) o->cut.rows[i] = (int64_t)seed_below(w, 14);
    if (!seed_one_in(w, 3)) o->cut.stream_rows = seed_some(w, 6);
    if (seed_one_in(w, 2)) {
        w->weights.count = w->devices;
        for (int i = 0; i < w->devices; i++)
            w->weights.weight[i] = seed_one_in(w, 6) && i ? 0 : test_uniform(&w->random, 0.1, 3);
        o->weights = &w->weights;
        o->weightings = 1;
    }
    if (seed_one_in(w, 3)) {
        for (int i = 0; i < w->devices; i++)
            w->budget[i] = seed_one_in(w, 3) ? 0 : 1024 * seed_some(w, 8);
        o->budget = w->budget;
        w->reasons |= SEED_BOUNDS;
        w->lasting |= SEED_BOUNDS;
    }
    if (seed_one_in(w, 6)) o->test.fixed_stage = 512 * (size_t)seed_some(w, 3);
    if (seed_one_in(w, 6)) {
        w->cancel_at = seed_some(w, 10);
        w->reasons |= SEED_CANCELS;
    }
    if (seed_one_in(w, 10)) {
        w->failing = seed_some(w, 6);
        w->reasons |= SEED_LACKS;
    }
    if (seed_one_in(w, 8)) {
        w->host = 512 * (uint64_t)seed_some(w, 14);
        w->reasons |= SEED_LACKS | SEED_BOUNDS;
    }
    w->threads = seed_one_in(w, 8) ? 2 + (int)seed_below(w, SEED_THREADS - 1) : 1;
    w->journal = seed_one_in(w, 5) ? memfd_create("journal", 0) : -1;
}

static inline void seed_choose(seed_world *w)
{
    for (int i = 0; i < w->threads; i++) {
        w->which[i] = (toy_which)seed_below(w, TOY_FORMS);
        w->size[i] = (int)seed_below(w, TOY_SIZES);
    }
}

/* Where every chunk is verified, a device may compute wrongly, once, and it will be seen. */
static inline void seed_verify(seed_world *w)
{
    if (!seed_one_in(w, 5)) return;
    w->verify = seed_one_in(w, 2) ? 1 : test_uniform(&w->random, 0, 1);
    if (w->verify < 1 || w->devices == 1 || w->threads > 1 || (w->reasons & SEED_BOUNDS)) return;
    w->reasons = SEED_CORRUPTS | (w->reasons & (SEED_CANCELS | SEED_LACKS));
    int wrong = -1;
    for (int i = 0; i < w->devices; i++) {
        if (w->number[i] < 0) continue;
        memset(&w->config.device[w->number[i]].fault, 0, sizeof(sim_fault));
        wrong = w->number[i];
    }
    w->config.device[wrong].fault.corrupt_at_command = seed_some(w, 5);
    w->which[0] = (toy_which)seed_below(w, TOY_SUMS); /* whose kernels stand wrong inputs */
}

static inline unsigned seed_reason_for(motet_status st)
{
    switch (st) {
    case MOTET_DECLINED: /* of a batch */
    case MOTET_DEVICE_LOST: return SEED_LOSES | SEED_HANGS;
    case MOTET_DEVICE_HUNG: return SEED_HANGS;
    case MOTET_NO_MEMORY: return SEED_LACKS;
    case MOTET_OVER_BUDGET: return SEED_BOUNDS | SEED_LACKS;
    case MOTET_DEVICE_ERROR: return SEED_REFUSES;
    case MOTET_CANCELLED: return SEED_CANCELS;
    case MOTET_CHECK_FAILED: return SEED_CORRUPTS;
    default: return 0;
    }
}

typedef struct seed_run {
    seed_world *world;
    toy_which which;
    int size;
    toy_form *form;
    motet_status status;
} seed_run;

static inline void *seed_run_one(void *user)
{
    seed_run *r = user;
    r->status = toy_form_run(r->form, &r->world->options);
    return NULL;
}

static inline void seed_verdict(const seed_run *r)
{
    seed_world *w = r->world;
    const int ok = r->status == MOTET_OK;
    motet_error error;
    motet_context_error(w->context, &error);
    seed_answers[r->status]++;
    const char *wrong = toy_form_wrong(r->form, r->status);
    seed_check(w, !wrong, "%s answers %s: %s", toy_form_name(r->which),
               motet_status_name(r->status), wrong);
    seed_check(w, ok || (seed_reason_for(r->status) & w->reasons),
               "%s answers %s (%s), for which there is no reason", toy_form_name(r->which),
               motet_status_name(r->status), error.message);
    const unsigned fatal =
        w->reasons & (SEED_CORRUPTS | SEED_CANCELS | SEED_REFUSES | SEED_LACKS | SEED_BOUNDS);
    seed_check(w, ok || fatal || !w->safe, "%s answers %s (%s), and a device is left",
               toy_form_name(r->which), motet_status_name(r->status), error.message);
    seed_check(w, w->findings == 0, "%lld findings, the first: %s", (long long)w->findings,
               w->finding);
}

/* All runs of the world, at once where it has several threads. */
static inline void seed_attempt(seed_world *w)
{
    seed_run runs[SEED_THREADS];
    for (int i = 0; i < w->threads; i++) {
        runs[i] = (seed_run){.world = w, .which = w->which[i], .size = w->size[i]};
        toy_form_learn(runs[i].which, runs[i].size);
        runs[i].form = toy_form_make(w->context, runs[i].which, runs[i].size);
    }
    if (w->host) w->context->options.host_memory = atomic_load(&w->context->held) + w->host;
    test_context_fail_at(w->context, w->failing, 0);
    if (w->threads == 1) {
        seed_run_one(&runs[0]);
    } else {
        pthread_t thread[SEED_THREADS];
        for (int i = 0; i < w->threads; i++)
            seed_check(w, !pthread_create(&thread[i], NULL, seed_run_one, &runs[i]), "no thread");
        for (int i = 0; i < w->threads; i++) pthread_join(thread[i], NULL);
    }
    test_context_fail_at(w->context, 0, 0);
    w->context->options.host_memory = 0;
    for (int i = 0; i < w->threads; i++) {
        seed_verdict(&runs[i]);
        toy_form_free(runs[i].form);
    }
    toy_mistakes(); /* a kernel that is cut short by a loss sees memory that is gone */
}

/* What is written from now on is found when it is opened again. */
static inline void seed_journal(seed_world *w)
{
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.file = w->journal;
    const motet_status st = motet_context_journal(w->context, &o);
    seed_check(w, st == MOTET_OK, "the journal does not open: %s", motet_status_name(st));
}

static inline int seed_left(const seed_world *w)
{
    int left = 0;
    for (int i = 0; i < w->devices; i++) left += !w->context->devices->set[i].lost;
    return left;
}

/* Answers the trace of all that the simulated devices did, and whether it must repeat. */
static inline uint64_t seed_try(uint64_t seed, int *repeats)
{
    seed_world world = {.seed = seed, .random = seed * 0x9e3779b97f4a7c15u + 1}, *w = &world;
    seed_devices(w);
    seed_options(w);
    seed_choose(w);
    seed_verify(w);
    motet_context *c = test_context_failing(0, 0);
    assert_non_null(c);
    c->options.clock = (motet_clock){seed_now, w};
    const motet_status st = sim_use(c, &w->config, w->names);
    seed_check(w, st == MOTET_OK, "the devices do not open: %s", motet_status_name(st));
    c->options.verify_fraction = w->verify;
    c->options.unpipelined = seed_one_in(w, 6);
    c->options.chunks_per_device = seed_one_in(w, 4) ? 2 + (int64_t)seed_below(w, 9) : 0;
    w->reads = 0;
    w->context = c;
    if (w->journal >= 0) seed_journal(w);
    seed_attempt(w);
    motet_journal_counts first, second;
    motet_context_journal_counts(c, &first);

    /* Then nothing goes wrong any more. */
    const sim_fault none = {.lose_at_call = 0};
    for (int i = 0; i < w->devices; i++)
        if (w->number[i] >= 0) sim_set_fault(c, w->number[i], &none);
    w->cancel_at = w->failing = 0;
    w->host = 0;
    w->reasons = (w->reasons & (SEED_LOSES | SEED_HANGS)) | w->lasting;
    w->safe = seed_left(w);
    if (w->journal >= 0)
        seed_journal(w); /* the same again, as after a restart */
    else
        seed_choose(w);
    const int64_t well = seed_answers[MOTET_OK];
    seed_attempt(w);
    motet_context_journal_counts(c, &second);
    seed_check(w, !first.kept || second.found || seed_answers[MOTET_OK] == well,
               "%lld parts were kept in the journal, none is found", (long long)first.kept);
    seed_found_again += second.found;
    seed_check(w, sim_now(c) < (int64_t)300e9, "it took %.0f s of the devices' time",
               (double)sim_now(c) * 1e-9);
    *repeats = w->threads == 1;
    for (int i = 0; i < w->devices; i++) *repeats &= w->number[i] >= 0;
    const uint64_t trace = sim_trace(c);
    w->context = NULL;
    motet_context_report_reset(c);
    motet_context_free(c);
    if (w->journal >= 0) close(w->journal);
    seed_check(w, w->findings == 0, "%lld findings, the first: %s", (long long)w->findings,
               w->finding);
    return trace;
}

static volatile uint64_t seed_at_work;

static inline void seed_hangs(int signal)
{
    char text[96];
    const int n = snprintf(text, sizeof text, "seed %llu does not end (signal %d)\n",
                           (unsigned long long)seed_at_work, signal);
    if (write(2, text, (size_t)n) == n) _exit(1);
    _exit(2);
}

/* MOTET_TEST_SEED: that one alone. Every tenth runs twice: it has to do the same again. */
static inline void seed_try_all(uint64_t first, uint64_t count)
{
    const char *one = getenv("MOTET_TEST_SEED");
    if (one) first = strtoull(one, NULL, 10), count = 1;
    int64_t repeated = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        int repeats;
        seed_at_work = seed;
        signal(SIGALRM, seed_hangs);
        alarm(60);
        const uint64_t trace = seed_try(seed, &repeats);
        if (!repeats || seed % 10) continue;
        repeated++;
        if (seed_try(seed, &repeats) != trace)
            fail_msg("seed %llu does something else when it runs again", (unsigned long long)seed);
    }
    printf("%llu seeds from %llu, %lld of them twice:", (unsigned long long)count,
           (unsigned long long)first, (long long)repeated);
    for (int i = 0; i < 64; i++)
        if (seed_answers[i])
            printf(" %s %lld", motet_status_name((motet_status)i), (long long)seed_answers[i]);
    printf("; found in journals %lld\n", (long long)seed_found_again);
}

#endif
