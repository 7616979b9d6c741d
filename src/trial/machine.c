/*
 * machine.c - /proc/stat, /proc/vmstat and cpu.stat, before and after a run.
 *
 * proc(5): the first line of stat has user nice system idle iowait irq softirq steal.
 * cpu.stat has nr_throttled in both versions of cgroups. The pool's cgroup of the cpu controller
 * is looked up at its usual mount points.
 */
#include "trial/machine.h"

#include <stdio.h>
#include <string.h>

#include "trial/kernel_text.h"

static bool read_stat(struct machine_counters *counters)
{
    uint64_t v[8];

    if (!kernel_text_numbers("/proc/stat", "cpu", v, 8)) {
        return false;
    }
    counters->busy_ticks = v[0] + v[1] + v[2] + v[5] + v[6];
    counters->idle_ticks = v[3] + v[4];
    counters->steal_ticks = v[7];
    return true;
}

/* The path of the line of /proc/PID/cgroup whose controllers hold cpu, or of version 2. */
static bool cpu_cgroup(int32_t pid, char *path, size_t bytes, bool *unified)
{
    char file_name[64];
    char line[1024];
    bool found = false;

    (void)snprintf(file_name, sizeof(file_name), "/proc/%d/cgroup", (int)pid);
    FILE *file = fopen(file_name, "re");
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        char *controllers = strchr(line, ':');
        char *where = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (where == NULL) {
            continue;
        }
        *where++ = '\0';
        where[strcspn(where, "\n")] = '\0';
        controllers++;
        *unified = *controllers == '\0';
        found = strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 ||
                *unified;
        if (found) {
            (void)snprintf(path, bytes, "%s", where);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static void read_throttled(int32_t pid, struct machine_counters *counters)
{
    static const char *const mounts[] = {
        "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char cgroup[1024];
    char path[1200];
    bool unified = false;

    if (!cpu_cgroup(pid, cgroup, sizeof(cgroup), &unified)) {
        return;
    }
    for (int i = 0; i < 2 && !counters->throttled_known; i++) {
        (void)snprintf(path, sizeof(path), "%s%s/cpu.stat",
            unified ? "/sys/fs/cgroup" : mounts[i], cgroup);
        counters->throttled_known =
            kernel_text_numbers(path, "nr_throttled", &counters->throttled, 1);
    }
}

struct machine_counters machine_read(int32_t pid)
{
    struct machine_counters counters = {0};
    uint64_t in = 0;
    uint64_t out = 0;

    counters.known = read_stat(&counters);
    (void)kernel_text_numbers("/proc/vmstat", "pswpin", &in, 1);
    (void)kernel_text_numbers("/proc/vmstat", "pswpout", &out, 1);
    counters.swapped_pages = in + out;
    if (pid > 0) {
        read_throttled(pid, &counters);
    }
    return counters;
}

struct machine_counters machine_difference(
    const struct machine_counters *before, const struct machine_counters *after)
{
    return (struct machine_counters){
        .busy_ticks = after->busy_ticks - before->busy_ticks,
        .idle_ticks = after->idle_ticks - before->idle_ticks,
        .steal_ticks = after->steal_ticks - before->steal_ticks,
        .swapped_pages = after->swapped_pages - before->swapped_pages,
        .throttled = after->throttled - before->throttled,
        .throttled_known = before->throttled_known && after->throttled_known,
        .known = before->known && after->known,
    };
}
