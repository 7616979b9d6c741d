/*
 * box.c - memory.max and memory.events, or memory.limit_in_bytes and memory.oom_control.
 *
 * The new cgroup lies below ours, so what we may use bounds it too. In version 2 a cgroup with
 * processes has no controllers to give to its children, save the root (cgroup-v2.rst, "No
 * Internal Process Constraint"): then the box is made beside us, below our parent.
 */
#include "trial/box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "trial/claim.h"
#include "trial/kernel_text.h"
#include "trial/service.h"

enum { CLOSE_TRIES = 100, CLOSE_PAUSE_MS = 20, MAKE_TRIES = 8 };

/* The path behind the controllers in our own /proc/self/cgroup. */
static bool own_cgroup(const char *controllers, char *path, size_t bytes)
{
    char line[1024];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        char *at = strchr(line, ':');
        char *where = at == NULL ? NULL : strchr(at + 1, ':');
        if (where == NULL) {
            continue;
        }
        *where++ = '\0';
        where[strcspn(where, "\n")] = '\0';
        found = strcmp(at + 1, controllers) == 0;
        if (found) {
            (void)snprintf(path, bytes, "%s", strcmp(where, "/") == 0 ? "" : where);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static int write_number(const struct box *box, const char *name, uint64_t value)
{
    char path[600];
    char text[32];
    const int bytes = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

    (void)snprintf(path, sizeof(path), "%s/%s", box->folder, name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    const int rc = descriptor_write_all(fd, text, (size_t)bytes);
    (void)close(fd);
    return rc;
}

/* Where a box goes: below our cgroup of version 1, beside ours of version 2. */
static int place_of_boxes(char *place, size_t bytes, bool *unified)
{
    char cgroup[400];
    char *slash;

    *unified = !own_cgroup("memory", cgroup, sizeof(cgroup));
    if (!*unified) {
        (void)snprintf(place, bytes, "/sys/fs/cgroup/memory%s", cgroup);
        return 0;
    }
    if (!own_cgroup("", cgroup, sizeof(cgroup))) {
        return -EOPNOTSUPP;
    }
    slash = strrchr(cgroup, '/');
    if (slash != NULL) {
        *slash = '\0'; /* beside us */
    }
    (void)snprintf(place, bytes, "/sys/fs/cgroup%s", cgroup);
    return 0;
}

static int make(struct box *box, const char *place)
{
    static unsigned number;

    box->claim = -EBUSY;
    for (int i = 0; i < MAKE_TRIES && box->claim == -EBUSY; i++) {
        (void)snprintf(box->folder, sizeof(box->folder), "%s/" CLAIM_PREFIX "%d-%u",
            place, (int)getpid(), number++);
        if (mkdir(box->folder, 0755) != 0) {
            return -errno;
        }
        box->claim = claim_take(box->folder);
    }
    (void)snprintf(box->procs, sizeof(box->procs), "%s/cgroup.procs", box->folder);
    box->open = true;
    return box->claim < 0 ? box->claim : 0;
}

static bool has_file(const struct box *box, const char *name)
{
    char path[600];

    (void)snprintf(path, sizeof(path), "%s/%s", box->folder, name);
    return access(path, F_OK) == 0;
}

int box_open(struct box *box, uint64_t limit_bytes, struct error *error)
{
    char place[450];

    *box = (struct box){.claim = -1};
    int rc = place_of_boxes(place, sizeof(place), &box->unified);
    if (rc == 0) {
        rc = make(box, place);
    }
    if (rc == 0 && box->unified && !has_file(box, "memory.max")) {
        rc = -EOPNOTSUPP;
    }
    if (rc == 0 && limit_bytes != 0) {
        rc = write_number(
            box, box->unified ? "memory.max" : "memory.limit_in_bytes", limit_bytes);
    }
    if (rc != 0) {
        box_close(box);
        return error_set(error, rc,
            "cannot make a cgroup with a memory limit: %s; that needs root, and a memory "
            "controller that may be used here",
            strerror(-rc));
    }
    return 0;
}

void box_close(struct box *box)
{
    for (int i = 0; box->open && i < CLOSE_TRIES; i++) {
        if (rmdir(box->folder) == 0 || errno == ENOENT) {
            box->open = false;
        } else {
            service_pause_ms(CLOSE_PAUSE_MS);
        }
    }
    if (box->claim >= 0) {
        (void)close(box->claim);
        box->claim = -1;
    }
}

static int sweep_one(const char *path)
{
    return rmdir(path);
}

size_t box_sweep(void)
{
    char place[450];
    bool unified;

    return place_of_boxes(place, sizeof(place), &unified) == 0
               ? claim_sweep(place, sweep_one)
               : 0;
}

/* The number behind key, or the only one when key is "". */
static bool read_number(
    const struct box *box, const char *name, const char *key, uint64_t *value)
{
    char path[600];

    *value = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", box->folder, name);
    return kernel_text_numbers(path, key, value, 1);
}

struct box_events box_read(const struct box *box)
{
    struct box_events events = {0};

    if (!box->open) {
        return events;
    }
    if (box->unified) {
        events.known = read_number(box, "memory.events", "max", &events.limit_hits) &&
                       read_number(box, "memory.events", "oom_kill", &events.kills);
        (void)read_number(box, "memory.peak", "", &events.peak_bytes);
    } else {
        events.known = read_number(box, "memory.failcnt", "", &events.limit_hits) &&
                       read_number(box, "memory.oom_control", "oom_kill", &events.kills);
        (void)read_number(box, "memory.max_usage_in_bytes", "", &events.peak_bytes);
    }
    return events;
}
