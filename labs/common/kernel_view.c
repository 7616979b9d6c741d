/*
 * kernel_view.c - lines "Key: N kB", and fields of stat (proc(5)).
 */
#include "kernel_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

enum {
    LINE_BYTES = 256,
    PATH_BYTES = 64,
    KIB = 1024,
    STAT_BYTES = 1024,
    MICROSECONDS = 1000000,
    DECIMAL = 10,
    FIELD_OF_NAME = 2, /* of /proc/PID/stat, counted from 1 */
    FIELD_USER_TIME = 14,
};

static int64_t find_line(const char *path, const char *key)
{
    char line[LINE_BYTES];
    const size_t length = strlen(key);
    int64_t found = LAB_UNKNOWN;
    FILE *file = fopen(path, "re");

    while (
        file != NULL && found == LAB_UNKNOWN && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, key, length) == 0 && line[length] == ':') {
            found = strtoll(line + length + 1, NULL, 10) * KIB;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

int64_t kernel_status_bytes(pid_t pid, const char *key)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    return find_line(path, key);
}

/* The fields are counted behind the name, which may hold blanks and parentheses. */
static int64_t ticks_of(const char *line)
{
    const char *at = strrchr(line, ')');
    int64_t ticks = 0;

    for (int field = FIELD_OF_NAME; at != NULL && field < FIELD_USER_TIME; field++) {
        at = strchr(at + 1, ' ');
    }
    for (int i = 0; at != NULL && i < 2; i++) { /* user, then system time */
        char *behind;
        ticks += strtoll(at, &behind, DECIMAL);
        at = behind;
    }
    return at != NULL ? ticks : LAB_UNKNOWN;
}

int64_t kernel_cpu_us(pid_t pid)
{
    char path[PATH_BYTES], line[STAT_BYTES];
    int64_t ticks = LAB_UNKNOWN;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        ticks = ticks_of(line);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return ticks != LAB_UNKNOWN ? ticks * MICROSECONDS / sysconf(_SC_CLK_TCK)
                                : LAB_UNKNOWN;
}
