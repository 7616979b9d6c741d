/*
 * /proc/self/cgroup tells the path (proc_cgroup_show, kernel/cgroup/cgroup.c): lines
 * "5:memory:/a/b" of version 1, "0::/a/b" of version 2. The folders are looked for where
 * everybody mounts them. In a container the path may be that of the host while the mount
 * shows the container's own cgroup as its root: so where the path does not exist, the
 * root is taken.
 *
 * Limits hold for all below: version 1 tells the lowest as hierarchical_memory_limit in
 * memory.stat, in version 2 the folders are walked upwards (Documentation/admin-guide/
 * cgroup-v2.rst, memory.max and cpu.max). "No limit" is "max", or a number near 2^63 in
 * version 1.
 */
#include "cgroup.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define FILE_MAX 4096
#define NUMBERS_MAX 64 /* of a file with one or two numbers */
#define NO_LIMIT_V1 ((size_t)1 << 60)
#define LEVELS_MAX 64

static const struct {
    const char *name;   /* in /proc/self/cgroup */
    const char *folder; /* of version 1 */
} controllers[] = {
    [STRATA__CGROUP_MEMORY] = {"memory", "/sys/fs/cgroup/memory"},
    [STRATA__CGROUP_CPU] = {"cpu", "/sys/fs/cgroup/cpu"},
};

/* The file as a string, cut off at the buffer's end. The length, or -1. */
static ssize_t read_file(const char *path, char *content, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    size_t length = 0;
    ssize_t got = 0;
    while (length < bytes - 1 &&
           (got = read(file, content + length, bytes - 1 - length)) > 0) {
        length += (size_t)got;
    }
    (void)close(file);
    content[length] = '\0';
    return got < 0 ? -1 : (ssize_t)length;
}

void strata__cgroup_file(
    const char *folder, const char *name, char path[STRATA__CGROUP_PATH_MAX])
{
    struct strata__text text;
    strata__text_init(&text, path, STRATA__CGROUP_PATH_MAX);
    strata__text_add(&text, folder);
    strata__text_add(&text, "/");
    strata__text_add(&text, name);
}

static ssize_t read_in(const char *folder, const char *name, char *content, size_t bytes)
{
    char path[STRATA__CGROUP_PATH_MAX];
    strata__cgroup_file(folder, name, path);
    return read_file(path, content, bytes);
}

/* Decimal digits at *at, which is moved behind them; SIZE_MAX when there are none. */
static size_t number_at(const char **at)
{
    size_t number = 0;
    const char *start = *at;
    while (**at >= '0' && **at <= '9') {
        size_t digit = (size_t)(**at - '0');
        number = number > (SIZE_MAX - digit) / 10 ? SIZE_MAX : number * 10 + digit;
        (*at)++;
    }
    return *at == start ? SIZE_MAX : number;
}

/* Is `name` one of the comma-separated controllers from `list` to its colon? */
static int has_controller(const char *list, const char *end, const char *name)
{
    size_t length = strlen(name);
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma != NULL ? comma : end;
        if ((size_t)(stop - list) == length && memcmp(list, name, length) == 0) {
            return 1;
        }
        list = stop + 1;
    }
    return 0;
}

/* The path in a line of /proc/self/cgroup, ended there, and the version of the line, if
 * it is for the controller: a name in version 1, no name at all in version 2. */
static int match_line(char *line, const char *controller, const char **path)
{
    char *list = strchr(line, ':');
    char *end = list != NULL ? strchr(list + 1, ':') : NULL;
    if (end == NULL) {
        return 0;
    }
    *path = end + 1;
    if (end == list + 1) {
        return 2;
    }
    return has_controller(list + 1, end, controller) ? 1 : 0;
}

/* `path` becomes the folder, or its root where the path does not exist. */
static int make_folder(
    char *path, const char *system, const char *mount, const char *below)
{
    struct strata__text text;
    strata__text_init(&text, path, STRATA__CGROUP_PATH_MAX);
    strata__text_add(&text, system);
    strata__text_add(&text, mount);
    size_t root_length = text.length;
    if (strcmp(below, "/") != 0) {
        strata__text_add(&text, below);
    }
    if (access(path, F_OK) != 0) {
        path[root_length] = '\0';
    }
    return access(path, F_OK) == 0;
}

