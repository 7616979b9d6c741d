/*
 * settings.h - the arguments of a lab: NAME=VALUE, and --check.
 */
#ifndef STRATA_LABS_COMMON_SETTINGS_H
#define STRATA_LABS_COMMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of both places is set. The value there before is the default. */
struct setting {
    const char *name;
    int64_t *number;
    const char **text; /* borrowed from the arguments */
    int64_t least;
    int64_t most;
    const char *help;
};

/*
 * Reads all arguments; check may be NULL for a program that has none. Ends the program with
 * LAB_EXIT_USAGE and the list of settings for a word that is none of them.
 */
void settings_read(int count, char **arguments, const struct setting *settings,
    size_t setting_count, bool *check);

#endif
