/*
 * alloc-test: a process takes memory in small blocks and frees it; can others have it then?
 * See README.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base.h"
#include "box.h"
#include "guard.h"
#include "kernel_view.h"
#include "look.h"
#include "parts.h"
#include "settings.h"
#include "subject.h"

enum {
    SMALL_BLOCK = 8,
    LARGE_BLOCK = 1024,
    SMALLEST_CHUNK = 32, /* glibc's, with its header, for 8 bytes */
    WORD_BYTES = 48,
    LINE_BYTES = 64,
    END_MS = 60000,
    ROOM_DIVISOR =
        4, /* what the box has beyond the need of the process: a quarter of mib */
    RESERVE_MIB = 8, /* the box also pays for page tables and the programs themselves */
    EXACT_PERCENT = 1,
    CLOSE_PERCENT = 6,
};

enum step { STEP_ALLOCATED, STEP_FREED, STEP_TRIMMED, STEPS };
static const char *const step_names[STEPS] = {"allocated", "freed", "trimmed"};

struct test {
    int64_t mib;
    bool check;
    int64_t differences;
    const struct guard *guard;
};

/* One way to run the allocating process, and what it and the others share. */
struct combination {
    int64_t block_bytes;
    bool keep;
    int64_t need_mib; /* of the process at its largest */
    int64_t limit_mib;
    struct box box; /* version 0: a computed share instead */
    int64_t base;   /* resident before anything was allocated */
};

/* What was seen after one step. */
struct state {
    int64_t resident;
    int64_t room_mib; /* the limit less what is charged */
    int64_t one_block_mib;
    int64_t chunks_mib;
    struct look look;
};

static void expect(struct test *test, bool met, const char *what)
{
    if (!met) {
        printf("  DIFFERS: %s\n", what);
        test->differences++;
    }
}

static bool about(int64_t a, int64_t b, int64_t percent)
{
    const int64_t slack = b / 100 * percent + RESERVE_MIB * LAB_MIB;

    return a - b <= slack && b - a <= slack;
}

static int64_t used_bytes(const struct combination *one, pid_t pid)
{
    return one->box.version != 0 ? box_usage(&one->box)
                                 : kernel_status_bytes(pid, "VmRSS");
}

/* How many MiB a process outside gets of what it asks for. */
static int64_t try_outside(const struct combination *one, bool chunks, int64_t room_mib)
{
    char mib[WORD_BYTES], kind[WORD_BYTES], share[WORD_BYTES], line[LINE_BYTES];
    const char *const arguments[] = {"/proc/self/exe", "outside", mib, kind,
        one->box.version == 0 ? share : NULL, NULL};
    const struct subject_start start = {
        .arguments = arguments, .box = one->box.version != 0 ? &one->box : NULL};
    struct subject subject;
    int64_t got = 0;

    (void)snprintf(mib, sizeof(mib), "mib=%" PRId64, one->need_mib);
    (void)snprintf(kind, sizeof(kind), "chunks=%d", chunks ? 1 : 0);
    (void)snprintf(share, sizeof(share), "share=%" PRId64, room_mib > 0 ? room_mib : 0);
    const int error = subject_begin(&subject, &start);
    if (error != 0) {
        lab_die_of("cannot run", arguments[0], -error);
    }
    while (subject_line(&subject, line, sizeof(line))) {
        got = strtoll(line, NULL, 10);
    }
    (void)subject_end(&subject, END_MS);
    return got;
}

static void see(struct state *state, const struct combination *one, pid_t pid)
{
    state->resident = kernel_status_bytes(pid, "VmRSS");
    state->room_mib = one->limit_mib - used_bytes(one, pid) / LAB_MIB;
    state->one_block_mib = try_outside(one, false, state->room_mib);
    state->chunks_mib = try_outside(one, true, state->room_mib);
    look_at(&state->look, pid, NULL);
}

