/* said.h - what a child says on stderr before it ends, for tests of programs that misuse a heap. */
#ifndef STRATA_TESTS_SAID_H
#define STRATA_TESTS_SAID_H

#include <stddef.h>

/* Runs run(context) in a child of fork; `text` gets what it says, cut to `bytes` with its end.
 * Its status, as waitpid(2) has it: exit code 0 when run came back. */
int test_said_by_child(
    void (*run)(const void *), const void *context, char *text, size_t bytes);

#endif
