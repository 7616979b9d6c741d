/*
 * stat.c - parses the one line of /proc/PID/stat, which need not be one line.
 *
 * The name stands in parentheses and is not escaped: it may itself hold parentheses, blanks
 * and line feeds. Everything behind it is numeric, so the last ')' of the file ends it.
 */
#include "facts/stat.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"

/* Numbers of the fields in proc(5); the name is field 2. */
enum stat_field {
    FIELD_STATE = 3,
    FIELD_PARENT = 4,
    FIELD_FLAGS = 9,
    FIELD_MINOR_FAULTS = 10,
    FIELD_MAJOR_FAULTS = 12,
    FIELD_THREADS = 20,
    FIELD_START_TIME = 22,
    FIELD_RESIDENT = 24,
    FIELD_STACK_START = 28,
    FIELD_COUNT = 29,
};

enum { FLAG_KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD, include/linux/sched.h */

/* Fields that may be negative, or that nobody reads, are left 0. */
static int read_fields(const char *text, uint64_t fields[FIELD_COUNT])
{
    for (int field = FIELD_PARENT; field < FIELD_COUNT; field++) {
        if (*text != ' ') {
            return -EINVAL;
        }
        text++;
        if (*text == '-') {
            text++;
            text += strspn(text, "0123456789");
            fields[field] = 0;
        } else if (number_read(&text, 10, &fields[field]) != 0) {
            return -EINVAL;
        }
    }
    return 0;
}

static int read_pid(const char *text, const char *open, int32_t *pid)
{
    uint64_t value;

    if (number_read(&text, 10, &value) != 0 || value > INT32_MAX || text + 1 != open) {
        return -EINVAL;
    }
    *pid = (int32_t)value;
    return 0;
}

int process_stat_parse(const char *text, size_t bytes, struct process_stat *stat)
{
    const char *open = memchr(text, '(', bytes);
    const char *close = memrchr(text, ')', bytes);
    uint64_t fields[FIELD_COUNT] = {0};

    *stat = (struct process_stat){0};
    if (open == NULL || close == NULL || close < open ||
        (size_t)(text + bytes - close) < sizeof(") S") || close[1] != ' ') {
        return -EINVAL;
    }
    size_t name_bytes = (size_t)(close - open - 1);
    if (name_bytes >= sizeof(stat->name)) {
        return -EINVAL;
    }
    if (read_pid(text, open, &stat->pid) != 0 || read_fields(close + 3, fields) != 0 ||
        fields[FIELD_PARENT] > INT32_MAX) {
        return -EINVAL;
    }
    memcpy(stat->name, open + 1, name_bytes);
    stat->run_state = close[2];
    stat->parent_pid = (int32_t)fields[FIELD_PARENT];
    stat->kernel_thread = (fields[FIELD_FLAGS] & FLAG_KERNEL_THREAD) != 0;
    stat->minor_faults = fields[FIELD_MINOR_FAULTS];
    stat->major_faults = fields[FIELD_MAJOR_FAULTS];
    stat->thread_count = fields[FIELD_THREADS];
    stat->start_time_ticks = fields[FIELD_START_TIME];
    stat->resident_pages = fields[FIELD_RESIDENT];
    stat->stack_start = fields[FIELD_STACK_START];
    return 0;
}
