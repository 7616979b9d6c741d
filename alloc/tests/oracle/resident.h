/*
 * What the kernel keeps in memory of this process, for programs that show it.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_RESIDENT_H
#define STRATA_ALLOC_TESTS_ORACLE_RESIDENT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * RSS in bytes, or -1: the second number of /proc/self/statm, in pages (proc(5)). Takes no
 * memory, so that it does not move what it measures.
 */
static inline int64_t resident_bytes(void)
{
    char text[128];
    char *end = text;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    if (length <= 0) {
        return -1;
    }
    text[length] = '\0';
    strtol(text, &end, 10);
    return (int64_t)strtol(end, NULL, 10) * sysconf(_SC_PAGESIZE);
}

#endif
