/*
 * Compares a heap in the `zend` layout with PHP's own allocator, step by step.
 *
 * usage: oracle PHP SCRIPT SEED COUNT [--minimise]
 *
 * Makes COUNT operations from SEED, lets PHP and our heap carry them out, and compares
 * the change of used, real and both peaks since the start after every single one. All
 * must be equal. With --minimise a failing list is shortened as long as it still fails
 * and then printed as PHP.
 *
 * Exit: 0 all equal, 1 a difference, 2 wrong usage or PHP missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "mremap_filter.h"
#include "operation.h"
#include "replay.h"

enum { EXIT_EQUAL = 0, EXIT_DIFFERENT = 1, EXIT_UNUSABLE = 2, LINE_BYTES = 120 };
enum { LARGEST_COUNT = 10000, LINES_BEFORE = 5 };

struct oracle {
    const char *php;
    const char *script;
    struct figures *engine; /* of the last comparison, as is replay */
    struct figures *replay;
};

static struct figures figures_since(
    const struct figures *start, const struct figures *now)
{
    return (struct figures){.used = now->used - start->used,
        .real = now->real - start->real,
        .peak_used = now->peak_used - start->peak_used,
        .peak_real = now->peak_real - start->peak_real,
        .collected = now->collected};
}

static bool figures_equal(const struct figures *a, const struct figures *b)
{
    return a->used == b->used && a->real == b->real && a->peak_used == b->peak_used &&
           a->peak_real == b->peak_real && a->collected == b->collected;
}

static bool oracle_step_equal(const struct oracle *oracle, size_t step)
{
    struct figures engine = figures_since(&oracle->engine[0], &oracle->engine[step]);
    struct figures replay = figures_since(&oracle->replay[0], &oracle->replay[step]);
    return figures_equal(&engine, &replay);
}

static _Noreturn void die_engine(const struct oracle *oracle, int error)
{
    if (error == -ENOENT) {
        fprintf(stderr,
            "oracle: cannot run '%s': not found, install the package php8.2-cli\n",
            oracle->php);
    } else {
        fprintf(stderr, "oracle: '%s %s' failed: %s\n", oracle->php, oracle->script,
            strerror(-error));
    }
    exit(EXIT_UNUSABLE);
}

/* Runs both sides; the first step which differs, or 0 when all are equal. */
static size_t oracle_compare(
    struct oracle *oracle, const struct operation *list, size_t count)
{
    int error = engine_run(oracle->php, oracle->script, list, count, oracle->engine);
    if (error != 0) {
        die_engine(oracle, error);
    }
    error = replay_run(list, count, oracle->replay);
    if (error != 0) {
        fprintf(stderr, "oracle: the heap refused an operation: %s\n", strerror(-error));
        exit(EXIT_DIFFERENT);
    }
    for (size_t step = 1; step <= count; step++) {
        if (!oracle_step_equal(oracle, step)) {
            return step;
        }
    }
    return 0;
}

static void print_operation(size_t step, const struct operation *operation)
{
    char line[LINE_BYTES];
    operation_describe(operation, line, sizeof(line));
    printf("%6zu  %s\n", step, line);
}

static void print_figures(const char *who, const struct figures *figures)
{
    printf("        %-6s used %+" PRId64 "  real %+" PRId64 "  peak used %+" PRId64
           "  peak real %+" PRId64 "  collected %" PRId64 "\n",
        who, figures->used, figures->real, figures->peak_used, figures->peak_real,
        figures->collected);
}

static void print_step(const struct oracle *oracle, size_t step)
{
    struct figures engine = figures_since(&oracle->engine[0], &oracle->engine[step]);
    struct figures replay = figures_since(&oracle->replay[0], &oracle->replay[step]);
    print_figures("php", &engine);
    print_figures("ours", &replay);
}

static void print_difference(
    const struct oracle *oracle, const struct operation *list, size_t step)
{
    size_t first = step > LINES_BEFORE ? step - LINES_BEFORE : 1;
    for (size_t i = first; i <= step; i++) {
        print_operation(i, &list[i - 1]);
        print_step(oracle, i);
    }
}

/*
 * Takes out ever smaller stretches for as long as the list still fails. Returns the new
 * count. What follows the first difference is dropped at once.
 */
static size_t oracle_minimise(
    struct oracle *oracle, struct operation *list, size_t count, struct operation *trial)
{
    for (size_t stretch = count / 2; stretch > 0; stretch /= 2) {
        for (size_t at = 0; at + stretch <= count;) {
            size_t rest = count - at - stretch;
            memcpy(trial, list, at * sizeof(*list));
            memcpy(trial + at, list + at + stretch, rest * sizeof(*list));
            size_t length = operation_list_repair(trial, at + rest);
            size_t failed = oracle_compare(oracle, trial, length);
            if (failed == 0) {
                at += stretch;
                continue;
            }
            count = failed;
            memcpy(list, trial, count * sizeof(*list));
        }
    }
    return count;
}

static int oracle_report(struct oracle *oracle, struct operation *list, size_t count,
    size_t failed, bool minimise)
{
    if (failed == 0) {
        printf("%zu of %zu steps equal\n", count, count);
        return EXIT_EQUAL;
    }
    size_t equal = 0;
    for (size_t step = 1; step <= count; step++) {
        equal += oracle_step_equal(oracle, step) ? 1 : 0;
    }
    printf("%zu of %zu steps equal; the first difference is at step %zu:\n", equal, count,
        failed);
    print_difference(oracle, list, failed);
    if (minimise) {
        struct operation *trial = calloc(count, sizeof(*trial));
        if (trial == NULL) {
            return EXIT_UNUSABLE;
        }
        count = oracle_minimise(oracle, list, failed, trial);
        free(trial);
        oracle_compare(oracle, list, count);
        printf("the shortest list found which fails:\n");
        for (size_t step = 1; step <= count; step++) {
            print_operation(step, &list[step - 1]);
        }
        print_step(oracle, count);
    }
    return EXIT_DIFFERENT;
}

/* A number from 1 to limit, or 0. */
static size_t parse_count(const char *text, size_t limit)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && value <= limit ? value : 0;
}

int main(int count_arguments, char **arguments)
{
    bool minimise = count_arguments == 6 && strcmp(arguments[5], "--minimise") == 0;
    size_t seed = count_arguments >= 5 ? parse_count(arguments[3], SIZE_MAX) : 0;
    size_t count = count_arguments >= 5 ? parse_count(arguments[4], LARGEST_COUNT) : 0;
    if (seed == 0 || count == 0 || (count_arguments != 5 && !minimise)) {
        fprintf(stderr, "usage: oracle PHP SCRIPT SEED COUNT [--minimise]; COUNT is at "
                        "most 10000\n");
        return EXIT_UNUSABLE;
    }
    int error = mremap_filter_install();
    if (error != 0) {
        fprintf(stderr, "oracle: cannot install the filter for 'mremap': %s\n",
            strerror(-error));
        return EXIT_UNUSABLE;
    }
    struct operation *list = calloc(count, sizeof(*list));
    struct oracle oracle = {.php = arguments[1],
        .script = arguments[2],
        .engine = calloc(count + 1, sizeof(struct figures)),
        .replay = calloc(count + 1, sizeof(struct figures))};
    int result = EXIT_UNUSABLE;
    if (list != NULL && oracle.engine != NULL && oracle.replay != NULL) {
        operation_list_generate(list, count, seed);
        size_t failed = oracle_compare(&oracle, list, count);
        result = oracle_report(&oracle, list, count, failed, minimise);
    }
    free(list);
    free(oracle.engine);
    free(oracle.replay);
    return result;
}
