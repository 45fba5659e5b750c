/* The inside of the simulator. Everything belongs to a world, one for a context, behind one lock.
 *
 *     sim.c     the table: opening, closing, loss, health       memory.c  blocks, red zones, places
 *     world.c   the world, findings, counts                     book.c    who touched what:
 * happens-before queue.c   streams and events: enqueueing, checks          clock.c   virtual time:
 * executing */
#ifndef MOTET_DEV_SIM_INSIDE_H
#define MOTET_DEV_SIM_INSIDE_H

#include <pthread.h>
#include <stdarg.h>

#include "dev/sim/sim.h"

enum { SIM_ACTORS = 256, SIM_HOST = 0, SIM_ENGINES = 3, SIM_RANGES = 16, SIM_PLACES = 32 };
enum { SIM_COMPUTE, SIM_UPLOAD, SIM_DOWNLOAD };

typedef struct sim_world sim_world;
typedef struct sim_device sim_device;
typedef struct sim_block sim_block;
typedef struct sim_command sim_command;

/* Memory as a command touches it: rows of bytes. */
typedef struct sim_range {
    uintptr_t at;
    size_t bytes, rows, pitch;
    int writes;
} sim_range;

/* A vector clock: of each actor (0: the host; the streams), its latest access that happened before.
 */
typedef struct sim_time {
    uint32_t at[SIM_ACTORS];
} sim_time;

/* For findings: "k_health 12 (sim:0, stream 1)". The text is a kernel's name or a literal. */
typedef struct sim_label {
    const char *what;
    int64_t number;
    int device, stream; /* -1: the host */
} sim_label;

typedef struct sim_access {
    sim_range range;
    sim_label label;
    int actor;
    uint32_t time;
    sim_device *device; /* NULL: the host */
} sim_access;

struct sim_block {
    sim_block *next;
    char *base; /* what was allocated */
    char *data;
    size_t bytes, zone;
    dev_memory_kind kind;
    sim_device *device;
    int64_t number;
    char text[32]; /* what it is for */
    enum {
        SIM_LIVING,
        SIM_CLOSED,
        SIM_RELEASED
    } state; /* CLOSED: its device was, the owner has it still */
};

typedef enum sim_kind { SIM_LAUNCH, SIM_COPY, SIM_FILL, SIM_RECORD, SIM_WAIT } sim_kind;

struct sim_command {
    sim_command *following;
    dev_stream *stream;
    sim_kind kind;
    sim_label label;
    sim_range range[SIM_RANGES];
    int ranges;
    int engine;
    int64_t ordinal, cost, end;
    /* COPY, FILL */
    dev_rows rows;
    unsigned char byte;
    /* LAUNCH; the arguments follow */
    const k_kernel *kernel;
    const void *args;
    int64_t items;
    char *scratch;
    size_t scratch_bytes;
    /* RECORD, WAIT */
    dev_event *event;
    uint64_t serial;
};

struct dev_stream {
    dev_stream *next, **self;
    sim_device *device;
    int number, actor;
    sim_time time;
    sim_command *first, *last;
    int running; /* the first has begun */
    int freed;
};

struct dev_event {
    dev_event *next, **self;
    sim_device *device;
    int users;
    uint64_t recorded, reached;
    sim_time time; /* of the latest record */
};

struct sim_device {
    dev base;
    sim_world *world;
    sim_device *next; /* of all epochs of all devices; they live as long as the world */
    int number, closed, lost;
    int streams_made;
    unsigned linked; /* a bit for each number that it is a peer of */
    uint64_t progress;
    dev_stream *streams;
    dev_event *events;
    sim_command *engine[SIM_ENGINES];
    int isa;
};

typedef struct sim_slot {
    sim_device *open;
    uint64_t epochs;
    sim_counts counts;
    sim_fault fault;
    int64_t calls, commands, allocs; /* since the fault was set or, with lose_again, of the epoch */
    int losses, refused, healths;
} sim_slot;

struct sim_world {
    motet_context *context;
    pthread_mutex_t lock;
    sim_config config;
    uint64_t random, trace, progress;
    int64_t now, numbers;
    sim_slot slot[SIM_DEVICES];
    sim_device *devices;
    sim_block *blocks;
    size_t quarantined; /* bytes of released blocks that are watched still */
    int quarantined_blocks;

    sim_time host;
    struct {
        uint32_t last; /* access */
        int taken;
    } actor[SIM_ACTORS];
    sim_access *book;
    int64_t accesses, room;
    sim_range place[SIM_PLACES]; /* the caller's memory that copies named last */
    int places;

    int64_t findings;
    char finding[SIM_FINDINGS][256];
};

