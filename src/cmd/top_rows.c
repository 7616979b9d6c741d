/*
 * top_rows.c - rows of the overview, with what looks inside of them told, and their processes.
 *
 * A line shows the layers of the last look inside, so that they belong together; the resident
 * set of a single process, which each look at the host tells anew, is the newer one.
 */
#include "cmd/top_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "present/top_text.h"

static bool is_known(const struct layer *layer)
{
    return layer->state == FACT_OK || layer->state == FACT_STALE;
}

static void merge_layers(const struct watch_row *row, struct layer *layers)
{
    const struct layer *plain = row->plain->snapshot.layers;
    const bool single = row->plain->snapshot.facts->process_count == 1;

    for (int id = 0; id < LAYER_COUNT; id++) {
        const struct layer *looked = row->look != NULL ? &row->look->layers[id] : NULL;
        const bool newer =
            id == LAYER_CHARGED || (single && (id == LAYER_RESIDENT || id == LAYER_PSS));
        layers[id] = plain[id];
        if (looked != NULL && is_known(looked) && !(newer && is_known(&plain[id]))) {
            layers[id] = *looked;
        }
    }
}

static size_t add_members(const struct watch_row *row, const struct overview_line *line,
    struct overview_line *lines)
{
    const struct snapshot *snapshot = &row->plain->snapshot;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        lines[i] = (struct overview_line){
            .name = process->title != NULL ? process->title : process->name,
            .row = line->row,
            .pid = process->pid,
            .processes = 1,
            .member = true,
            .bill = BILL_HOST,
            .layers = snapshot->members[i].layers};
    }
    return snapshot->member_count;
}

static size_t count_lines(const struct watch_moment *moment)
{
    size_t count = 0;

    for (size_t i = 0; i < moment->count; i++) {
        count += 1 + moment->rows[i].plain->snapshot.member_count;
    }
    return count;
}

int top_rows_arrange(const struct top_choice *choice, struct top_rows *rows)
{
    const struct watch_moment *moment = &rows->moment;
    struct overview_line *all = calloc(moment->count + 1, sizeof(*all));
    struct overview_line *lines = calloc(count_lines(moment) + 1, sizeof(*lines));
    size_t count = 0;

    if (all == NULL || lines == NULL) {
        free(all);
        free(lines);
        return -ENOMEM;
    }
    if (moment->overview != NULL) {
        overview_lines_fill(moment->overview, all);
    }
    for (size_t i = 0; i < moment->count; i++) {
        const struct watch_row *row = &moment->rows[i];
        if (!top_filter_matches(all[i].name, choice->filter)) {
            continue;
        }
        struct overview_line *line = &lines[count++];
        *line = all[i];
        line->layers = &rows->layers[i * LAYER_COUNT];
        line->list =
            row->look != NULL ? watch_look_findings(row->look) : &row->plain->list;
        line->unfolded = line->processes > 1 && top_choice_is_unfolded(choice, row->key);
        if (line->unfolded) {
            count += add_members(row, line, &lines[count]);
        }
    }
    top_sort_lines(lines, count, choice->sort, choice->reversed);
    free(all);
    free(rows->lines);
    rows->lines = lines;
    rows->count = count;
    return 0;
}

int top_rows_take(
    struct watch *watch, const struct top_choice *choice, struct top_rows *rows)
{
    *rows = (struct top_rows){.count = 0};
    int rc = watch_take(watch, &rows->moment);

    if (rc != 0) {
        return rc;
    }
    rows->layers = calloc(rows->moment.count + 1, LAYER_COUNT * sizeof(*rows->layers));
    if (rows->layers == NULL) {
        top_rows_release(rows);
        return -ENOMEM;
    }
    for (size_t i = 0; i < rows->moment.count; i++) {
        merge_layers(&rows->moment.rows[i], &rows->layers[i * LAYER_COUNT]);
    }
    rc = top_rows_arrange(choice, rows);
    if (rc != 0) {
        top_rows_release(rows);
    }
    return rc;
}

void top_rows_release(struct top_rows *rows)
{
    free(rows->lines);
    free(rows->layers);
    watch_moment_release(&rows->moment);
    *rows = (struct top_rows){.count = 0};
}

const struct watch_row *top_rows_of(const struct top_rows *rows, size_t line)
{
    return &rows->moment.rows[rows->lines[line].row];
}

bool top_choice_is_unfolded(const struct top_choice *choice, const char *key)
{
    for (size_t i = 0; i < TOP_UNFOLDED_MAX; i++) {
        if (choice->unfolded[i] != NULL && strcmp(choice->unfolded[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static void unfold(struct top_choice *choice, const char *key)
{
    for (size_t i = 0; i < TOP_UNFOLDED_MAX; i++) {
        if (choice->unfolded[i] == NULL) {
            choice->unfolded[i] = strdup(key);
            return;
        }
    }
}

void top_choice_fold(struct top_choice *choice, const char *key, bool unfolded)
{
    if (unfolded && !top_choice_is_unfolded(choice, key)) {
        unfold(choice, key);
    }
    for (size_t i = 0; !unfolded && i < TOP_UNFOLDED_MAX; i++) {
        if (choice->unfolded[i] != NULL && strcmp(choice->unfolded[i], key) == 0) {
            free(choice->unfolded[i]);
            choice->unfolded[i] = NULL;
        }
    }
}

void top_choice_release(struct top_choice *choice)
{
    for (size_t i = 0; i < TOP_UNFOLDED_MAX; i++) {
        free(choice->unfolded[i]);
        choice->unfolded[i] = NULL;
    }
}
