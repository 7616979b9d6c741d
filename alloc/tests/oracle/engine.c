/*
 * Runs PHP as a child with pipes at both ends.
 *
 * The script reads all of its input before it writes anything, and this side writes all
 * before it reads, so that two pipes without any polling cannot block each other. `-n`
 * keeps php.ini away: the figures must not depend on the extensions of a machine.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORD_WORDS = 5 };
_Static_assert(sizeof(struct figures) == RECORD_WORDS * sizeof(int64_t),
    "a record is read straight into struct figures");

struct child {
    pid_t pid;
    int input;  /* what it reads */
    int output; /* what it writes */
};

static int write_all(int file, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        ssize_t written = write(file, next, bytes);
        if (written < 0 && errno != EINTR) {
            return -errno;
        }
        if (written > 0) {
            next += written;
            bytes -= (size_t)written;
        }
    }
    return 0;
}

static int read_all(int file, void *data, size_t bytes)
{
    char *next = data;
    while (bytes > 0) {
        ssize_t got = read(file, next, bytes);
        if (got < 0 && errno != EINTR) {
            return -errno;
        }
        if (got == 0) {
            return -EPROTO;
        }
        if (got > 0) {
            next += got;
            bytes -= (size_t)got;
        }
    }
    return 0;
}

static int spawn_with(const char *php, const char *script, const int input[2],
    const int output[2], pid_t *pid)
{
    char no_ini[] = "-n";
    char define[] = "-d";
    char no_limit[] = "memory_limit=-1";
    char errors[] = "display_errors=stderr";
    char *arguments[] = {
        (char *)php, no_ini, define, no_limit, define, errors, (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    extern char **environ;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return -error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(pid, php, &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

static int child_start(struct child *child, const char *php, const char *script)
{
    int input[2];
    int output[2];
    if (pipe2(input, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (pipe2(output, O_CLOEXEC) != 0) {
        int error = -errno;
        close(input[0]);
        close(input[1]);
        return error;
    }
    int error = spawn_with(php, script, input, output, &child->pid);
    close(input[0]);
    close(output[1]);
    child->input = input[1];
    child->output = output[0];
    if (error != 0) {
        close(child->input);
        close(child->output);
    }
    return error;
}

/* Waits for the end; an exit code other than 0 is -EPROTO unless there is an error. */
static int child_finish(struct child *child, int error)
{
    int status = 0;
    close(child->output);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (error == 0 && status != 0) {
        return -EPROTO;
    }
    return error;
}

int engine_run(const char *php, const char *script, const struct operation *list,
    size_t count, struct figures *figures)
{
    uint64_t *words = calloc(count + 1, sizeof(*words));
    if (words == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        words[i] = operation_word(&list[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    struct child child;
    int error = child_start(&child, php, script);
    if (error == 0) {
        error = write_all(child.input, words, count * sizeof(*words));
        close(child.input);
        if (error == 0) {
            error = read_all(child.output, figures, (count + 1) * sizeof(*figures));
        }
        error = child_finish(&child, error == -EPIPE ? -EPROTO : error);
    }
    free(words);
    return error;
}
