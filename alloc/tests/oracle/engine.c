/*
 * Runs engine.php. `-n` keeps php.ini away: the figures must not depend on the extensions
 * of a machine. Messages of PHP go to stderr, since stdout carries the records.
 */
#include "engine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "child.h"

enum { RECORD_WORDS = 5 };
_Static_assert(sizeof(struct figures) == RECORD_WORDS * sizeof(int64_t),
    "a record is read straight into struct figures");

int engine_run(const char *php, const char *script, const struct operation *list,
    size_t count, struct figures *figures)
{
    uint64_t *words = calloc(count + 1, sizeof(*words));
    if (words == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        words[i] = operation_word(&list[i]);
    }
    char no_ini[] = "-n";
    char define[] = "-d";
    char no_limit[] = "memory_limit=-1";
    char errors[] = "display_errors=stderr";
    char *arguments[] = {
        (char *)php, no_ini, define, no_limit, define, errors, (char *)script, NULL};
    struct child_job job = {.arguments = arguments,
        .input = words,
        .input_bytes = count * sizeof(*words),
        .output = figures,
        .output_capacity = (count + 1) * sizeof(*figures)};
    int error = child_run(&job);
    if (error == -EPIPE ||
        (error == 0 && (job.exit_code != 0 || job.output_bytes != job.output_capacity))) {
        error = -EPROTO;
    }
    free(words);
    return error;
}
