/*
 * Makes the traces.
 *
 * A trace is made once and replayed many times, so that the measured loop does nothing but
 * read the next step. Slots are used again last in first out, which keeps the table of
 * blocks as small as the program's own variables would be. Blocks which die early die in
 * groups, as the temporaries of a function do when it returns; the steps are then not a
 * coin toss for the processor, which they are not in a program either. One fixed seed:
 * every peer and every run replays the same steps.
 */
#include "trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "random.h"

enum { SEED = 20260612, SOON_MEAN = 40, LATE_MEAN = 4000, GROUP = 16, NONE = -1 };

/* Blocks by the time at which they are due to be freed: a list for each moment. */
struct schedule {
    int32_t *first;     /* by time */
    int32_t *following; /* by slot */
    uint32_t *idle;     /* slots to use again */
    size_t idle_count;
};

static uint32_t small_size(uint64_t *state)
{
    return 16 + random_below(state, 305);
}

static uint32_t request_size(uint64_t *state)
{
    uint32_t dice = random_below(state, 1000);
    if (dice < 900) {
        return small_size(state);
    }
    unsigned shift =
        dice < 998 ? 5 + random_below(state, 7) : 13 + random_below(state, 4);
    uint32_t low = (uint32_t)1 << shift;
    return low + random_below(state, low);
}

/* Steps from now on until the block goes: soon as a rule, late for one in ten. */
static size_t lifetime(uint64_t *state)
{
    uint32_t mean = random_below(state, 10) == 0 ? LATE_MEAN : SOON_MEAN;
    return 1 + random_below(state, 2 * mean);
}

static void trace_add(struct trace *trace, uint32_t slot, uint32_t bytes)
{
    trace->steps[trace->count++] = (struct trace_step){.slot = slot, .bytes = bytes};
}

static int schedule_init(struct schedule *schedule, size_t allocations)
{
    schedule->first = malloc(allocations * sizeof(*schedule->first));
    schedule->following = malloc(allocations * sizeof(*schedule->following));
    schedule->idle = malloc(allocations * sizeof(*schedule->idle));
    schedule->idle_count = 0;
    if (schedule->first == NULL || schedule->following == NULL ||
        schedule->idle == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < allocations; i++) {
        schedule->first[i] = NONE;
    }
    return 0;
}

static void schedule_release(struct schedule *schedule)
{
    free(schedule->first);
    free(schedule->following);
    free(schedule->idle);
}

static uint32_t schedule_slot(struct schedule *schedule, struct trace *trace)
{
    if (schedule->idle_count > 0) {
        return schedule->idle[--schedule->idle_count];
    }
    return (uint32_t)trace->slots++;
}

static void schedule_free_due(struct schedule *schedule, struct trace *trace, size_t now)
{
    for (int32_t slot = schedule->first[now]; slot != NONE;
         slot = schedule->following[slot]) {
        trace_add(trace, (uint32_t)slot, 0);
        schedule->idle[schedule->idle_count++] = (uint32_t)slot;
    }
}

int trace_init_request(struct trace *trace, size_t allocations, unsigned freed_percent)
{
    uint64_t state = SEED + freed_percent;
    struct schedule schedule = {0};
    *trace = (struct trace){.steps = malloc(2 * allocations * sizeof(*trace->steps))};
    int error = schedule_init(&schedule, allocations);
    if (trace->steps == NULL) {
        error = -ENOMEM;
    }
    for (size_t now = 0; now < allocations && error == 0; now++) {
        schedule_free_due(&schedule, trace, now);
        uint32_t slot = schedule_slot(&schedule, trace);
        trace_add(trace, slot, request_size(&state));
        if (random_below(&state, 100) < freed_percent) {
            size_t due = (now + lifetime(&state) + GROUP - 1) / GROUP * GROUP;
            due = due < allocations ? due : allocations - 1;
            if (due > now) {
                schedule.following[slot] = schedule.first[due];
                schedule.first[due] = (int32_t)slot;
            }
        }
    }
    schedule_release(&schedule);
    return error;
}

int trace_init_fill(struct trace *trace, size_t bytes)
{
    enum { SMALLEST_BYTES = 16 };
    uint64_t state = SEED;
    *trace =
        (struct trace){.steps = malloc(bytes / SMALLEST_BYTES * sizeof(*trace->steps))};
    if (trace->steps == NULL) {
        return -ENOMEM;
    }
    for (size_t sum = 0; sum < bytes;) {
        uint32_t size = small_size(&state);
        trace_add(trace, (uint32_t)trace->slots++, size);
        sum += size;
    }
    return 0;
}

void trace_release(struct trace *trace)
{
    free(trace->steps);
    *trace = (struct trace){0};
}
