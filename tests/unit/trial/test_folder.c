/* test_folder.c - what a killed bench left goes; what is used, or no bench's, stays. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trial/claim.h"
#include "trial/folder.h"

enum { PATH_BYTES = 200 };

static char top[] = "/tmp/strata-folder-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(top) != NULL && setenv("TMPDIR", top, 1) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    folder_remove(top);
    return 0;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* The pid of a process that has ended. */
static pid_t dead_pid(void)
{
    const pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void path_of(char *path, pid_t pid, const char *rest)
{
    (void)snprintf(path, PATH_BYTES, "%s/" CLAIM_PREFIX "%d%s", top, (int)pid, rest);
}

/* A child makes its folder and is killed. */
static void the_folder_of_a_killed_bench_goes(void **state)
{
    char path[PATH_BYTES];
    int ends[2];
    char file[PATH_BYTES + 8];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        int claim;
        if (folder_make(path, sizeof(path), &claim) != 0 ||
            write(ends[1], path, sizeof(path)) != (ssize_t)sizeof(path)) {
            _exit(1);
        }
        pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], path, sizeof(path)), sizeof(path));
    (void)snprintf(file, sizeof(file), "%s/log", path);
    (void)close(open(file, O_WRONLY | O_CREAT, 0600));
    assert_true(is_there(file));
    assert_int_equal(folder_sweep(), 0);
    assert_true(is_there(path));
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(folder_sweep(), 1);
    assert_false(is_there(path));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* In another pid namespace its maker may live: the lock tells, not the pid. */
static void a_folder_that_is_held_stays_whatever_its_pid(void **state)
{
    char path[PATH_BYTES];

    (void)state;
    path_of(path, dead_pid(), "-held");
    assert_int_equal(mkdir(path, 0700), 0);
    const int claim = claim_take(path);
    assert_true(claim >= 0);
    assert_true(claim_take(path) < 0);
    assert_int_equal(folder_sweep(), 0);
    assert_true(is_there(path));
    (void)close(claim);
    assert_int_equal(folder_sweep(), 1);
    assert_false(is_there(path));
}

static void what_is_no_folder_of_a_bench_stays(void **state)
{
    const pid_t pid = dead_pid();
    char link[PATH_BYTES], file[PATH_BYTES], living[PATH_BYTES], nameless[PATH_BYTES];
    char goal[PATH_BYTES], foreign[PATH_BYTES];

    (void)state;
    (void)snprintf(goal, sizeof(goal), "%s/goal", top);
    (void)snprintf(nameless, sizeof(nameless), "%s/" CLAIM_PREFIX "abcdef", top);
    path_of(link, pid, "-link");
    path_of(file, pid, "-file");
    path_of(living, getpid(), "-living");
    path_of(foreign, pid, "-foreign");
    assert_int_equal(mkdir(goal, 0700), 0);
    assert_int_equal(symlink(goal, link), 0);
    (void)close(open(file, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(mkdir(living, 0700), 0);
    assert_int_equal(mkdir(nameless, 0700), 0);
    assert_int_equal(mkdir(foreign, 0700), 0);
    const bool is_foreign = geteuid() == 0 && chown(foreign, 1, 1) == 0;
    assert_int_equal(folder_sweep(), is_foreign ? 0 : 1);
    assert_true(is_there(goal) && is_there(link) && is_there(file));
    assert_true(is_there(living) && is_there(nameless));
    assert_true(is_there(foreign) == is_foreign);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_of_a_killed_bench_goes),
        cmocka_unit_test(a_folder_that_is_held_stays_whatever_its_pid),
        cmocka_unit_test(what_is_no_folder_of_a_bench_stays),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
