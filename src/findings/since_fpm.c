/*
 * since_fpm.c - settings of a pool then and now.
 *
 * FPM shows nobody what it runs with: its files are what was asked for. Workers have it when
 * none of them is older than the earlier look, since a restart and a reload both replace all.
 */
#include "findings/since_fpm.h"

#include <inttypes.h>
#include <string.h>

#include "model/known.h"

enum { NS_PER_SECOND = 1000000000 };

static const struct fpm_pool_facts *pool_of(const struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        if (strcmp(pool->name, name) == 0 && state_is_known(pool->config_state)) {
            return pool;
        }
    }
    return NULL;
}

static bool has_parent(const struct facts *facts, const struct process_facts *process)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].pid == process->parent_pid) {
            return true;
        }
    }
    return false;
}

static bool was_there(const struct facts *before, const struct process_facts *process)
{
    for (size_t i = 0; i < before->process_count; i++) {
        const struct process_facts *then = &before->processes[i];
        if (then->pid == process->pid &&
            then->start_time_ticks == process->start_time_ticks) {
            return true;
        }
    }
    return false;
}

static bool workers_are_new(const struct facts *before, const struct facts *now)
{
    const int64_t then = before->taken_at_unix_ns / NS_PER_SECOND;

    for (size_t i = 0; i < now->process_count; i++) {
        const struct process_facts *process = &now->processes[i];
        if (has_parent(now, process) &&
            (was_there(before, process) ||
                (int64_t)process->start_unix_seconds + PROCESS_START_EARLY_SECONDS <
                    then)) {
            return false;
        }
    }
    return true;
}

/* 0 and a setting that is not there mean never. */
static uint64_t limit_of(const struct fact *fact)
{
    return fact_is_known(fact) ? fact->value : 0;
}

static bool is_less(const struct fact *now, const struct fact *then)
{
    const uint64_t at_last = limit_of(now);
    const uint64_t was = limit_of(then);

    return at_last > 0 && (was == 0 || at_last < was);
}

static const char *limit_text(struct region *region, const char *name,
    const struct fact *now, const struct fact *then)
{
    return region_printf(
        region, "%s = %" PRIu64 ", was %" PRIu64, name, limit_of(now), limit_of(then));
}

/* What ends workers earlier than before; NULL: nothing does. */
static const char *change_of(const struct fpm_pool_facts *then,
    const struct fpm_pool_facts *now, struct region *region)
{
    if (now->manager == FPM_ONDEMAND && then->manager != FPM_ONDEMAND) {
        return region_printf(
            region, "pm = ondemand, was %s", fpm_manager_names[then->manager]);
    }
    if (is_less(&now->max_requests, &then->max_requests)) {
        return limit_text(
            region, "pm.max_requests", &now->max_requests, &then->max_requests);
    }
    if (now->manager == FPM_ONDEMAND &&
        is_less(&now->idle_timeout_seconds, &then->idle_timeout_seconds)) {
        return limit_text(region, "pm.process_idle_timeout", &now->idle_timeout_seconds,
            &then->idle_timeout_seconds);
    }
    return NULL;
}

static bool has_workers(const struct facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        if (has_parent(facts, &facts->processes[i])) {
            return true;
        }
    }
    return false;
}

static enum since_force force_of(const struct facts *before, const struct facts *now,
    const struct fpm_pool_facts *pool, struct region *region, const char **text)
{
    const struct fpm_pool_facts *then = pool_of(before, pool->name);

    if (then == NULL || !state_is_known(pool->config_state)) {
        return SINCE_FORCE_UNKNOWN;
    }
    const char *change = change_of(then, pool, region);
    if (change == NULL) {
        *text = region_printf(region, "pm = %s, pm.max_requests = %" PRIu64 " as before",
            fpm_manager_names[pool->manager], limit_of(&pool->max_requests));
        return SINCE_NOT_IN_FORCE;
    }
    if (!workers_are_new(before, now)) {
        *text = region_printf(region, "%s, but workers of then still run", change);
        return SINCE_NOT_IN_FORCE;
    }
    *text = change;
    if (pool->manager == FPM_ONDEMAND && has_workers(now)) {
        *text = region_printf(region, "%s; idle workers end after %" PRIu64 " s", change,
            fact_is_known(&pool->idle_timeout_seconds) ? pool->idle_timeout_seconds.value
                                                       : FPM_IDLE_SECONDS);
    }
    return SINCE_IN_FORCE;
}

enum since_force since_fpm_force(const struct facts *before, const struct facts *now,
    struct region *region, const char **text)
{
    const struct fpm_pool_facts *own = pool_of(now, now->target_name);
    enum since_force force = SINCE_FORCE_UNKNOWN;

    if (own != NULL) {
        return force_of(before, now, own, region, text);
    }
    /* A unit or cgroup may have several pools: one with the change is enough to say so. */
    for (size_t i = 0; i < now->fpm_pool_count && force != SINCE_IN_FORCE; i++) {
        const enum since_force one =
            force_of(before, now, &now->fpm_pools[i], region, text);
        force = one != SINCE_FORCE_UNKNOWN ? one : force;
    }
    return force;
}
