/*
 * since.c - two looks at one target, judged together.
 *
 * Fairness has three parts. What is compared is what a promise was about (since_measure.c).
 * A verdict is only given on moments that are alike: as much work in hand, as old, as many
 * clients; else it says what differs. And where several changes for the same bytes are in
 * force, they are judged as one: the range is at least that of the largest, at most their
 * sum, and nobody can say which of them did it.
 */
#include "findings/since.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/mysql.h"
#include "findings/since_measure.h"
#include "model/known.h"

enum {
    SINCE_MAX_BYTES = 1 << 20,
    AGES_APART = 10, /* times as old */
    LOADS_APART = 2, /* times as much */
    YOUNG_SECONDS = 3600,
    CLIENTS_APART = 8,        /* fewer are no other load */
    BOOTS_APART_SECONDS = 60, /* the kernel computes its boot anew after clock steps */
    ROUNDING_BYTES = 52429,   /* half of what is shown: 0.05 MiB */
};

static const uint64_t work_apart_bytes = 16 * FINDING_MIB;

const char *const since_verdict_names[SINCE_VERDICT_COUNT] = {
    [SINCE_AS_PROMISED] = "as-promised",
    [SINCE_MORE] = "more",
    [SINCE_LESS] = "less",
    [SINCE_UNLIKE] = "unlike",
    [SINCE_NOT_MADE] = "not-made",
    [SINCE_ENDED] = "ended",
};

const char *const since_force_names[SINCE_FORCE_COUNT] = {
    [SINCE_FORCE_UNKNOWN] = "unknown",
    [SINCE_IN_FORCE] = "in-force",
    [SINCE_NOT_IN_FORCE] = "not-in-force",
};

int64_t since_fell_bytes(const struct since_promise *promise)
{
    return number_difference(promise->before_bytes, promise->now_bytes);
}

/* ---- are they the same processes, and the moments alike */

static bool same_boot(const struct facts *a, const struct facts *b)
{
    const uint64_t one = a->host.boot_unix_seconds;
    const uint64_t other = b->host.boot_unix_seconds;

    return one == 0 || other == 0 ||
           (one > other ? one - other : other - one) <= BOOTS_APART_SECONDS;
}

static bool lives_in(const struct process_facts *process, const struct facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].pid == process->pid &&
            facts->processes[i].start_time_ticks == process->start_time_ticks) {
            return true;
        }
    }
    return false;
}

static bool is_restarted(const struct facts *before, const struct facts *now)
{
    if (!same_boot(before, now)) {
        return true;
    }
    for (size_t i = 0; i < before->process_count; i++) {
        if (lives_in(&before->processes[i], now)) {
            return false;
        }
    }
    return true;
}

/* Of the oldest member; 0 when it is not known. */
static uint64_t age_seconds(const struct facts *facts)
{
    const uint64_t taken =
        facts->taken_at_unix_ns > 0 ? (uint64_t)facts->taken_at_unix_ns / 1000000000U : 0;
    uint64_t oldest = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        const uint64_t start = facts->processes[i].start_unix_seconds;
        if (start > 0 && (oldest == 0 || start < oldest)) {
            oldest = start;
        }
    }
    return oldest == 0 || taken <= oldest ? 0 : taken - oldest;
}

static bool apart(uint64_t a, uint64_t b, uint64_t times, uint64_t least)
{
    const uint64_t less = number_smaller(a, b);
    const uint64_t more = a > b ? a : b;

    return more - less >= least && less < more / times;
}

static const char *unlike_age(const struct since_moment *before,
    const struct since_moment *now, struct region *region)
{
    const uint64_t then = age_seconds(before->snapshot->facts);
    const uint64_t at_last = age_seconds(now->snapshot->facts);

    if (then == 0 || at_last == 0 || number_smaller(then, at_last) >= YOUNG_SECONDS ||
        !apart(then, at_last, AGES_APART, 1)) {
        return NULL;
    }
    return region_printf(region, "up %s now, %s then", quantity_seconds(at_last).text,
        quantity_seconds(then).text);
}

/*
 * The work in hand of a pool is that of each of its processes: how many of them there are may be
 * what the change was about.
 */
static const char *unlike_work(const struct since_moment *before,
    const struct since_moment *now, enum layer_id id, struct region *region)
{
    const bool pool = before->snapshot->facts->target_kind == TARGET_POOL &&
                      now->snapshot->facts->target_kind == TARGET_POOL;
    const uint64_t most = pool ? before->snapshot->member_count : 1;
    const uint64_t many = pool ? now->snapshot->member_count : 1;
    bool then_known;
    bool now_known;
    const uint64_t then = layer_bytes(&before->snapshot->layers[id], &then_known);
    const uint64_t at_last = layer_bytes(&now->snapshot->layers[id], &now_known);

    if (!then_known || !now_known || most == 0 || many == 0 ||
        !apart(number_scale(then, (double)many / (double)most), at_last, LOADS_APART,
            work_apart_bytes)) {
        return NULL;
    }
    return region_printf(region, "%s is %s%s now and was %s then",
        id == LAYER_IN_USE ? "in use" : layer_names[id],
        quantity_bytes(at_last / many, false).text, pool ? " a process" : "",
        quantity_bytes(then / most, false).text);
}

