/*
 * Runs a program with pipes at both ends: writes all of its input, then reads until the
 * end of its output, so that no polling is needed. One job at a time; nothing is kept
 * between two of them.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int read_to_end(int file, struct child_job *job)
{
    char *next = job->output;
    for (;;) {
        char beyond;
        size_t room = job->output_capacity - job->output_bytes;
        ssize_t got = read(file, room > 0 ? next : &beyond, room > 0 ? room : 1);
        if (got < 0 && errno != EINTR) {
            return -errno;
        }
        if (got == 0) {
            return 0;
        }
        if (got > 0 && room == 0) {
            return -E2BIG;
        }
        if (got > 0) {
            next += got;
            job->output_bytes += (size_t)got;
        }
    }
}

static int spawn_with(
    char *const *arguments, const int input[2], const int output[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return -error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(pid, arguments[0], &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

static int child_start(struct child *child, char *const *arguments)
{
    int input[2] = {-1, -1};
    int output[2] = {-1, -1};
    if (pipe2(input, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (pipe2(output, O_CLOEXEC) != 0) {
        int error = -errno;
        close(input[0]);
        close(input[1]);
        return error;
    }
    int error = spawn_with(arguments, input, output, &child->pid);
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

/* Its end is waited for even after an error; a closed pipe makes it come. */
static int child_exit_code(struct child *child)
{
    int status = 0;
    close(child->output);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int child_run(struct child_job *job)
{
    struct child child = {0};
    job->output_bytes = 0;
    job->exit_code = -1;
    signal(SIGPIPE, SIG_IGN);
    int error = child_start(&child, job->arguments);
    if (error != 0) {
        return error;
    }
    error = write_all(child.input, job->input, job->input_bytes);
    close(child.input);
    if (error == 0) {
        error = read_to_end(child.output, job);
    }
    job->exit_code = child_exit_code(&child);
    return error;
}
