/*
 * plan_config.c - settings by name, from the manuals of the servers.
 *
 * FPM recycles by count only, never by memory, and a worker may serve up to twice the count
 * (php-src 23122), so the count is a guard and no bound. RoadRunner compares
 * max_worker_memory (MB of 2^20) with RSS and needs memory_limit well below it. opcache's size is
 * left out on purpose: it has no effect in a pool (php-src 23288).
 */
#include "plan/plan_config.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "plan/plan_processors.h"

enum {
    MIB = 1 << 20,
    CAPPED_ARENAS = 2,
    SPARE_LEAST_DIVISOR = 10,
    SPARE_MOST_DIVISOR = 4,
    SUPERVISOR_PERCENT = 115, /* memory_limit is to lie 10 to 20 percent below it */
};

/* Thread caches worth a line: below that the setting costs more than it gives. */
static const uint64_t cache_min_bytes = 4 * MIB;

static uint64_t at_least_one(uint64_t count)
{
    return count == 0 ? 1 : count;
}

static uint64_t memory_limit_mib(const struct plan *plan)
{
    return plan->limit.set_bytes / MIB;
}

uint64_t plan_worker_memory_mib(const struct plan_input *input, const struct plan *plan)
{
    const uint64_t limit = memory_limit_mib(plan) * MIB;
    uint64_t most = number_add(input->base_bytes, limit);

    if (limit == 0) {
        most = plan->each.most_bytes;
    }
    most = number_add(most, input->shared_bytes);
    return number_add(most / 100 * SUPERVISOR_PERCENT, MIB - 1) / MIB;
}

static void put_memory_limit(
    const struct plan_input *input, const struct plan *plan, struct buffer *buffer)
{
    const uint64_t limit = memory_limit_mib(plan);

    if (limit == 0) {
        return;
    }
    buffer_printf(buffer, "php_admin_value[memory_limit] = %" PRIu64 "M", limit);
    if (plan->limit.known) {
        const bool by_kernel = input->heap.kernel_peak_bytes != 0;
        buffer_printf(buffer, " ; largest real seen %s%s", by_kernel ? "at most " : "",
            quantity_bytes(
                by_kernel ? input->heap.kernel_peak_bytes : input->heap.peak_real_bytes,
                false)
                .text);
    }
    buffer_append_char(buffer, '\n');
}

static void put_fpm(const struct plan_input *input, const struct plan *plan,
    uint64_t workers, struct buffer *buffer)
{
    buffer_printf(buffer, "[%s]\n", input->name);
    buffer_printf(buffer, "pm = %s\n",
        input->on_demand_seconds != 0 ? "ondemand"
        : input->alone                ? "static"
                                      : "dynamic");
    buffer_printf(buffer, "pm.max_children = %" PRIu64 "\n", workers);
    if (input->on_demand_seconds != 0) {
        buffer_printf(
            buffer, "pm.process_idle_timeout = %" PRIu64 "s\n", input->on_demand_seconds);
    } else if (!input->alone) {
        const uint64_t least = at_least_one(workers / SPARE_LEAST_DIVISOR);
        uint64_t most = at_least_one(workers / SPARE_MOST_DIVISOR);
        most = most < least ? least : most;
        buffer_printf(buffer,
            "pm.start_servers = %" PRIu64 "\npm.min_spare_servers = %" PRIu64
            "\npm.max_spare_servers = %" PRIu64 "\n",
            least, least, most);
    }
    buffer_printf(buffer, "pm.max_requests = %" PRIu64 "%s\n", plan->max_requests,
        !input->growth_known      ? " ; a guard: growth by request was not measured"
        : plan->max_requests == 0 ? " ; no growth by request was measured"
                                  : " ; before a tenth of a worker has been added");
    put_memory_limit(input, plan, buffer);
}

static void put_roadrunner(const struct plan_input *input, const struct plan *plan,
    uint64_t workers, struct buffer *buffer)
{
    const uint64_t limit = memory_limit_mib(plan);

    buffer_printf(buffer,
        "# .rr.yaml\nhttp:\n  pool:\n    num_workers: %" PRIu64 "\n    max_jobs: %" PRIu64
        "\n    supervisor:\n      max_worker_memory: %" PRIu64 "   # MB of RSS\n",
        workers, plan->max_requests, plan_worker_memory_mib(input, plan));
    if (limit != 0) {
        buffer_printf(
            buffer, "# php.ini of the workers\nmemory_limit = %" PRIu64 "M\n", limit);
    }
}

static void put_swoole(const struct plan *plan, uint64_t workers, struct buffer *buffer)
{
    const uint64_t limit = memory_limit_mib(plan);

    buffer_printf(buffer,
        "$server->set([\n    'worker_num' => %" PRIu64 ",\n    'max_request' => %" PRIu64
        ",\n]);\n",
        workers, plan->max_requests);
    if (limit != 0) {
        buffer_printf(buffer, "ini_set('memory_limit', '%" PRIu64 "M');\n", limit);
    }
}

static void put_allocator(const struct plan_input *input, struct buffer *buffer)
{
    if (input->arenas > CAPPED_ARENAS) {
        buffer_printf(buffer,
            "# environment of the server: %s seen in one worker\n"
            "export MALLOC_ARENA_MAX=%d\n",
            quantity_count(input->arenas, "arena").text, CAPPED_ARENAS);
    }
    if (input->thread_cache_bytes >= cache_min_bytes) {
        buffer_printf(buffer,
            "# environment of the server: malloc's thread caches hold %s in each worker\n"
            "export GLIBC_TUNABLES=glibc.malloc.tcache_count=2\n",
            quantity_bytes(input->thread_cache_bytes, false).text);
    }
}

static void put_gunicorn(const struct plan *plan, uint64_t workers, struct buffer *buffer)
{
    buffer_printf(buffer,
        "gunicorn --workers %" PRIu64 " --max-requests %" PRIu64
        " --max-requests-jitter %" PRIu64 "\n",
        workers, plan->max_requests, plan->max_requests / 10);
}

static void put_server(const struct plan_input *input, const struct plan *plan,
    uint64_t workers, struct buffer *buffer)
{
    if (input->server == PLAN_FPM) {
        put_fpm(input, plan, workers, buffer);
    } else if (input->server == PLAN_ROADRUNNER) {
        put_roadrunner(input, plan, workers, buffer);
    } else if (input->server == PLAN_SWOOLE) {
        put_swoole(plan, workers, buffer);
    } else if (input->server == PLAN_GUNICORN) {
        put_gunicorn(plan, workers, buffer);
    } else if (input->server == PLAN_NGINX) {
        buffer_printf(buffer, "worker_processes %" PRIu64 ";\n", workers);
    } else {
        buffer_printf(buffer, "workers = %" PRIu64 "\n", workers);
    }
}

void plan_config(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, struct buffer *buffer)
{
    const uint64_t workers = plan_workers_to_set(input, plan, planned);

    if (workers == 0) {
        buffer_append_text(buffer, "# not one worker fits: nothing to set\n");
        return;
    }
    if (input->idle) {
        buffer_append_text(buffer,
            "# no worker has worked yet: nothing to set; plan again under load\n");
        return;
    }
    put_server(input, plan, workers, buffer);
    put_allocator(input, buffer);
}