/* The findings that speak of memory which was freed, in one word each. */
static const char *what_strata_says(const struct look *look)
{
    if (look_found(look, "glibc-pinned-heap")) {
        return "glibc-retained, glibc-pinned-heap";
    }
    return look_found(look, "glibc-retained") ? "glibc-retained" : "-";
}

static void print_state(
    const struct combination *one, const struct state *state, enum step step)
{
    printf("  %-10s %9s %9s %9s %9s %7" PRId64 " %6s %7" PRId64 " %7" PRId64 "  %s\n",
        step_names[step], lab_mebibytes(state->resident).text,
        lab_mebibytes(state->look.in_use).text,
        lab_mebibytes(state->look.free_resident).text,
        lab_mebibytes(state->look.trim_gain).text, state->room_mib,
        state->one_block_mib >= one->need_mib ? "yes" : "no", state->one_block_mib,
        state->chunks_mib, what_strata_says(&state->look));
    (void)fflush(stdout);
}

/* In every state: what others get is what the box has left. */
static void check_room(
    struct test *test, const struct combination *one, const struct state *state)
{
    const int64_t room =
        state->room_mib < one->need_mib ? state->room_mib : one->need_mib;

    expect(test, about(state->chunks_mib * LAB_MIB, room * LAB_MIB, CLOSE_PERCENT),
        "chunks get what the limit leaves");
    expect(test,
        about(state->one_block_mib * LAB_MIB, room * LAB_MIB, CLOSE_PERCENT) ||
            state->one_block_mib == 0,
        "one block is touched as far as the limit allows");
}

static void check_states(
    struct test *test, const struct combination *one, const struct state states[STEPS])
{
    const struct state *allocated = &states[STEP_ALLOCATED];
    const struct state *freed = &states[STEP_FREED];
    const struct state *trimmed = &states[STEP_TRIMMED];
    const int64_t wanted = test->mib * LAB_MIB;
    const int64_t pointers = wanted / one->block_bytes * (int64_t)sizeof(void *);
    const bool stays = one->block_bytes == SMALL_BLOCK || one->keep;
    const int64_t fell = allocated->resident - freed->resident;

    for (int step = 0; step < STEPS; step++) {
        check_room(test, one, &states[step]);
    }
    expect(test, allocated->one_block_mib < one->need_mib,
        "memory in use is not to be had from outside");
    expect(test, allocated->look.in_use >= wanted + pointers,
        "in use holds the blocks and their pointers");
    if (stays) {
        expect(test, about(fell, pointers, EXACT_PERCENT),
            "only the pointers' own block comes back");
        expect(test,
            about(freed->look.free_resident, freed->resident - one->base, EXACT_PERCENT),
            "strata names what stays as free");
        expect(test, look_found(&freed->look, "glibc-retained"), "strata warns");
    } else {
        expect(test, about(freed->resident, one->base, EXACT_PERCENT),
            "all of it comes back");
    }
    expect(test,
        about(freed->resident - trimmed->resident, freed->look.trim_gain, EXACT_PERCENT),
        "malloc_trim gives back what strata said");
    expect(test, trimmed->chunks_mib >= one->need_mib - RESERVE_MIB,
        "after malloc_trim the memory is to be had");
}

static void tell_and_wait(struct subject *subject, const char *wanted)
{
    char line[LINE_BYTES];

    subject_tell(subject, "go");
    if (!subject_line(subject, line, sizeof(line)) || strcmp(line, wanted) != 0) {
        lab_die("the allocating process did not go on");
    }
}

static void begin(
    struct subject *subject, const struct test *test, const struct combination *one)
{
    char bytes[WORD_BYTES], block[WORD_BYTES], keep[WORD_BYTES], line[LINE_BYTES];
    const char *const arguments[] = {
        "/proc/self/exe", "allocate", bytes, block, keep, NULL};
    const struct subject_start start = {
        .arguments = arguments, .box = one->box.version != 0 ? &one->box : NULL};