static const struct fact *connections(const struct since_moment *moment)
{
    const struct process_view *view = mysql_server_of(moment->snapshot);
    const struct mysql_facts *mysql = view != NULL ? view->facts->mysql : NULL;
    const struct fact *fact =
        mysql != NULL ? &mysql->values[MYSQL_FACT_MAX_USED_CONNECTIONS] : NULL;

    return fact != NULL && fact_is_known(fact) ? fact : NULL;
}

static const char *unlike_clients(const struct since_moment *before,
    const struct since_moment *now, struct region *region)
{
    const struct fact *then = connections(before);
    const struct fact *at_last = connections(now);

    if (then == NULL || at_last == NULL ||
        !apart(then->value, at_last->value, LOADS_APART, CLIENTS_APART)) {
        return NULL;
    }
    return region_printf(region,
        "at most %s at one time since its start, %" PRIu64 " then",
        quantity_count(at_last->value, "connection").text, then->value);
}

static bool has_glibc(const struct since_moment *moment)
{
    for (size_t i = 0; i < moment->snapshot->member_count; i++) {
        if (state_is_known(moment->snapshot->members[i].facts->glibc.state)) {
            return true;
        }
    }
    return false;
}

/* A look at something else: another program, or a whole pool beside one of its processes. */
static const char *unlike_target(const struct since_moment *before,
    const struct since_moment *now, struct region *region)
{
    const struct snapshot *then = before->snapshot;
    const struct snapshot *at_last = now->snapshot;

    if (then->member_count == 0 || at_last->member_count == 0) {
        return NULL;
    }
    const char *was = then->members[0].facts->name;
    const char *is = at_last->members[0].facts->name;
    if (was != NULL && is != NULL && strcmp(was, is) != 0) {
        return region_printf(region, "it is %s now and was %s then", is, was);
    }
    /* A pool of which but the master is left is a pool. */
    if (then->facts->target_kind != at_last->facts->target_kind &&
        (then->member_count == 1) != (at_last->member_count == 1)) {
        return region_printf(region, "%s now, %s then",
            quantity_count(at_last->member_count, "process").text,
            quantity_count(then->member_count, "process").text);
    }
    return NULL;
}

static const char *unlike_of(const struct since_moment *before,
    const struct since_moment *now, const struct since *since, struct region *region)
{
    const char *why = before->doubt != NULL ? before->doubt : now->doubt;

    if (why != NULL) {
        return region_copy_text(region, why);
    }
    why = unlike_target(before, now, region);
    if (why == NULL && since->restarted) {
        why = unlike_age(before, now, region);
    }
    if (why == NULL && has_glibc(before) && !has_glibc(now)) {
        why = "another malloc is in use now";
    }
    why = why != NULL ? why : unlike_clients(before, now, region);
    why = why != NULL ? why : unlike_work(before, now, LAYER_TRACKED, region);
    return why != NULL ? why : unlike_work(before, now, LAYER_IN_USE, region);
}

/* ---- layers */

static void compare_layers(const struct since_moment *before,
    const struct since_moment *now, struct since *since)
{
    for (int id = 0; id < LAYER_COUNT; id++) {
        const struct layer *then = &before->snapshot->layers[id];
        const struct layer *at_last = &now->snapshot->layers[id];
        if (state_is_known((uint32_t)then->state) &&
            state_is_known((uint32_t)at_last->state)) {
            since->layers[since->layer_count++] =
                (struct since_layer){(enum layer_id)id, then->bytes, at_last->bytes};
        }
    }
}

/* ---- promises */

static bool speaks(const struct finding_list *list, const struct rule *rule)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].rule == rule) {
            return true;
        }
    }
    return false;
}

static int64_t as_signed(uint64_t value)
{
    return value < INT64_MAX / 16 ? (int64_t)value : INT64_MAX / 16;
}

static int64_t low_of(const struct finding *finding)
{
    return finding->predicted_cost_bytes > 0 ? -as_signed(finding->predicted_cost_bytes)
                                             : as_signed(finding->predicted_low_bytes);
}

static struct since_promise promise_of(const struct finding *finding,
    const struct since_moment *before, const struct since_moment *now,
    struct since *since)
{
    struct since_promise promise = {.finding = finding,
        .found_now = speaks(now->findings, finding->rule),
        .low_bytes = low_of(finding),
        .high_bytes = as_signed(finding->predicted_high_bytes)};
    struct since_quantity quantity;

