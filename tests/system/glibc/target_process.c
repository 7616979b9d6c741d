/* target_process.c - a child with pipes, and a reader for what malloc_info prints. */
#include "target_process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINE_BYTES = 512 };

void target_start(
    struct target_process *target, const char *const *arguments, const char *environment)
{
    int input[2], output[2];

    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    target->pid = fork();
    assert_true(target->pid >= 0);
    if (target->pid == 0) {
        char *const environments[] = {(char *)(uintptr_t)environment, NULL};
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        close(input[1]);
        close(output[0]);
        execve(arguments[0], (char *const *)(uintptr_t)arguments, environments);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    target->input = input[1];
    target->output = output[0];
}

static void read_line(struct target_process *target, char *line)
{
    size_t length = 0;

    for (;;) {
        assert_int_equal(read(target->output, line + length, 1), 1);
        if (line[length] == '\n') {
            line[length] = '\0';
            return;
        }
        length++;
        assert_true(length < LINE_BYTES);
    }
}

/* The number behind the first name in line; false when there is none. */
static bool read_number(const char *line, const char *name, uint64_t *number)
{
    const char *found = strstr(line, name);
    char *end;

    if (found == NULL) {
        return false;
    }
    found += strlen(name);
    *number = strtoull(found, &end, 0);
    return end != found;
}

/* One line of a <heap> of malloc_info. */
static void read_info_line(const char *line, struct report_arena *arena)
{
    if (strncmp(line, "<total type=\"fast\"", 18) == 0) {
        (void)read_number(line, "count=\"", &arena->fast_chunks);
        (void)read_number(line, "size=\"", &arena->fast_bytes);
    } else if (strncmp(line, "<total type=\"rest\"", 18) == 0) {
        (void)read_number(line, "count=\"", &arena->rest_chunks);
        (void)read_number(line, "size=\"", &arena->rest_bytes);
    } else if (strncmp(line, "<system type=\"current\"", 22) == 0) {
        (void)read_number(line, "size=\"", &arena->held_bytes);
    } else if (strncmp(line, "<system type=\"max\"", 18) == 0) {
        (void)read_number(line, "size=\"", &arena->held_peak_bytes);
    }
}

void target_read_report(struct target_process *target, struct report *report)
{
    char line[LINE_BYTES];
    bool inside = false;

    memset(report, 0, sizeof(*report));
    for (;;) {
        read_line(target, line);
        if (strcmp(line, "ready") == 0) {
            return;
        }
        if (strncmp(line, "<heap nr=", 9) == 0) {
            assert_true(report->arena_count < REPORT_MAXIMUM_ARENAS);
            report->arena_count++;
            inside = true;
        } else if (strcmp(line, "</heap>") == 0) {
            inside = false;
        }
        if (inside) {
            read_info_line(line, &report->arenas[report->arena_count - 1]);
        }
        (void)read_number(line, "mallinfo2 arena=", &report->arena_bytes);
        (void)read_number(line, " uordblks=", &report->in_use_bytes);
        (void)read_number(line, " fordblks=", &report->free_bytes);
        (void)read_number(line, " hblks=", &report->mmapped_blocks);
        (void)read_number(line, " hblkhd=", &report->mmapped_bytes);
        (void)read_number(line, " keepcost=", &report->top_bytes);
        (void)read_number(line, "pin ", &report->pin_address);
    }
}

void target_send(struct target_process *target, const char *command)
{
    char line[LINE_BYTES];
    const int length = snprintf(line, sizeof(line), "%s\n", command);

    assert_int_equal(write(target->input, line, (size_t)length), length);
}

void target_expect(struct target_process *target, const char *word)
{
    char line[LINE_BYTES];

    do {
        read_line(target, line);
    } while (strcmp(line, word) != 0);
}

void target_stop(struct target_process *target)
{
    close(target->input);
    close(target->output);
    kill(target->pid, SIGKILL);
    waitpid(target->pid, NULL, 0);
}

uint64_t target_anonymous_bytes(const struct target_process *target)
{
    char path[64], line[LINE_BYTES];
    uint64_t kib = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", target->pid);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL &&
           !read_number(line, "Anonymous:", &kib)) {
    }
    (void)fclose(file);
    return kib * 1024;
}
