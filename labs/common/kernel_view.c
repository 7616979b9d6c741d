/*
 * kernel_view.c - lines "Key: N kB" (proc(5)).
 */
#include "kernel_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

enum { LINE_BYTES = 256, PATH_BYTES = 64, KIB = 1024 };

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
