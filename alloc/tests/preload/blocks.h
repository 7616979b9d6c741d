/* Blocks of each kind, which know whether they are whole, and threads that have them. */
#ifndef STRATA_TESTS_BLOCKS_H
#define STRATA_TESTS_BLOCKS_H

#include <stddef.h>
#include <sys/types.h>

#define CHILD_SECONDS 600 /* a child that is stuck is killed */

/* Ten sizes in turn, of small, large and huge blocks. */
size_t test_some_size(size_t number);
unsigned char *test_make(size_t number);
int test_is_whole(const unsigned char *block, size_t number);

/* One of each kind. */
int test_can_allocate(void);

/* Of a child that exits; more than 255 of one that is killed. */
int test_exit_code_of(pid_t child);

/* A thread's body: allocates and frees until test_stop. */
extern int test_stop;
void *test_keep_allocating(void *argument);

#endif
