/* run_library.h - the malloc replacement: where it lies, and LD_PRELOAD that names it. */
#ifndef STRATA_CMD_RUN_LIBRARY_H
#define STRATA_CMD_RUN_LIBRARY_H

enum { RUN_LIBRARY_PATH_BYTES = 4096 };

struct run_library {
    char path[RUN_LIBRARY_PATH_BYTES];   /* as LD_PRELOAD names it */
    char folder[RUN_LIBRARY_PATH_BYTES]; /* made for a link to it; "": none is needed */
};

/*
 * Finds the library and puts it in front of what LD_PRELOAD has already. 0, or the code to exit
 * with after a message. Release it when the command has ended, also after a failure.
 */
int run_library_preload(struct run_library *library);

/* Removes the link, if there is one. */
void run_library_release(struct run_library *library);

#endif
