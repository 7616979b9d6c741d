/*
 * fpm_status.c - the JSON form of the status page (php-src sapi/fpm/fpm/fpm_status.c).
 *
 * Old versions print invalid JSON when a request line holds a quote or a control
 * character (it is not escaped), and durations may exceed 64 bits; such an answer is
 * malformed as a whole. "last request memory" is the peak of real memory with chunks that were
 * cached before, and 0 while a worker is not idle: it is kept to be contradicted.
 */
#include "facts/fpm_status.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "facts/fastcgi.h"
#include "facts/root.h"

enum { TIMEOUT_MS = 500 };

static struct fact number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return (struct fact){
            .state = value == NULL ? (enum fact_state)FACT_ABSENT : FACT_MALFORMED};
    }
    return (struct fact){.value = (uint64_t)json_integer_value(value), .state = FACT_OK};
}

static int parse_worker(
    const json_t *row, struct region *region, struct fpm_worker_facts *worker)
{
    struct fact pid = number_of(row, "pid");
    const char *state = json_string_value(json_object_get(row, "state"));

    if (pid.state != FACT_OK || pid.value > INT32_MAX) {
        return -EINVAL;
    }
    worker->pid = (int32_t)pid.value;
    worker->requests = number_of(row, "requests").value;
    worker->last_request_memory = number_of(row, "last request memory");
    worker->state = region_copy_text(region, state == NULL ? "" : state);
    return worker->state == NULL ? -ENOMEM : 0;
}

static int parse_workers(
    const json_t *rows, struct region *region, struct fpm_pool_facts *pool)
{
    size_t count = json_array_size(rows);

    if (count > FPM_MAX_WORKERS) {
        return -EINVAL;
    }
    for (size_t i = 0; i < count; i++) {
        struct fpm_worker_facts *worker = region_grow(
            region, &pool->workers, pool->worker_count, FPM_MAX_WORKERS, sizeof(*worker));
        if (worker == NULL) {
            return -ENOMEM;
        }
        *worker = (struct fpm_worker_facts){0};
        int rc = parse_worker(json_array_get(rows, i), region, worker);
        if (rc != 0) {
            return rc;
        }
        pool->worker_count++;
    }
    return 0;
}

static int parse_page(
    const json_t *page, struct region *region, struct fpm_pool_facts *pool)
{
    const char *name = json_string_value(json_object_get(page, "pool"));

    if (name == NULL || strcmp(name, pool->name) != 0) {
        return -EINVAL;
    }
    pool->accepted_connections = number_of(page, "accepted conn");
    pool->listen_queue = number_of(page, "listen queue");
    pool->idle = number_of(page, "idle processes");
    pool->active = number_of(page, "active processes");
    pool->total = number_of(page, "total processes");
    pool->max_active = number_of(page, "max active processes");
    pool->max_children_reached = number_of(page, "max children reached");
    pool->slow_requests = number_of(page, "slow requests");
    pool->memory_peak = number_of(page, "memory peak");
    return parse_workers(json_object_get(page, "processes"), region, pool);
}

/*
 * Where the body starts; NULL when the headers do not end or say that there is no page.
 * FPM ends lines with CR LF; CGI also allows LF alone (RFC 3875, 6.2).
 */
static const char *find_body(const char *answer, size_t bytes, int *rc)
{
    const char *body = memmem(answer, bytes, "\r\n\r\n", 4);
    size_t separator_bytes = 4;

    *rc = -EINVAL;
    if (body == NULL) {
        body = memmem(answer, bytes, "\n\n", 2);
        separator_bytes = 2;
    }
    if (body == NULL) {
        return NULL;
    }
    const char *line = memmem(answer, (size_t)(body - answer), "Status:", 7);
    if (line != NULL && strncmp(line + 7, " 200", 4) != 0) {
        *rc = -ENOENT;
        return NULL;
    }
    return body + separator_bytes;
}

int fpm_status_parse(
    const char *answer, size_t bytes, struct region *region, struct fpm_pool_facts *pool)
{
    int rc;
    const char *body = find_body(answer, bytes, &rc);

    if (body == NULL) {
        return rc;
    }
    json_t *page =
        json_loadb(body, bytes - (size_t)(body - answer), JSON_REJECT_DUPLICATES, NULL);
    rc = json_is_object(page) ? parse_page(page, region, pool) : -EINVAL;
    json_decref(page);
    return rc;
}

static int store_status(
    struct region *region, struct fpm_pool_facts *pool, uint32_t state, const char *why)
{
    pool->status_state = state;
    pool->status_why = region_copy_text(region, why);
    return why != NULL && pool->status_why == NULL ? -ENOMEM : 0;
}

static int store_failure(struct region *region, struct fpm_pool_facts *pool, int rc)
{
    switch (-rc) {
    case ENOMEM:
        return rc;
    case ENOENT:
        return store_status(
            region, pool, FACT_ABSENT, "the pool answers, but not at its pm.status_path");
    case EACCES:
    case EPERM:
        return store_status(region, pool, FACT_DENIED,
            "the pool's socket may not be connected to: try as root");
    case EREMOTE:
        return store_status(region, pool, FACT_ABSENT,
            "not asked: the address is of another process or another network namespace");
    case EAGAIN:
    case ETIMEDOUT:
        return store_status(region, pool, FACT_ABSENT,
            "no worker answered in time: set pm.status_listen, which needs no worker");
    case EINVAL:
    case EPROTO:
    case EFBIG:
        return store_status(region, pool, FACT_MALFORMED,
            "the answer is not the status page of this pool");
    default:
        return store_status(
            region, pool, FACT_ABSENT, "nobody listens at the pool's address");
    }
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int ask(
    const struct fpm_master *master, struct region *region, struct fpm_pool_facts *pool)
{
    const int64_t start_ms = now_ms();
    const struct fastcgi_request request = {
        .listen = pool->status_listen != NULL ? pool->status_listen : pool->listen,
        .path_prefix = master->path_prefix,
        .script = pool->status_path,
        .query = "json&full",
        .timeout_ms = *master->left_ms < TIMEOUT_MS ? (int)*master->left_ms : TIMEOUT_MS,
        .server_pid = master->pid,
        .same_network = master->same_network,
    };
    struct buffer answer;

    buffer_init(&answer);
    int rc = fastcgi_get(&request, &answer);
    if (rc == 0) {
        rc = fpm_status_parse(buffer_text(&answer), answer.length_bytes, region, pool);
    }
    buffer_release(&answer);
    *master->left_ms -= now_ms() - start_ms;
    return rc;
}

int fpm_status_read(const struct fpm_master *master, bool may_use_worker,
    struct region *region, struct fpm_pool_facts *pool)
{
    if (pool->status_path == NULL) {
        return store_status(
            region, pool, FACT_ABSENT, "pm.status_path is not set for this pool");
    }
    if (pool->status_listen == NULL && pool->listen == NULL) {
        return store_status(region, pool, FACT_ABSENT, "the pool has no listen address");
    }
    if (pool->status_listen == NULL && !may_use_worker) {
        return store_status(region, pool, FACT_ABSENT,
            "not asked: every worker that was looked at is busy; set "
            "pm.status_listen, which needs none");
    }
    if (master->ask_nobody) {
        return store_status(region, pool, FACT_ABSENT, facts_not_asked);
    }
    if (*master->left_ms <= 0) {
        return store_status(region, pool, FACT_ABSENT,
            "not asked: the pools before it took too long to answer");
    }
    int rc = ask(master, region, pool);
    return rc == 0 ? store_status(region, pool, FACT_OK, NULL)
                   : store_failure(region, pool, rc);
}
