/*
 * report.c - what the trials say, in a table and a picture. In the picture each series is
 * scaled to its own row "before", so that the published case can stand beside it.
 */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base.h"
#include "chart.h"

enum {
    ARENAS_WIDTH = 7,
    THREADS_WIDTH = 8,
    COST_WIDTH = 9,
    PERCENT = 100,
    PUBLISHED_BARS = 2,
    TITLE_BYTES = 64,
};

/* The published case, MiB: 1.17 GiB before; both settings: 550 to 650, 620 after 46 hours. */
static const double published_before = 1198.0;
static const double published_low = 550.0;
static const double published_high = 650.0;
static const double published_after = 620.0;

void report_head(const struct views *views)
{
    printf("\n%" PRId64 " page views by %" PRId64 " clients, MiB\n", views->pages,
        views->clients);
    printf("%-21s %8s %8s %8s %8s %8s %8s %8s %15s %7s %8s %9s\n", "", "tracked",
        "in use", "held", "idle", "peak", "after", "saved", "predicted", "arenas",
        "threads", "us/view");
}

static void print_count(int width, int64_t count)
{
    if (count == LAB_UNKNOWN) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*" PRId64, width, count);
    }
}

/* From the state that strata saw to what stands for the same moment after the change. */
static int64_t saved_by(const struct trial *before, const struct trial *trial)
{
    return before->last - trial->after;
}

void report_row(const struct trial *before, const struct trial *trial, enum way way)
{
    const struct look_range range = trial_predicted(before, way);
    char predicted[2 * LAB_CELL_BYTES] = "-";

    if (!trial->measured) {
        printf("%-21s missing: %s\n", way_name(way), trial->missing);
        return;
    }
    if (range.known) {
        (void)snprintf(predicted, sizeof(predicted), "%s-%s",
            lab_mebibytes(range.low).text, lab_mebibytes(range.high).text);
    }
    printf("%-21s %8s %8s %8s %8s %8s %8s %8s %15s", way_name(way),
        lab_mebibytes(trial->server_says).text, lab_mebibytes(trial->look.in_use).text,
        lab_mebibytes(trial->look.held).text, lab_mebibytes(trial->idle).text,
        lab_mebibytes(trial->peak).text, lab_mebibytes(trial->after).text,
        lab_mebibytes(way == WAY_BEFORE ? LAB_UNKNOWN : saved_by(before, trial)).text,
        predicted);
    print_count(ARENAS_WIDTH, trial->look.arenas);
    print_count(THREADS_WIDTH, trial->threads_created);
    print_count(COST_WIDTH, trial->cpu_us_per_view);
    printf("\n");
    (void)fflush(stdout);
}

void report_judge(struct report *report, const struct trial *before,
    const struct trial *trial, enum way way)
{
    const struct look_range range = trial_predicted(before, way);

    if (!range.known || !trial->measured) {
        return;
    }
    const int64_t saved = saved_by(before, trial);
    const int64_t gap = before->last - before->server_says;
    report->judged[way]++;
    const bool nothing = range.low == 0 && saved < 0;
    report->within[way] += (saved >= range.low || nothing) && saved <= range.high;
    report->nothing[way] += nothing;
    report->saved[way] += saved;
    report->width_percent[way] += gap > 0 ? (range.high - range.low) * PERCENT / gap : 0;
}

void report_end(const struct report *report)
{
    printf("\n");
    for (int way = 0; way < WAYS; way++) {
        const int64_t judged = report->judged[way];
        if (judged > 0) {
            printf("%-21s %" PRId64 " of %" PRId64 " in the predicted range (%" PRId64
                   " saved nothing), which is %" PRId64
                   " %% of the gap wide; %s MiB saved on average\n",
                way_name((enum way)way), report->within[way], judged,
                report->nothing[way], report->width_percent[way] / judged,
                lab_mebibytes(report->saved[way] / judged).text);
        }
    }
}

static void fill_bar(struct chart_bar *bar, const struct trial *before,
    const struct trial *trial, enum way way)
{
    const struct look_range range = trial_predicted(before, way);
    const double whole = (double)before->last;

    *bar = (struct chart_bar){.value = -1.0};
    (void)snprintf(bar->label, sizeof(bar->label), "%s", way_name(way));
    (void)snprintf(bar->note, sizeof(bar->note), "not installed");
    if (!trial->measured || before->last <= 0) {
        return;
    }
    bar->value = (double)trial->after / whole;
    bar->has_range = range.known;
    bar->low = ((double)before->last - (double)range.high) / whole;
    bar->high = ((double)before->last - (double)range.low) / whole;
    (void)snprintf(
        bar->note, sizeof(bar->note), "%s MiB", lab_mebibytes(trial->after).text);
}

int report_plot(const char *path, const struct report_series *series, size_t count)
{
    struct chart_bar bars[REPORT_SERIES][WAYS];
    char titles[REPORT_SERIES][TITLE_BYTES];
    struct chart_group groups[REPORT_SERIES + 1];
    const struct chart_bar published[PUBLISHED_BARS] = {
        {.label = "before", .note = "1.17 GiB", .value = 1.0},
        {.label = "both",
            .note = "550 to 650 MiB",
            .value = published_after / published_before,
            .has_range = true,
            .low = published_low / published_before,
            .high = published_high / published_before},
    };

    for (size_t i = 0; i < count; i++) {
        for (int64_t way = 0; way < series[i].ways; way++) {
            fill_bar(&bars[i][way], &series[i].trials[0], &series[i].trials[way],
                (enum way)way);
        }
        (void)snprintf(
            titles[i], sizeof(titles[i]), "%" PRId64 " clients", series[i].clients);
        groups[i] = (struct chart_group){
            .title = titles[i], .bars = bars[i], .count = (size_t)series[i].ways};
    }
    groups[count] =
        (struct chart_group){.title = "published: MySQL 8.0.32, its range of peaks",
            .bars = published,
            .count = PUBLISHED_BARS};
    return chart_write(path,
        "Resident after the load, of what it was before; orange: predicted", groups,
        count + 1);
}
