/*
 * guard.c - a process that cleans up behind a lab.
 *
 * The guard is the reaper of its descendants (PR_SET_CHILD_SUBREAPER, prctl(2)), so what the
 * lab started is found among its children even after the lab is gone. It kills by pid and
 * only what it finds below itself. Between the look and the kill a pid cannot be used anew,
 * since a dead child stays until the guard waits for it.
 */
#include "guard.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "box.h"

enum {
    SIGNAL_EXIT = 128,
    NFTW_FILES = 16,
    KILL_ROUNDS = 500,
    KILL_PAUSE_MS = 10,
    LONGEST_LIST_BYTES = 65536,
};

static volatile sig_atomic_t caught;
static volatile sig_atomic_t lab_pid;

static void pass_on(int number)
{
    caught = number;
    if (lab_pid > 0) {
        (void)kill((pid_t)lab_pid, number);
    }
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction action = {.sa_handler = pass_on};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

/* Sends SIGKILL to each child of this process; false when it has none. */
static bool kill_children(void)
{
    static char text[LONGEST_LIST_BYTES];
    char path[GUARD_PATH_BYTES];
    bool some = false;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    (void)fclose(file);
    for (char *next = text, *end;; next = end) {
        const long pid = strtol(next, &end, 10);
        if (end == next || pid <= 1) {
            return some;
        }
        some = true;
        (void)kill((pid_t)pid, SIGKILL);
    }
}

/* Children of a killed child become ours, so it takes a few rounds. */
static void end_descendants(void)
{
    for (int round = 0; round < KILL_ROUNDS && kill_children(); round++) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        lab_sleep_ms(KILL_PAUSE_MS);
    }
}

static int remove_one(
    const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0;
}

static _Noreturn void keep_guard(const struct guard *guard)
{
    int status = 0;

    while (waitpid((pid_t)lab_pid, &status, 0) < 0 && errno == EINTR) {
    }
    end_descendants();
    box_remove_all(guard->cgroup);
    (void)nftw(guard->folder, remove_one, NFTW_FILES, FTW_DEPTH | FTW_PHYS);
    if (caught != 0) {
        _exit(SIGNAL_EXIT + (int)caught);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_EXIT + WTERMSIG(status));
}

void guard_enter(struct guard *guard)
{
    const char *folder = getenv("TMPDIR");

    (void)snprintf(guard->folder, sizeof(guard->folder), "%s/strata-lab-XXXXXX",
        folder != NULL && folder[0] != '\0' ? folder : P_tmpdir);
    if (mkdtemp(guard->folder) == NULL) {
        lab_die_of("no folder like", guard->folder, errno);
    }
    (void)snprintf(guard->cgroup, sizeof(guard->cgroup), "strata-lab-%d", (int)getpid());
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        (void)rmdir(guard->folder);
        lab_die_of("cannot start", "the lab itself", errno);
    }
    if (pid > 0) {
        lab_pid = pid;
        catch_signals();
        keep_guard(guard);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(LAB_EXIT_DIFFERENT);
    }
}
