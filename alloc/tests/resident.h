/*
 * resident.h - what of this process is resident and backed by no file, for programs that link
 * the allocator and for those that it is preloaded into.
 *
 * Counted in the page tables: the figures of status are sums over CPUs that may lag by
 * megabytes where there are many. Nothing is allocated for it, so that a program which waits for
 * its memory to go back is as quiet as it says.
 */
#ifndef STRATA_TESTS_RESIDENT_H
#define STRATA_TESTS_RESIDENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline size_t resident_kilobytes(void)
{
    static const char name[] = "\nAnonymous:";
    char text[4096];
    size_t length = 0;
    ssize_t got;
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    while ((got = read(file, text + length, sizeof(text) - 1 - length)) > 0) {
        length += (size_t)got;
    }
    close(file);
    text[length] = '\0';
    const char *line = strstr(text, name);
    assert_non_null(line);
    size_t kilobytes = strtoul(line + sizeof(name) - 1, NULL, 10);
    assert_true(kilobytes > 0);
    return kilobytes;
}

#endif
