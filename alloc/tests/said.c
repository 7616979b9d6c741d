/* said.c - a child whose stderr is a pipe. */
#include "said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int test_said_by_child(
    void (*run)(const void *), const void *context, char *text, size_t bytes)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        run(context);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got = 0;
    while (length < bytes - 1 &&
           (got = read(ends[0], text + length, bytes - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
