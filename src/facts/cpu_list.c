/*
 * cpu_list.c - "0-3,8": of /sys/devices/system/cpu/online, and of Cpus_allowed_list in status
 * (lib/bitmap.c, the format %*pbl).
 */
#include "facts/cpu_list.h"

#include "base/number.h"

uint64_t cpu_list_count(struct slice list)
{
    struct slice piece;
    uint64_t count = 0;

    while (slice_next(&list, ',', &piece)) {
        const char *at = piece.text;
        uint64_t first;
        uint64_t last;
        if (number_read(&at, 10, &first) != 0) {
            return 0;
        }
        last = first;
        if (*at == '-') {
            at++;
            if (number_read(&at, 10, &last) != 0 || last < first) {
                return 0;
            }
        }
        count = number_add(count, number_add(last - first, 1));
    }
    return count;
}
