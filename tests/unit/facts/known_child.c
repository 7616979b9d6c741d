/*
 * known_child.c - what such children do.
 *
 * Their memory is in small pages, so that what they write is resident and nothing else is.
 */
#include "known_child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/number.h"

char *known_child_map(uint64_t bytes, int sharing)
{
    char *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base != MAP_FAILED) {
        (void)madvise(base, (size_t)bytes, MADV_NOHUGEPAGE);
    }
    return base;
}

int known_child_map_things(struct child_side *side)
{
    char *private = known_child_map(KNOWN_PRIVATE_MIB * MIB, MAP_PRIVATE);
    char *shared = known_child_map(KNOWN_SHARED_MIB * MIB, MAP_SHARED);
    char *untouched = known_child_map(KNOWN_UNTOUCHED_MIB * MIB, MAP_PRIVATE);

    memset(private, 1, KNOWN_PRIVATE_MIB * MIB);
    memset(shared, 2, KNOWN_SHARED_MIB * MIB);
    child_tell(side, (uint64_t[CHILD_WORDS]){(uint64_t)(uintptr_t) private,
                         (uint64_t)(uintptr_t)shared, (uint64_t)(uintptr_t)untouched});
    return 0;
}

int known_child_become_holder(struct child_side *side)
{
    char ready[16];

    (void)snprintf(ready, sizeof(ready), "%d", side->ready);
    child_tell(side, NULL);
    (void)execl("/proc/self/exe", "holder", ready, (char *)NULL);
    return 1;
}

int known_child_hold(const char *ready)
{
    char *private = known_child_map((KNOWN_PRIVATE_MIB + 1) * MIB, MAP_PRIVATE);
    char *shared = known_child_map(KNOWN_SHARED_MIB * MIB, MAP_SHARED);
    volatile const char *zeroes = private + KNOWN_PRIVATE_MIB * MIB;
    volatile char sum = 0;
    uint64_t fd = 0;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(private, 1, KNOWN_PRIVATE_MIB * MIB);
    memset(shared, 2, KNOWN_SHARED_MIB * MIB);
    for (size_t i = 0; i < MIB; i++) {
        sum = (char)(sum + zeroes[i]);
    }
    if (number_parse(ready, &fd) != 0 || close((int)fd) != 0) {
        return 1;
    }
    for (;;) {
        (void)pause();
    }
}

void known_child_start_holder(struct child *child)
{
    char byte;

    child_start(child, known_child_become_holder);
    assert_int_equal(write(child->go, "", 1), 1);
    assert_int_equal(read(child->ready, &byte, 1), 0); /* closed when it is ready */
}
