/*
 * moment.c - the time, as a fact like any other.
 *
 * CLOCK_BOOTTIME counts the time in suspend too, so it is what the intervals of a recording
 * are measured by; the kernel makes a new random boot_id at each boot (drivers/char/random.c).
 */
#include "facts/moment.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MS_PER_SECOND = 1000, NS_PER_MS = 1000000, BOOT_ID_FILE_BYTES = 256 };

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * MS_PER_SECOND + now.tv_nsec / NS_PER_MS;
}

void moment_read(struct facts_root *root, struct moment *moment)
{
    struct buffer text;

    *moment = (struct moment){
        .wall_ms = clock_ms(CLOCK_REALTIME), .boot_ms = clock_ms(CLOCK_BOOTTIME)};
    buffer_init(&text);
    if (facts_read_file(root, root->proc_fd, "sys/kernel/random/boot_id",
            BOOT_ID_FILE_BYTES, &text) == 0) {
        (void)snprintf(moment->boot_id, sizeof(moment->boot_id), "%.*s",
            (int)strcspn(buffer_text(&text), "\n"), buffer_text(&text));
    }
    buffer_release(&text);
}