int strata__cgroup_folder(const char *system, enum strata__cgroup_controller controller,
    char path[STRATA__CGROUP_PATH_MAX])
{
    char content[FILE_MAX];
    char proc[STRATA__CGROUP_PATH_MAX];
    struct strata__text text;
    const char *unified = NULL;
    strata__text_init(&text, proc, sizeof(proc));
    strata__text_add(&text, system);
    strata__text_add(&text, "/proc/self/cgroup");
    if (read_file(proc, content, sizeof(content)) < 0) {
        return 0;
    }
    for (char *line = content; *line != '\0';) {
        const char *below = NULL;
        char *end = strchr(line, '\n');
        char *next = end != NULL ? end + 1 : line + strlen(line);
        if (end != NULL) {
            *end = '\0';
        }
        int version = match_line(line, controllers[controller].name, &below);
        if (version == 1 &&
            make_folder(path, system, controllers[controller].folder, below)) {
            return 1;
        }
        unified = version == 2 ? below : unified;
        line = next;
    }
    return unified != NULL && make_folder(path, system, "/sys/fs/cgroup", unified) ? 2
                                                                                   : 0;
}

static size_t lower(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Calls `level` for the folder and those above it up to the mount; the lowest answer. */
static size_t lowest_upwards(
    const char *system, char *path, size_t (*level)(const char *folder))
{
    size_t stop = strlen(system) + sizeof("/sys/fs/cgroup") - 1;
    size_t lowest = SIZE_MAX;
    for (int i = 0; i < LEVELS_MAX; i++) {
        lowest = lower(lowest, level(path));
        char *slash = strrchr(path, '/');
        if (slash == NULL || (size_t)(slash - path) < stop) {
            break;
        }
        *slash = '\0';
    }
    return lowest;
}

static size_t memory_max(const char *folder)
{
    char content[NUMBERS_MAX];
    const char *at = content;
    return read_in(folder, "memory.max", content, sizeof(content)) < 0 ? SIZE_MAX
                                                                       : number_at(&at);
}

static size_t hierarchical_limit(const char *folder)
{
    static const char key[] = "hierarchical_memory_limit ";
    char content[FILE_MAX];
    if (read_in(folder, "memory.stat", content, sizeof(content)) < 0) {
        return SIZE_MAX;
    }
    const char *found = strstr(content, key);
    if (found == NULL) {
        return SIZE_MAX;
    }
    found += sizeof(key) - 1;
    size_t limit = number_at(&found);
    return limit > NO_LIMIT_V1 ? SIZE_MAX : limit;
}

size_t strata__cgroup_memory_limit(const char *system)
{
    char path[STRATA__CGROUP_PATH_MAX];
    size_t limit = SIZE_MAX;
    switch (strata__cgroup_folder(system, STRATA__CGROUP_MEMORY, path)) {
    case 1:
        limit = hierarchical_limit(path);
        break;
    case 2:
        limit = lowest_upwards(system, path, memory_max);
        break;
    default:
        break;
    }
    return limit == SIZE_MAX ? 0 : limit;
}

static size_t whole_cpus(size_t quota, size_t period)
{
    if (quota == SIZE_MAX || period == SIZE_MAX || quota == 0 || period == 0) {
        return SIZE_MAX;
    }
    return quota / period + (quota % period != 0);
}

/* "max 100000" or "150000 100000" */
static size_t cpu_max(const char *folder)
{
    char content[NUMBERS_MAX];
    const char *at = content;
    if (read_in(folder, "cpu.max", content, sizeof(content)) < 0) {
        return SIZE_MAX;
    }
    size_t quota = number_at(&at);
    at += *at == ' ';
    return whole_cpus(quota, number_at(&at));
}

static size_t cpu_quota(const char *folder)
{
    char quota[NUMBERS_MAX];
    char period[NUMBERS_MAX];
    const char *quota_at = quota;
    const char *period_at = period;
    if (read_in(folder, "cpu.cfs_quota_us", quota, sizeof(quota)) < 0 ||
        read_in(folder, "cpu.cfs_period_us", period, sizeof(period)) < 0) {
        return SIZE_MAX; /* the root has no quota; -1 is none either */
    }
    return whole_cpus(number_at(&quota_at), number_at(&period_at));
}

size_t strata__cgroup_cpus(const char *system)
{
    char path[STRATA__CGROUP_PATH_MAX];
    size_t cpus = SIZE_MAX;
    switch (strata__cgroup_folder(system, STRATA__CGROUP_CPU, path)) {
    case 1:
        cpus = lowest_upwards(system, path, cpu_quota);
        break;
    case 2:
        cpus = lowest_upwards(system, path, cpu_max);
        break;
    default:
        break;
    }
    return cpus == SIZE_MAX ? 0 : cpus;
}
