/*
 * arena-churn: number of arenas against resident memory, for the same jobs on a pool of
 * threads and on a fresh thread for each. See README.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "churn_work.h"
#include "guard.h"
#include "look.h"
#include "settings.h"
#include "subject.h"

enum {
    PERCENT = 100,
    WAYS = 5,
    WORDS = 8,
    WORD_BYTES = 32,
    LINE_BYTES = 128,
    MANY_ARENAS = 2,
    END_MS = 5000,
    MOST_OVERHEAD_PERCENT =
        40, /* of blocks of at least 48 bytes, caches of threads included */
    DEFAULT_JOBS = 12000,
    DEFAULT_THREADS = 32,
    DEFAULT_LARGEST_KIB = 12 * 1024,
};

/* In the order of the table. */
static const struct way {
    const char *name;
    const char *variable; /* of the environment, or NULL */
    int64_t most_arenas;  /* 0: any number */
    const char *rule;     /* which predicts what it saves, or NULL */
} ways[WAYS] = {
    {"default", NULL, 0, NULL},
    {"trim 1 MiB", "MALLOC_TRIM_THRESHOLD_=1048576", 0, "glibc-mmap-threshold"},
    {"arena_max 4", "MALLOC_ARENA_MAX=4", 4, NULL},
    {"arena_max 2", "MALLOC_ARENA_MAX=2", 2, "glibc-arenas"},
    {"arena_max 1", "MALLOC_ARENA_MAX=1", 1, NULL},
};

/* Predictions, counted over all series. */
struct judged {
    int64_t judged;
    int64_t within;
    int64_t width_percent; /* of the gap, summed */
};

struct churn {
    int64_t jobs;
    int64_t threads;
    int64_t largest_kib;
    int64_t hold_ms;
    int64_t row_kib;
    int64_t repeat;
    const char *keep;
    bool check;
    int64_t differences;
    struct judged judged[WAYS];
};

struct run {
    int64_t tracked; /* by the program itself */
    struct look look;
};

static void expect(struct churn *churn, bool met, const char *what)
{
    if (!met) {
        printf("  DIFFERS: %s\n", what);
        churn->differences++;
    }
}

/* Starts the work in this way, waits until it is done, looks, and ends it. */
static void run_work(struct run *run, const struct churn *churn, bool fresh,
    const struct way *way, const char *capture)
{
    char words[WORDS][WORD_BYTES], setting[LINE_BYTES], line[LINE_BYTES];
    const char *const arguments[] = {"/proc/self/exe", "work", words[0], words[1],
        words[2], words[3], words[4], words[5], NULL};
    char *const environment[] = {setting, NULL};
    const struct subject_start start = {.arguments = arguments,
        .environment = way->variable != NULL ? environment : NULL};
    struct subject subject;

    (void)snprintf(words[0], WORD_BYTES, "jobs=%" PRId64, churn->jobs);
    (void)snprintf(words[1], WORD_BYTES, "threads=%" PRId64, churn->threads);
    (void)snprintf(words[2], WORD_BYTES, "fresh=%d", fresh ? 1 : 0);
    (void)snprintf(words[3], WORD_BYTES, "largest=%" PRId64, churn->largest_kib);
    (void)snprintf(words[4], WORD_BYTES, "hold=%" PRId64, churn->hold_ms);
    (void)snprintf(words[5], WORD_BYTES, "row=%" PRId64, churn->row_kib);
    (void)snprintf(
        setting, sizeof(setting), "%s", way->variable != NULL ? way->variable : "");
    const int error = subject_begin(&subject, &start);
    if (error != 0) {
        lab_die_of("cannot run", arguments[0], -error);
    }
    if (!subject_line(&subject, line, sizeof(line)) || strncmp(line, "ready ", 6) != 0) {
        lab_die("the work did not come to its end");
    }
    run->tracked = strtoll(line + 6, NULL, 10);
    look_at(&run->look, subject.pid, capture);
    (void)subject_end(&subject, END_MS);
}

static void check_run(struct churn *churn, const struct run *run, const struct way *way)
{
    const struct look *look = &run->look;
    const int64_t most =
        run->tracked + run->tracked / 100 * MOST_OVERHEAD_PERCENT + LAB_MIB;

    expect(churn, way->most_arenas == 0 || look->arenas <= way->most_arenas,
        "strata counts more arenas than the cap allows");
    expect(churn,
        way->most_arenas != 0 || look->arenas > MANY_ARENAS ||
            churn->threads <= MANY_ARENAS,
        "without a cap there are no more than two arenas");
    expect(churn, look->in_use >= run->tracked && look->in_use <= most,
        "in use does not fit what the program asked for");
    expect(churn, look->held >= look->in_use, "held is less than in use");
}

