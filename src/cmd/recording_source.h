/* recording_source.h - a recording as the target of a command. */
#ifndef STRATA_CMD_RECORDING_SOURCE_H
#define STRATA_CMD_RECORDING_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/exit_code.h"
#include "cmd/options.h"
#include "facts_types/facts.h"
#include "record/recording.h"

/* True for *.db, and for a path with '/' to a file that begins like a database. */
bool recording_is_meant(const char *target);

/* Opens a recording, or complains and returns the code to exit with. */
enum exit_code recording_source_open(const char *path, struct recording *recording);

/*
 * EXIT_FINE, or EXIT_USAGE after a message when output (NULL: none) is the recording at path
 * itself, which writing would destroy.
 */
enum exit_code recording_source_spare(const char *path, const char *output);

/*
 * The time that text (of option, for the message) means; *at_ms is left alone when text is NULL.
 */
enum exit_code recording_source_time(const struct recording *recording, const char *path,
    const char *option, const char *text, int64_t *at_ms);

/*
 * The facts of the capture of options->at (or of the last one) of the recording
 * options->arguments[0]; the second argument names one of several targets. EXIT_FINE, or
 * the code to exit with after a message.
 */
enum exit_code recording_source_read(const struct options *options, struct facts *facts);

/* The last capture of the recording at path: of its only target, else of that name. As above. */
enum exit_code recording_source_last(
    const char *path, const char *name, struct facts *facts);

#endif