/* world.c */
void *sim_take(sim_world *world, size_t bytes); /* zeroed, not in the context's account */
void sim_give(sim_world *world, void *block);
motet_status sim_world_make(motet_context *context, const sim_config *config, sim_world **out);
void sim_world_end(motet_context *context);
void sim_found(sim_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t sim_random(sim_world *world);
const char *sim_label_text(const sim_label *label, char text[96]);

/* sim.c */
/* Counts a call; the status that it must answer, if not OK. The lock is held. */
motet_status sim_call(sim_device *device, const char *what);
void sim_lose(sim_device *device); /* the lock is held */

/* memory.c; the lock is held but for the table's entries. */
typedef enum sim_side { SIM_CALLER, SIM_PINNED, SIM_INSIDE, SIM_WRONG } sim_side;
/* Where a range lies; WRONG, with a finding, when it is not all in one living block that the device
 * may reach. */
sim_side sim_side_of(sim_device *device, const sim_range *range, const sim_label *label);
sim_block *sim_block_at(sim_world *world, uintptr_t address);
const char *sim_place_text(sim_world *world, uintptr_t address, char text[96]);
motet_status sim_alloc(dev *device, dev_memory_kind kind, size_t bytes, dev_memory *out);
void sim_release(dev *device, dev_memory *memory);
void sim_memory_name(dev *device, const dev_memory *memory, const char *text);
void sim_zones_check(sim_world *world, const sim_block *block, const char *after);
uint64_t sim_memory_free(sim_device *device); /* bytes */
void sim_memory_close(sim_device *device);    /* releases what is left */
void sim_memory_spoil(sim_device *device);    /* its contents are lost */
void sim_memory_end(sim_world *world);
void sim_memory_check(sim_world *world);
/* While a command runs, its ranges are open; see sim_config's `trap`. */
void sim_memory_open(sim_world *world, const sim_command *command);
void sim_memory_shut(sim_world *world, const sim_command *command);
/* A copy of what a launch must not write, and looking at it afterwards. NULL: not watched. */
char *sim_watch_begin(sim_world *world);
void sim_watch_end(sim_world *world, char *copy, const sim_command *command);

/* book.c; the lock is held. */
int sim_overlap(const sim_range *a, const sim_range *b);
int sim_book_reserve(sim_world *world, int accesses); /* 0: no memory */
/* Enters an access that happens after `time`; tells of those it conflicts with. */
void sim_book_add(sim_world *world, sim_device *device, const sim_time *time, int actor,
                  const sim_label *label, const sim_range *range);
void sim_time_join(sim_time *into, const sim_time *other);
void sim_host_join(sim_world *world, const sim_time *other); /* the host has seen it */
void sim_book_forget_device(sim_world *world, const sim_device *device);
void sim_book_forget_range(sim_world *world, uintptr_t at, size_t bytes);
int sim_actor_take(sim_world *world); /* 0: none left */

/* clock.c; the lock is held. */
/* Executes what falls due until then; with `stop`, no further than the first progress. */
void sim_advance(sim_world *world, int64_t until, int stop);
int64_t sim_cost(const sim_command *command);
void sim_half(sim_command *command); /* as it is when it is cut short */
void sim_command_free(sim_world *world, sim_command *command);
/* Drops what has not begun, and what has if `all`; records count as reached. */
void sim_stream_clear(dev_stream *stream, int all);
void sim_stream_tidy(dev_stream *stream); /* frees it if it was freed and is empty */
void sim_finish_running(sim_device *device);
void sim_event_unuse(sim_world *world, dev_event *event);

/* options.c: an entry of the table. */
motet_status sim_options(motet_context *context, int number, const char *text, size_t length);

/* queue.c: entries of the table. */
motet_status sim_stream_create(dev *device, dev_stream **out);
void sim_stream_free(dev_stream *stream);
void sim_stream_drop(dev_stream *stream);
motet_status sim_stream_poll(dev_stream *stream);
motet_status sim_event_create(dev *device, dev_event **out);
void sim_event_free(dev_event *event);
motet_status sim_event_record(dev_stream *stream, dev_event *event);
motet_status sim_event_poll(dev_event *event);
motet_status sim_stream_wait(dev_stream *stream, dev_event *event);
motet_status sim_copy(dev_stream *stream, void *to, const void *from, size_t bytes);
motet_status sim_copy_rows(dev_stream *stream, const dev_rows *rows);
motet_status sim_fill(dev_stream *stream, void *to, unsigned char byte, size_t bytes);
motet_status sim_launch(dev_stream *stream, const dev_launch *launch);
uint64_t sim_progress(dev *device);
void sim_doze(dev *device, uint64_t seen, int64_t nanoseconds);
void sim_host_access(dev *device, const void *data, size_t bytes, int writes);

#endif