static void judge(struct judged *judged, const struct run *before,
    struct look_range range, int64_t saved)
{
    const int64_t gap = before->look.resident - before->tracked;

    judged->judged++;
    judged->within += saved >= range.low && saved <= range.high;
    judged->width_percent += gap > 0 ? (range.high - range.low) * PERCENT / gap : 0;
}

static void print_run(
    struct churn *churn, const struct run *before, const struct run *run, size_t number)
{
    const struct way *way = &ways[number];
    const struct look_range range = way->rule != NULL
                                        ? look_predicted(&before->look, way->rule)
                                        : (struct look_range){.known = false};
    const int64_t saved = before->look.resident - run->look.resident;
    char predicted[2 * LAB_CELL_BYTES] = "-";

    if (range.known) {
        (void)snprintf(predicted, sizeof(predicted), "%s-%s",
            lab_mebibytes(range.low).text, lab_mebibytes(range.high).text);
        judge(&churn->judged[number], before, range, saved);
    }
    printf("  %-17s %7" PRId64 " %9s %9s %9s %9s %9s %15s\n", way->name, run->look.arenas,
        lab_mebibytes(run->tracked).text, lab_mebibytes(run->look.in_use).text,
        lab_mebibytes(run->look.held).text, lab_mebibytes(run->look.resident).text,
        lab_mebibytes(way->variable != NULL ? saved : LAB_UNKNOWN).text, predicted);
    (void)fflush(stdout);
}

static void run_series(struct churn *churn, bool fresh, int64_t number)
{
    struct run runs[WAYS];

    printf("\n%-19s %7s %9s %9s %9s %9s %9s %15s\n",
        fresh ? "a thread for a job" : "a pool of threads", "arenas", "tracked", "in use",
        "held", "resident", "saved", "predicted");
    for (size_t i = 0; i < WAYS; i++) {
        char path[GUARD_PATH_BYTES];
        if (churn->keep != NULL) {
            (void)snprintf(path, sizeof(path), "%s/%s-%" PRId64 "-%zu.strata",
                churn->keep, fresh ? "fresh" : "pool", number, i);
        }
        run_work(&runs[i], churn, fresh, &ways[i], churn->keep != NULL ? path : NULL);
        print_run(churn, &runs[0], &runs[i], i);
        check_run(churn, &runs[i], &ways[i]);
    }
    for (size_t i = 0; i < WAYS; i++) {
        look_release(&runs[i].look);
    }
}

int main(int count, char **arguments)
{
    struct churn churn = {.jobs = DEFAULT_JOBS,
        .threads = DEFAULT_THREADS,
        .largest_kib = DEFAULT_LARGEST_KIB,
        .hold_ms = 1,
        .row_kib = 2,
        .repeat = 1};
    const struct setting settings[] = {
        {"jobs", &churn.jobs, NULL, 1, 100000000, "in each run"},
        {"threads", &churn.threads, NULL, 1, 512, "at once"},
        {"largest", &churn.largest_kib, NULL, 2048, 1 << 20,
            "job in KiB, one in a hundred"},
        {"row", &churn.row_kib, NULL, 1, 65536, "largest row of a job in KiB"},
        {"hold", &churn.hold_ms, NULL, 0, 1000, "ms with the result in memory"},
        {"repeat", &churn.repeat, NULL, 1, 1000, "series"},
        {"keep", NULL, &churn.keep, 0, 0, "folder for a capture of each run"},
    };
    struct guard guard;

    if (count > 1 && strcmp(arguments[1], "work") == 0) {
        return churn_work(count - 1, arguments + 1);
    }
    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), &churn.check);
    guard_enter(&guard);
    printf("arena-churn: arenas against resident memory, MiB; %" PRId64 " jobs, %" PRId64
           " at once\n",
        churn.jobs, churn.threads);
    for (int64_t number = 0; number < churn.repeat; number++) {
        run_series(&churn, false, number);
        run_series(&churn, true, number);
    }
    for (size_t i = 0; i < WAYS; i++) {
        const struct judged *judged = &churn.judged[i];
        if (judged->judged > 0) {
            printf("%s: %" PRId64 " of %" PRId64
                   " in the predicted range, which is %" PRId64 " %% of the gap wide\n",
                ways[i].name, judged->within, judged->judged,
                judged->width_percent / judged->judged);
        }
    }
    return churn.check && churn.differences > 0 ? LAB_EXIT_DIFFERENT : 0;
}
