/* run_program.h - will LD_PRELOAD act on a program? Told from its file, before it runs. */
#ifndef STRATA_CMD_RUN_PROGRAM_H
#define STRATA_CMD_RUN_PROGRAM_H

enum { RUN_PATH_BYTES = 4096, RUN_REASON_BYTES = 512 };

struct run_program {
    char path[RUN_PATH_BYTES]; /* the file that the name stands for, "" when not found */
    /* Why the preload will not act, naming the file that decides it: the program or the
     * interpreter of a script. "" when nothing speaks against it. */
    char reason[RUN_REASON_BYTES];
};

/*
 * Looks name up as execvp(3) does, follows scripts to their interpreters (also through
 * env), and looks into the ELF file. A file that cannot be read speaks for nothing: then
 * reason is "" as well.
 */
void run_program_look(const char *name, struct run_program *program);

#endif
