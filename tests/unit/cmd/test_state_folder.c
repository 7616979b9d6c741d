/* The way down to the folder of looks, as a user who may pass a folder and not read it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/state_folder.h"

enum { SOMEBODY = 65534, MODE_PASSED = 0311, MODE_PASSED_BY_ALL = 0711 };

static int setup(void **state)
{
    static char top[] = "/tmp/state-folder-XXXXXX";

    *state = mkdtemp(top);
    return *state == NULL ? -1 : 0;
}

/* What state_folder_open() says to a user whom modes stop, as an exit code. */
static int open_as_user(const char *path)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        if (geteuid() == 0 && setuid(SOMEBODY) != 0) {
            _exit(EXIT_FAILURE);
        }
        const int fd = state_folder_open(path, true);
        _exit(fd < 0 ? -fd : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_folder_that_can_only_be_passed_is_passed(void **state)
{
    const char *top = *state;
    char home[64];
    char kept[96];

    (void)snprintf(home, sizeof(home), "%s/me", top);
    (void)snprintf(kept, sizeof(kept), "%s/looks", home);
    assert_int_equal(mkdir(home, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(home, SOMEBODY, SOMEBODY), 0);
    }
    assert_int_equal(chmod(top, geteuid() == 0 ? MODE_PASSED_BY_ALL : MODE_PASSED), 0);
    assert_int_equal(open_as_user(kept), 0);
    /* The last one has to be read, or what is old in it would never go. */
    assert_int_equal(chmod(kept, MODE_PASSED), 0);
    assert_int_equal(open_as_user(kept), EACCES);
    assert_int_equal(chmod(top, 0700), 0);
    assert_int_equal(rmdir(kept), 0);
    assert_int_equal(rmdir(home), 0);
    assert_int_equal(rmdir(top), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_folder_that_can_only_be_passed_is_passed, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
