/* target_process.h - starts heap_target and talks to it. */
#ifndef STRATA_TESTS_TARGET_PROCESS_H
#define STRATA_TESTS_TARGET_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { REPORT_MAXIMUM_ARENAS = 256 };

/* What malloc_info(3) prints for one arena. */
struct report_arena {
    uint64_t fast_chunks;
    uint64_t fast_bytes;
    uint64_t rest_chunks;
    uint64_t rest_bytes;
    uint64_t held_bytes;
    uint64_t held_peak_bytes;
};

/* What a target says of itself: malloc_info by arena, mallinfo2 in total. */
struct report {
    struct report_arena arenas[REPORT_MAXIMUM_ARENAS];
    size_t arena_count;
    uint64_t arena_bytes;
    uint64_t in_use_bytes;
    uint64_t free_bytes;
    uint64_t mmapped_blocks;
    uint64_t mmapped_bytes;
    uint64_t top_bytes;
    uint64_t pin_address; /* of the user's memory; 0: none printed */
};

struct target_process {
    pid_t pid;
    int input; /* we write */
    int output;
};

/* Runs program with its arguments, NULL at the end; environment is NULL or "NAME=value". */
void target_start(
    struct target_process *target, const char *const *arguments, const char *environment);

/* Reads up to the line "ready". Fails the test when the target ends before. */
void target_read_report(struct target_process *target, struct report *report);

/* Sends the line command. */
void target_send(struct target_process *target, const char *command);

/* Reads up to the line word. */
void target_expect(struct target_process *target, const char *word);

void target_stop(struct target_process *target);

/* RssAnon by walking its page tables: "Anonymous" of smaps_rollup. */
uint64_t target_anonymous_bytes(const struct target_process *target);

#endif
