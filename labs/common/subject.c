/*
 * subject.c - starting and ending a child; it never outlives the lab (PR_SET_PDEATHSIG).
 */
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

enum { POLL_MS = 10, EXEC_FAILED = 127, LOG_MODE = 0600 };

/* Settings of an allocator that the experiment itself must choose. */
static const char *const cleared[] = {"MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST",
    "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_",
    "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_CONF"};

static void set_environment(char *const *environment)
{
    for (size_t i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++) {
        (void)unsetenv(cleared[i]);
    }
    for (; environment != NULL && *environment != NULL; environment++) {
        (void)putenv(*environment);
    }
}

/* In the child; the report pipe is closed by a successful exec. */
static _Noreturn void become(
    const struct subject_start *start, int input, int output, int report)
{
    int error = start->box != NULL ? -box_add(start->box, getpid()) : 0;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (error == 0) {
        (void)dup2(input, STDIN_FILENO);
        (void)dup2(output, STDOUT_FILENO);
        if (start->log != NULL) {
            (void)dup2(output, STDERR_FILENO);
        }
        set_environment(start->environment);
        (void)execvp(start->arguments[0], (char *const *)start->arguments);
        error = errno;
    }
    (void)!write(report, &error, sizeof(error));
    _exit(EXEC_FAILED);
}

static int open_ends(const struct subject_start *start, int input[2], int output[2])
{
    if (start->log == NULL) {
        return pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0 ? -errno : 0;
    }
    input[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    output[1] =
        open(start->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, (mode_t)LOG_MODE);
    return input[0] < 0 || output[1] < 0 ? -errno : 0;
}

static void close_if_open(int file)
{
    if (file >= 0) {
        (void)close(file);
    }
}

int subject_begin(struct subject *subject, const struct subject_start *start)
{
    int input[2] = {-1, -1}, output[2] = {-1, -1}, report[2] = {-1, -1}, failed = 0;
    int error = open_ends(start, input, output);

    *subject = (struct subject){.pid = -1, .input = -1};
    if (error == 0 && pipe2(report, O_CLOEXEC) != 0) {
        error = -errno;
    }
    if (error == 0) {
        (void)fflush(stdout);
        subject->pid = fork();
        error = subject->pid < 0 ? -errno : 0;
    }
    if (error == 0 && subject->pid == 0) {
        become(start, input[0], output[1], report[1]);
    }
    close_if_open(input[0]);
    close_if_open(output[1]);
    close_if_open(report[1]);
    if (error == 0 && read(report[0], &failed, sizeof(failed)) == sizeof(failed)) {
        (void)waitpid(subject->pid, NULL, 0);
        error = -failed;
    }
    close_if_open(report[0]);
    if (error != 0) {
        subject->pid = -1;
        close_if_open(input[1]);
        close_if_open(output[0]);
        return error;
    }
    subject->input = input[1];
    subject->output = output[0] >= 0 ? fdopen(output[0], "r") : NULL;
    return 0;
}

bool subject_line(struct subject *subject, char *line, size_t bytes)
{
    if (fgets(line, (int)bytes, subject->output) == NULL) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return true;
}

void subject_tell(const struct subject *subject, const char *line)
{
    const size_t length = strlen(line);

    if (write(subject->input, line, length) != (ssize_t)length ||
        write(subject->input, "\n", 1) != 1) {
        lab_die("a program of this lab does not listen");
    }
}

bool subject_runs(struct subject *subject)
{
    if (subject->pid > 0 && waitpid(subject->pid, NULL, WNOHANG) != 0) {
        subject->pid = -1;
    }
    return subject->pid > 0;
}

int subject_end(struct subject *subject, int64_t patience_ms)
{
    const int64_t end = lab_now_ms() + patience_ms;
    int status = -1;
    pid_t waited = 0;

    if (subject->input >= 0) {
        (void)close(subject->input);
    } else if (subject->pid > 0) {
        (void)kill(subject->pid, SIGTERM);
    }
    while (subject->pid > 0 && (waited = waitpid(subject->pid, &status, WNOHANG)) == 0 &&
           lab_now_ms() < end) {
        lab_sleep_ms(POLL_MS);
    }
    if (subject->pid > 0 && waited == 0) {
        (void)kill(subject->pid, SIGKILL);
        (void)waitpid(subject->pid, &status, 0);
    }
    if (subject->output != NULL) {
        (void)fclose(subject->output);
    }
    *subject = (struct subject){.pid = -1, .input = -1};
    return status;
}
