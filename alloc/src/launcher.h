/* What `strata run` and the library tell each other at the start of a program. */
#ifndef STRATA_LAUNCHER_H
#define STRATA_LAUNCHER_H

#define STRATA__LAUNCHER_VARIABLE "STRATA_RUN_FD="

/* What it says: malloc is the library's, or that of another, which the loader found first. */
#define STRATA__LAUNCHER_OURS '+'
#define STRATA__LAUNCHER_OTHER '-'

/* If the environment names a descriptor: says that the library is at work and its region
 * is there, waits until the other end has seen that, and forgets the descriptor, for
 * programs that this one starts as well. */
void strata__launcher_greet(char **environment);

#endif
