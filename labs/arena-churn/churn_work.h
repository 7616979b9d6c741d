/*
 * churn_work.h - the program that the lab looks at: jobs on threads, and what survives them.
 */
#ifndef STRATA_LABS_ARENA_CHURN_CHURN_WORK_H
#define STRATA_LABS_ARENA_CHURN_CHURN_WORK_H

/*
 * Does the work that its arguments name (see churn_work.c), prints "ready BYTES" (what it
 * asked malloc for and did not free), waits for the end of its input, and returns an exit
 * code.
 */
int churn_work(int count, char **arguments);

#endif