    (void)snprintf(bytes, sizeof(bytes), "bytes=%" PRId64, test->mib * LAB_MIB);
    (void)snprintf(block, sizeof(block), "block=%" PRId64, one->block_bytes);
    (void)snprintf(keep, sizeof(keep), "keep=%d", one->keep ? 1 : 0);
    const int error = subject_begin(subject, &start);
    if (error != 0) {
        lab_die_of("cannot run", arguments[0], -error);
    }
    if (!subject_line(subject, line, sizeof(line))) {
        lab_die("the allocating process did not start");
    }
}

/*
 * Every block costs its chunk, and 8 bytes in the vector; while the vector grows the last
 * time it and its predecessor, half as large, are there, but not yet all blocks.
 */
static int64_t need_mib(const struct test *test, int64_t block_bytes)
{
    const int64_t header = (int64_t)sizeof(void *);
    const int64_t chunk =
        block_bytes == SMALL_BLOCK ? SMALLEST_CHUNK : block_bytes + 2 * header;

    return test->mib * (chunk + header) / block_bytes + RESERVE_MIB;
}

static void make_box(struct test *test, struct combination *one)
{
    char name[WORD_BYTES];

    (void)snprintf(
        name, sizeof(name), "blocks-%" PRId64 "-%d", one->block_bytes, one->keep ? 1 : 0);
    one->limit_mib = one->need_mib + test->mib / ROOM_DIVISOR;
    if (!box_make(
            &one->box, test->guard->cgroup, name, one->limit_mib * (int64_t)LAB_MIB)) {
        printf("no cgroup here (%s): the share of others is computed\n", one->box.why);
    }
}

static void run(struct test *test, int64_t block_bytes, bool keep)
{
    struct combination one = {.block_bytes = block_bytes,
        .keep = keep,
        .need_mib = need_mib(test, block_bytes)};
    struct state states[STEPS];
    struct subject subject;

    make_box(test, &one);
    printf("\nblocks of %" PRId64 " bytes, %s; limit %" PRId64
           " MiB, others ask for %" PRId64 "\n",
        block_bytes, keep ? "the last one is kept" : "all are freed", one.limit_mib,
        one.need_mib);
    printf("  %-10s %9s %9s %9s %9s %7s %14s %7s  %s\n", "", "resident", "in use", "free",
        "trim gain", "left", "one block", "chunks", "strata says");
    begin(&subject, test, &one);
    one.base = kernel_status_bytes(subject.pid, "VmRSS");
    for (int step = 0; step < STEPS; step++) {
        tell_and_wait(&subject, step_names[step]);
        see(&states[step], &one, subject.pid);
        print_state(&one, &states[step], (enum step)step);
    }
    check_states(test, &one, states);
    for (int step = 0; step < STEPS; step++) {
        look_release(&states[step].look);
    }
    (void)subject_end(&subject, END_MS);
    if (one.box.version != 0 && box_remove(&one.box) != 0) {
        lab_die("cannot remove the cgroup");
    }
}

int main(int count, char **arguments)
{
    struct test test = {.mib = 1024};
    const struct setting settings[] = {
        {"mib", &test.mib, NULL, 32, 65536, "that the process takes in small blocks"},
    };
    struct guard guard;

    if (count > 1 && strcmp(arguments[1], "allocate") == 0) {
        return allocating_process(count - 1, arguments + 1);
    }
    if (count > 1 && strcmp(arguments[1], "outside") == 0) {
        return outside_process(count - 1, arguments + 1);
    }
    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), &test.check);
    guard_enter(&guard);
    test.guard = &guard;
    printf("alloc-test: %" PRId64 " MiB in small blocks, freed; who can have it? (MiB)\n",
        test.mib);
    run(&test, SMALL_BLOCK, false);
    run(&test, SMALL_BLOCK, true);
    run(&test, LARGE_BLOCK, false);
    run(&test, LARGE_BLOCK, true);
    return test.check && test.differences > 0 ? LAB_EXIT_DIFFERENT : 0;
}
