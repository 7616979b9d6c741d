/*
 * tool.h - strata, run as a program: the only way in which a lab knows what it sees, so that
 * what a lab shows is what a user gets.
 */
#ifndef STRATA_LABS_COMMON_TOOL_H
#define STRATA_LABS_COMMON_TOOL_H

#include <jansson.h>
#include <sys/types.h>

/*
 * What `strata explain PID --json` prints: STRATA_PROGRAM from the environment, or the tool
 * beside the labs. With a path the facts are stored there as well. The caller owns the
 * reference. Ends the program when the tool cannot be run or prints no JSON.
 */
json_t *tool_explain(pid_t pid, const char *capture);

/* The same of what a capture file holds. */
json_t *tool_explain_capture(const char *capture);

#endif
