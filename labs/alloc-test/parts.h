/*
 * parts.h - the two programs of the suite, which the lab starts as children of its own.
 */
#ifndef STRATA_LABS_ALLOC_TEST_PARTS_H
#define STRATA_LABS_ALLOC_TEST_PARTS_H

/*
 * The allocating process: takes memory in small blocks, frees them, trims. It goes one step for
 * each line of its input and says its name ("ready", "allocated", "freed", "trimmed") when it
 * is done. Settings: bytes, block, keep.
 */
int allocating_process(int count, char **arguments);

/*
 * A process outside that tries to take memory: in one block, or in chunks of 1 MiB. It
 * prints the number of MiB that it has touched, line by line, until it has all or is killed.
 * Settings: mib, chunks, share.
 */
int outside_process(int count, char **arguments);

#endif
