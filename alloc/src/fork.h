/*
 * What pthread_atfork(3) calls: before a fork, and after it in the parent and in the child.
 */
#ifndef STRATA_FORK_H
#define STRATA_FORK_H

void strata__fork_prepare(void);
void strata__fork_parent(void);
void strata__fork_child(void);

#endif
