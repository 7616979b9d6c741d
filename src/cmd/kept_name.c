/*
 * kept_name.c - the identity of a target that outlives its processes.
 *
 * A pid says nothing after a restart; a unit, a pool or a program's name does. In the path
 * of a cgroup runs of hexadecimal digits with 12 or more of them (ids of containers and pods)
 * and, in the name of a scope, all numbers are left out: systemd counts sessions and runs.
 * All workers of PHP-FPM on a host have one name and often one cgroup: their pool counts as well.
 * The name of a file shows the target's name for people; the key is what counts.
 */
#include "cmd/kept_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "model/host_group.h"
#include "present/header_text.h"

enum {
    ID_DIGITS = 12,
    NAME_SHOWN = 40,
    POOL_BYTES = 64,
    KEY_DIGITS = 16,
    STARTS_APART_SECONDS = 60,
    HEXADECIMAL = 16,
    DECIMAL = 10,
};

static const char suffix[] = ".look";

static size_t hexadecimal_run(const char *text)
{
    size_t digits = 0;

    while (isxdigit((unsigned char)text[digits]) || text[digits] == '-' ||
           text[digits] == '_') {
        digits++;
    }
    return digits;
}

/* A part of a path, up to end. */
static void append_part(struct buffer *out, const char *part, const char *end)
{
    static const char scope[] = ".scope";
    const size_t bytes = (size_t)(end - part);
    const bool numbered =
        bytes >= sizeof(scope) - 1 &&
        strncmp(end - (sizeof(scope) - 1), scope, sizeof(scope) - 1) == 0;

    while (part < end) {
        const size_t id = hexadecimal_run(part);
        const size_t number = numbered ? strspn(part, "0123456789") : 0;
        if (id >= ID_DIGITS || number > 0) {
            buffer_append_char(out, '*');
            part += id >= ID_DIGITS ? id : number;
        } else {
            buffer_append_char(out, *part++);
        }
    }
}

static void append_path(struct buffer *out, const char *path)
{
    while (*path != '\0') {
        const char *end = path + strcspn(path, "/");
        append_part(out, path, end);
        if (*end == '/') {
            buffer_append_char(out, '/');
            end++;
        }
        path = end;
    }
}

static const struct process_facts *oldest_of(const struct facts *facts)
{
    const struct process_facts *oldest = NULL;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        if (process->start_unix_seconds > 0 &&
            (oldest == NULL || process->start_time_ticks < oldest->start_time_ticks)) {
            oldest = process;
        }
    }
    return oldest;
}

static const struct cgroup_facts *cgroup_of(const struct facts *facts)
{
    const int32_t index = facts->target_cgroup;

    return index >= 0 && (size_t)index < facts->cgroup_count ? &facts->cgroups[index]
                                                             : NULL;
}

/* The pool of a target that is one of its workers; NULL: of no pool, or the pool itself. */
static const char *pool_of_worker(const struct facts *facts)
{
    return facts->target_kind == TARGET_PROCESS && facts->process_count == 1
               ? process_pool_name(&facts->processes[0])
               : NULL;
}

/* A title is free text: what is not a plain character is none of a line, nor of a key. */
static void append_pool(struct buffer *out, const char *pool)
{
    for (size_t i = 0; pool[i] != '\0' && i < POOL_BYTES; i++) {
        buffer_append_char(out, isgraph((unsigned char)pool[i]) ? pool[i] : '_');
    }
}

int kept_source(const struct facts *before, const struct facts *now, struct buffer *text)
{
    const struct cgroup_facts *then = cgroup_of(before);
    const struct cgroup_facts *at_last = cgroup_of(now);
    const char *one = then != NULL ? then->container_id : NULL;
    const char *other = at_last != NULL ? at_last->container_id : NULL;
    const char *pool = pool_of_worker(before);

    buffer_append_text(text, "kept look");
    if (pool != NULL) {
        buffer_printf(text, " of pid %" PRId32 " of pool ", before->processes[0].pid);
        append_pool(text, pool);
    }
    if (one != NULL && other != NULL && strcmp(one, other) != 0) {
        buffer_append_text(text, pool != NULL ? " in" : " of");
        buffer_append_text(text, " another container");
    }
    return buffer_error(text);
}

void kept_identity(const struct facts *facts, struct buffer *text)
{
    const struct cgroup_facts *cgroup = cgroup_of(facts);
    const char *pool = pool_of_worker(facts);

    buffer_printf(text, "%s\n", target_kind_names[facts->target_kind]);
    append_path(text, target_name(facts));
    buffer_append_char(text, '\n');
    if (cgroup != NULL && cgroup->container_id == NULL && cgroup->unit != NULL) {
        append_path(text, cgroup->unit);
    } else if (cgroup != NULL) {
        append_path(text, cgroup->path);
    }
    if (pool != NULL) {
        buffer_append_text(text, "\npool ");
        append_pool(text, pool);
    }
}

/* FNV-1a; who makes two targets collide is found out when the look is read. */
static uint64_t hash(const char *text)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++) {
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return value;
}

bool kept_name_of(
    const struct facts *facts, struct kept_name *name, char text[KEPT_NAME_BYTES])
{
    const struct process_facts *oldest = oldest_of(facts);
    char shown[NAME_SHOWN + 1] = "";
    struct buffer identity;

    if (oldest == NULL || facts->target_kind == TARGET_HOST) {
        return false;
    }
    buffer_init(&identity);
    kept_identity(facts, &identity);
    *name = (struct kept_name){.key = hash(buffer_text(&identity)),
        .start_unix_seconds = oldest->start_unix_seconds,
        .pid = oldest->pid};
    const bool whole = buffer_error(&identity) == 0;
    buffer_release(&identity);
    (void)snprintf(shown, sizeof(shown), "%s", target_name(facts));
    for (char *c = shown; *c != '\0'; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    (void)snprintf(text, KEPT_NAME_BYTES, "%s-%016" PRIx64 "-%" PRIu64 "-%" PRId32 "%s",
        shown, name->key, name->start_unix_seconds, name->pid, suffix);
    return whole;
}

bool kept_name_parse(const char *text, struct kept_name *name)
{
    const char *dash = strchr(text, '-'); /* none is in the part for people */
    const char *rest;
    uint64_t pid;

    if (dash == NULL) {
        return false;
    }
    rest = dash + 1;
    if (number_read(&rest, HEXADECIMAL, &name->key) != 0 ||
        rest - dash != 1 + KEY_DIGITS || *rest++ != '-' ||
        number_read(&rest, DECIMAL, &name->start_unix_seconds) != 0 || *rest++ != '-' ||
        number_read(&rest, DECIMAL, &pid) != 0 || pid > INT32_MAX) {
        return false;
    }
    name->pid = (int32_t)pid;
    return strcmp(rest, suffix) == 0;
}

bool kept_name_same_start(const struct kept_name *a, const struct kept_name *b)
{
    const uint64_t one = a->start_unix_seconds;
    const uint64_t other = b->start_unix_seconds;

    return a->key == b->key && a->pid == b->pid &&
           (one > other ? one - other : other - one) <= STARTS_APART_SECONDS;
}
