/*
 * Sizes of options. strtoul is not used: it knows locales, signs and blanks. A share is of
 * the cgroup's limit (cgroup.c), or of physical memory (sysconf(3)), whichever is less.
 * Owns nothing.
 */
#include "size.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"

/* What a share is of. */
static size_t memory_allowed(const char *system)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    size_t all = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;
    size_t limit = strata__cgroup_memory_limit(system);
    return limit != 0 && (all == 0 || limit < all) ? limit : all;
}

static int share(size_t hundredths, const char *system, size_t *bytes)
{
    size_t all = memory_allowed(system);
    if (hundredths == 0 || hundredths > 100 || all < 100) {
        return -EINVAL;
    }
    *bytes = all / 100 * hundredths + all % 100 * hundredths / 100;
    return 0;
}

int strata__size_parse(const char *text, const char *system, size_t *bytes)
{
    static const char units[] = "KMGT";
    size_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (size_t)(*at - '0'), &number)) {
            return -EINVAL;
        }
    }
    if (at == text || (*at != '\0' && at[1] != '\0')) {
        return -EINVAL;
    }
    if (*at == '%') {
        return share(number, system, bytes);
    }
    const char *unit = *at != '\0' ? strchr(units, *at) : NULL;
    unsigned shift = unit != NULL ? 10U * (unsigned)(unit - units + 1) : 0;
    if (number == 0 || (*at != '\0' && unit == NULL) || number > SIZE_MAX >> shift) {
        return -EINVAL;
    }
    *bytes = number << shift;
    return 0;
}
