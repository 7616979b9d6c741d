/* child.h - a process of our own to read: it does something, says so, and waits. */
#ifndef STRATA_TESTS_UNIT_FACTS_CHILD_H
#define STRATA_TESTS_UNIT_FACTS_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* Words the child may tell its parent: addresses, ids. */
enum { CHILD_WORDS = 8 };

struct child {
    pid_t pid;
    int32_t go;    /* write end: one byte lets child_wait() return in the child */
    int32_t ready; /* read end */
    uint64_t words[CHILD_WORDS]; /* what it told last */
};

/* In the child: the other side of its two pipes. */
struct child_side {
    int32_t go;
    int32_t ready;
};

/* Body of a child; returns its exit code. */
typedef int child_body(struct child_side *side);

/* Forks a child which runs body, and waits until it tells something for the first time. */
void child_start(struct child *child, child_body *body);

/* In the child: tells the parent words, then waits for child_continue(). */
void child_tell(struct child_side *side, const uint64_t words[CHILD_WORDS]);

/* Lets the child go on and waits for its next words. */
void child_continue(struct child *child);

/* Ends the child and reaps it. */
void child_end(struct child *child);

#endif
