/*
 * child.c - parent and child take turns over two pipes, so no test waits by time.
 *
 * A child whose parent is gone reads end of file and exits, so that none is left behind.
 */
#include "child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void wait_for_words(struct child *child)
{
    assert_int_equal(
        read(child->ready, child->words, sizeof(child->words)), sizeof(child->words));
}

void child_start(struct child *child, child_body *body)
{
    int go[2];
    int ready[2];

    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(ready), 0);
    child->pid = fork();
    assert_true(child->pid >= 0);
    if (child->pid == 0) {
        struct child_side side = {.go = go[0], .ready = ready[1]};
        close(go[1]);
        close(ready[0]);
        _exit(body(&side));
    }
    close(go[0]);
    close(ready[1]);
    child->go = go[1];
    child->ready = ready[0];
    wait_for_words(child);
}

void child_tell(struct child_side *side, const uint64_t words[CHILD_WORDS])
{
    static const uint64_t none[CHILD_WORDS];
    char byte;

    if (write(side->ready, words != NULL ? words : none, sizeof(none)) !=
            (ssize_t)sizeof(none) ||
        read(side->go, &byte, 1) != 1) {
        _exit(1);
    }
}

void child_continue(struct child *child)
{
    assert_int_equal(write(child->go, "", 1), 1);
    wait_for_words(child);
}

void child_end(struct child *child)
{
    close(child->go);
    close(child->ready);
    kill(child->pid, SIGKILL);
    assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}