    promise.force =
        since_force_of(finding, before, now, &since->region, &promise.force_text);
    if (since_quantity_of(finding->rule, before, now, &quantity)) {
        promise.measure = quantity.title;
        promise.before_bytes = quantity.before_bytes;
        promise.now_bytes = quantity.now_bytes;
    }
    return promise;
}

/* What is in force for the same bytes counts as one change. */
static void join(struct since *since, struct since_promise *promise)
{
    int64_t cost = 0;
    int64_t low = 0;
    int64_t high = 0;

    for (size_t i = 0; i < since->promise_count; i++) {
        const struct since_promise *other = &since->promises[i];
        const int64_t other_low = low_of(other->finding);
        if (other->force != SINCE_IN_FORCE ||
            !since_same_bytes(other->finding->rule, promise->finding->rule)) {
            continue;
        }
        promise->together = promise->together || other != promise;
        cost = number_difference(cost, other_low < 0 ? -other_low : 0);
        low = other_low > low ? other_low : low;
        high = number_difference(high, -as_signed(other->finding->predicted_high_bytes));
    }
    if (promise->together) {
        promise->low_bytes = low + cost;
        promise->high_bytes = high;
    }
}

static enum since_verdict verdict_of(
    const struct since *since, const struct since_promise *promise)
{
    const int64_t fell = since_fell_bytes(promise);
    const bool reached = fell >= number_difference(promise->low_bytes, ROUNDING_BYTES);

    if (promise->force == SINCE_NOT_IN_FORCE) {
        return SINCE_NOT_MADE;
    }
    if (promise->force == SINCE_FORCE_UNKNOWN) {
        if (since->restarted && promise->finding->rule->once) {
            return SINCE_ENDED;
        }
        if (promise->found_now && (!reached || fell <= 0)) {
            return SINCE_NOT_MADE;
        }
    }
    if (since->unlike != NULL || promise->measure == NULL) {
        return SINCE_UNLIKE;
    }
    if (!reached) {
        return SINCE_LESS;
    }
    return fell <= number_difference(promise->high_bytes, -ROUNDING_BYTES)
               ? SINCE_AS_PROMISED
               : SINCE_MORE;
}

static const struct since_layer *layer_of(const struct since *since, enum layer_id id)
{
    for (size_t i = 0; i < since->layer_count; i++) {
        if (since->layers[i].id == id) {
            return &since->layers[i];
        }
    }
    return NULL;
}

/* Blocks in use are what the free ones lie between: more of them leave more. */
static const char *why_of(struct since *since, const struct since_promise *promise)
{
    const struct since_layer *in_use = layer_of(since, LAYER_IN_USE);
    const int64_t grew =
        in_use != NULL ? number_difference(in_use->now_bytes, in_use->before_bytes) : 0;
    const int64_t enough = (int64_t)(work_apart_bytes / 4);

    if ((promise->verdict == SINCE_LESS && grew >= enough) ||
        (promise->verdict == SINCE_MORE && grew <= -enough)) {
        return region_printf(&since->region, "blocks in use %s by %s meanwhile",
            grew > 0 ? "grew" : "fell",
            quantity_bytes(grew > 0 ? (uint64_t)grew : -(uint64_t)grew, false).text);
    }
    return NULL;
}

static int add_promises(const struct since_moment *before, const struct since_moment *now,
    struct since *since)
{
    const struct finding_list *list = before->findings;

    since->promises =
        region_alloc(&since->region, (list->count + 1) * sizeof(*since->promises));
    if (since->promises == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].predicts) {
            since->promises[since->promise_count++] =
                promise_of(&list->items[i], before, now, since);
        }
    }
    for (size_t i = 0; i < since->promise_count; i++) {
        struct since_promise *promise = &since->promises[i];
        if (promise->force == SINCE_IN_FORCE) {
            join(since, promise);
        }
        promise->verdict = verdict_of(since, promise);
        promise->why = why_of(since, promise);
    }
    return 0;
}

int since_build(const struct since_moment *before, const struct since_moment *now,
    const char *source, struct since *since)
{
    *since = (struct since){.before = before->snapshot->facts};
    region_init(&since->region, SINCE_MAX_BYTES);
    since->source = region_copy_text(&since->region, source);
    since->restarted = is_restarted(since->before, now->snapshot->facts);
    since->unlike = unlike_of(before, now, since, &since->region);
    compare_layers(before, now, since);
    int rc = since->source == NULL ? -ENOMEM : add_promises(before, now, since);
    if (rc != 0) {
        since_release(since);
    }
    return rc;
}

void since_release(struct since *since)
{
    region_release(&since->region);
    *since = (struct since){.before = NULL};
}
