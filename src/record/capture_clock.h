/* capture_clock.h - when a full capture of a target is worth what it costs. */
#ifndef STRATA_RECORD_CAPTURE_CLOCK_H
#define STRATA_RECORD_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* What captures may cost, over all targets: a share of one processor, saved up for a while. */
struct capture_budget {
    int64_t left_us; /* below 0: to be paid for by waiting */
    int64_t at_ms;   /* when that was so; the boot clock, as all times here */
};

/* The captures of one target so far. */
struct capture_clock {
    uint64_t reads;
    int64_t at_ms;              /* of the last one */
    uint64_t rss_bytes;         /* of then */
    uint64_t highest_rss_bytes; /* of any of them */
    int64_t cost_us;            /* processor time of the last one */
};

/* How often the user wants to know. */
struct capture_intervals {
    uint64_t every_ms; /* ticks */
    uint64_t deep_every_ms;
    bool forced; /* deep_every_ms was asked for: the budget does not count */
};

void capture_budget_init(struct capture_budget *budget, int64_t now_ms);

/* Notes a capture of a target whose resident memory was rss_bytes. */
void capture_clock_note(struct capture_clock *clock, struct capture_budget *budget,
    uint64_t rss_bytes, int64_t now_ms, int64_t cost_us);

/*
 * True for the first one, when the interval is over, when resident memory moved by a tenth, and
 * at once when it is a tenth higher than in any capture, as far as the budget allows. Pure.
 */
bool capture_clock_is_due(const struct capture_clock *clock,
    const struct capture_budget *budget, const struct capture_intervals *intervals,
    uint64_t rss_bytes, int64_t now_ms);

/* True when the recording ends now, unless that would keep whoever ends it waiting. Pure. */
bool capture_clock_is_due_at_end(const struct capture_clock *clock, int64_t now_ms);

#endif
