/*
 * capture_clock.c - a share of one processor, saved up, and what it is spent on.
 *
 * A pause after each capture would spend the budget on the first look and miss the load of a
 * recording of half a minute, so the share of ten minutes is there from the start. Moves wait for
 * some ticks, or memory that goes up and down would spend all of it; a new highest moment does
 * not wait, since it may be over at the next tick. Each is a tenth above the one before, so that
 * there are never more than 121 of them from 8 MiB to 1 TiB.
 */
#include "record/capture_clock.h"

#include "base/number.h"

enum {
    PAUSE_FACTOR = 400, /* 0.25 % of one processor */
    US_PER_MS = 1000,
    SAVED_MS = 600000,
    /* A move worth a capture: a tenth of what was resident, and so many bytes. */
    MOVED_PART = 10,
    MOVED_LEAST_BYTES = 8 << 20,
    MOVED_TICKS = 6,            /* no more often than this */
    END_COST_MOST_US = 5000000, /* who ends a recording does not wait for more */
};

static const int64_t saved_most_us = (int64_t)SAVED_MS * US_PER_MS / PAUSE_FACTOR;

static int64_t left_us(const struct capture_budget *budget, int64_t now_ms)
{
    const int64_t elapsed_ms = now_ms > budget->at_ms ? now_ms - budget->at_ms : 0;
    const int64_t missing_us = saved_most_us - budget->left_us;

    return elapsed_ms >= missing_us * PAUSE_FACTOR / US_PER_MS
               ? saved_most_us
               : budget->left_us + elapsed_ms * US_PER_MS / PAUSE_FACTOR;
}

void capture_budget_init(struct capture_budget *budget, int64_t now_ms)
{
    *budget = (struct capture_budget){.left_us = saved_most_us, .at_ms = now_ms};
}

void capture_clock_note(struct capture_clock *clock, struct capture_budget *budget,
    uint64_t rss_bytes, int64_t now_ms, int64_t cost_us)
{
    budget->left_us = left_us(budget, now_ms) - cost_us;
    budget->at_ms = now_ms;
    clock->reads++;
    clock->at_ms = now_ms;
    clock->rss_bytes = rss_bytes;
    clock->cost_us = cost_us;
    if (rss_bytes > clock->highest_rss_bytes) {
        clock->highest_rss_bytes = rss_bytes;
    }
}

static bool is_a_tenth(uint64_t from, uint64_t moved)
{
    return moved >= MOVED_LEAST_BYTES && moved >= from / MOVED_PART;
}

static bool has_moved(const struct capture_clock *clock, uint64_t rss_bytes)
{
    const uint64_t before = clock->rss_bytes;

    return is_a_tenth(
        before, rss_bytes > before ? rss_bytes - before : before - rss_bytes);
}

bool capture_clock_is_due(const struct capture_clock *clock,
    const struct capture_budget *budget, const struct capture_intervals *intervals,
    uint64_t rss_bytes, int64_t now_ms)
{
    if (clock->reads == 0) {
        return true;
    }
    if (!intervals->forced && left_us(budget, now_ms) <= 0) {
        return false;
    }
    const uint64_t since_ms =
        now_ms > clock->at_ms ? (uint64_t)(now_ms - clock->at_ms) : 0;
    return since_ms >= intervals->deep_every_ms ||
           is_a_tenth(clock->highest_rss_bytes,
               number_subtract(rss_bytes, clock->highest_rss_bytes)) ||
           (since_ms / MOVED_TICKS >= intervals->every_ms && has_moved(clock, rss_bytes));
}

bool capture_clock_is_due_at_end(const struct capture_clock *clock, int64_t now_ms)
{
    return now_ms > clock->at_ms && clock->cost_us <= END_COST_MOST_US;
}
