/* exit_code.h - how the program ends; a contract with scripts, told by `strata help exit-codes`. */
#ifndef STRATA_CMD_EXIT_CODE_H
#define STRATA_CMD_EXIT_CODE_H

enum exit_code {
    EXIT_FINE = 0,
    EXIT_FINDING = 1,   /* a finding at or above --fail-on */
    EXIT_USAGE = 2,     /* the command line is wrong */
    EXIT_DENIED = 3,    /* the memory of the target may not be read */
    EXIT_NO_TARGET = 4, /* not found, ambiguous, ended, or a capture that is none */
    EXIT_PARTIAL = 5,   /* facts that exist are missing from the account */
    EXIT_FAILED = 6,    /* the output could not be written, or memory ran short */
};

/* The code for -errno of facts_collect(), capture_load() and the like. */
enum exit_code exit_code_of(int negative_errno);

/*
 * Ends the program while other threads run. exit(3) would call the destructors of libraries
 * and close files under a thread that still uses them; the kernel ends all at once.
 */
_Noreturn void exit_beside_threads(enum exit_code code);

#endif
