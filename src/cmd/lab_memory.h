/* lab_memory.h - says what memory a lab takes, and whether this machine has it. */
#ifndef STRATA_CMD_LAB_MEMORY_H
#define STRATA_CMD_LAB_MEMORY_H

#include "cmd/cmd_lab.h"
#include "cmd/exit_code.h"

/*
 * Tells what the lab takes with the settings among the arguments of options. EXIT_PARTIAL after a
 * message when neither the machine nor the cgroup that strata is in has as much; a limit that
 * cannot be read is none.
 */
enum exit_code lab_memory_check(const struct lab_row *row, const struct options *options);

#endif
