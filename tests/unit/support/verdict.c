/*
 * verdict.c - a small language for expected answers, so that a new case is a file.
 */
#include "verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"

enum { LINE_MAX_BYTES = 400, MAX_WORDS = 4 };

/* A line cut into words; the last one takes the rest when there are more. */
struct words {
    char line[LINE_MAX_BYTES];
    char *word[MAX_WORDS];
    size_t count;
};

static void split(struct words *words, const char *line, size_t bytes, size_t most)
{
    char *next = words->line;

    bytes = bytes < LINE_MAX_BYTES - 1 ? bytes : LINE_MAX_BYTES - 1;
    memcpy(words->line, line, bytes);
    words->line[bytes] = '\0';
    words->count = 0;
    while (words->count < most) {
        next += strspn(next, " ");
        if (*next == '\0') {
            return;
        }
        words->word[words->count++] = next;
        if (words->count < most) {
            next += strcspn(next, " ");
            if (*next != '\0') {
                *next++ = '\0';
            }
        }
    }
}

static const struct finding *find(const struct finding_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].rule->id, id) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

struct judge {
    const struct snapshot *snapshot;
    const struct finding_list *list;
    struct error *error;
    struct words words;
};

static int wrong(struct judge *judge, const char *found)
{
    return error_set(judge->error, -EINVAL, "expected '%s %s %s', found %s",
        judge->words.word[0], judge->words.count > 1 ? judge->words.word[1] : "",
        judge->words.count > 2 ? judge->words.word[2] : "", found);
}

static int wrong_number(struct judge *judge, int64_t found)
{
    return error_set(judge->error, -EINVAL, "'%s %s %s': found %" PRId64,
        judge->words.word[0], judge->words.word[1],
        judge->words.count > 2 ? judge->words.word[2] : "", found);
}

/* The number in a word; a mistake in the file is a failure of its line. */
static int number_of(struct judge *judge, size_t index, uint64_t *value)
{
    if (judge->words.count <= index ||
        number_parse(judge->words.word[index], value) != 0) {
        return wrong(judge, "no number in the expectation");
    }
    return 0;
}

static int check_says(struct judge *judge, const struct finding *finding)
{
    if (finding == NULL) {
        return wrong(judge, "that it is silent");
    }
    if (judge->words.count < 3 ||
        strcmp(severity_names[finding->severity], judge->words.word[2]) != 0) {
        return wrong(judge, severity_names[finding->severity]);
    }
    return 0;
}

static int check_evidence(struct judge *judge, const struct finding *finding)
{
    uint64_t value = 0;
    int rc = number_of(judge, 3, &value);

    for (size_t i = 0; rc == 0 && finding != NULL && i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, judge->words.word[2]) == 0) {
            return finding->evidence[i].value == (int64_t)value
                       ? 0
                       : wrong_number(judge, finding->evidence[i].value);
        }
    }
    return rc != 0 ? rc : wrong(judge, "no such evidence");
}

static int check_predicted(struct judge *judge, const struct finding *finding)
{
    uint64_t low = 0;
    uint64_t high = 0;
    int rc = number_of(judge, 2, &low);

    if (rc == 0) {
        rc = number_of(judge, 3, &high);
    }
    if (rc != 0) {
        return rc;
    }
    if (finding == NULL || !finding->predicts) {
        return wrong(judge, "no prediction");
    }
    if (finding->predicted_low_bytes != low) {
        return wrong_number(judge, (int64_t)finding->predicted_low_bytes);
    }
    return finding->predicted_high_bytes == high
               ? 0
               : wrong_number(judge, (int64_t)finding->predicted_high_bytes);
}

static int check_predicts_around(struct judge *judge, const struct finding *finding)
{
    uint64_t value = 0;
    const int rc = number_of(judge, 2, &value);

    if (rc != 0) {
        return rc;
    }
    if (finding == NULL || !finding->predicts) {
        return wrong(judge, "no prediction");
    }
    if (value < finding->predicted_low_bytes) {
        return wrong_number(judge, (int64_t)finding->predicted_low_bytes);
    }
    return value <= finding->predicted_high_bytes
               ? 0
               : wrong_number(judge, (int64_t)finding->predicted_high_bytes);
}

static int check_never(struct judge *judge)
{
    for (size_t i = 0; i < judge->list->count; i++) {
        if (strstr(judge->list->items[i].fix, judge->words.word[1]) != NULL) {
            return wrong(judge, judge->list->items[i].fix);
        }
    }
    return 0;
}

static int check_rule_line(struct judge *judge)
{
    const char *what = judge->words.word[0];
    const struct finding *finding = find(judge->list, judge->words.word[1]);

    if (rule_find(judge->words.word[1]) == NULL) {
        return wrong(judge, "no such rule");
    }
    if (strcmp(what, "says") == 0) {
        return check_says(judge, finding);
    }
    if (strcmp(what, "silent") == 0) {
        return finding == NULL ? 0 : wrong(judge, finding->summary);
    }
    if (strcmp(what, "evidence") == 0) {
        return check_evidence(judge, finding);
    }
    if (strcmp(what, "predicted") == 0) {
        return check_predicted(judge, finding);
    }
    if (strcmp(what, "predicts-around") == 0) {
        return check_predicts_around(judge, finding);
    }
    if (strcmp(what, "fix") == 0) {
        return finding != NULL && judge->words.count > 2 &&
                       strstr(finding->fix, judge->words.word[2]) != NULL
                   ? 0
                   : wrong(judge, finding != NULL ? finding->fix : "that it is silent");
    }
    return wrong(judge, "no such kind of line");
}

static const struct layer *layer_of(struct judge *judge)
{
    for (int id = 0; id < LAYER_COUNT; id++) {
        if (strcmp(layer_names[id], judge->words.word[1]) == 0) {
            return &judge->snapshot->layers[id];
        }
    }
    return NULL;
}

static int check_layer(struct judge *judge, bool part)
{
    const struct layer *layer = layer_of(judge);
    uint64_t value = 0;
    int64_t found;
    const int rc = number_of(judge, part ? 3 : 2, &value);

    if (rc != 0) {
        return rc;
    }
    if (layer == NULL) {
        return wrong(judge, "no such layer");
    }
    if (layer->state != FACT_OK && layer->state != FACT_STALE) {
        return wrong(judge, layer->source);
    }
    found = part ? (int64_t)layer_part_bytes(layer, judge->words.word[2]) : layer->bytes;
    return found == (int64_t)value ? 0 : wrong_number(judge, found);
}

static int check_container(struct judge *judge)
{
    const struct container_view *view = &judge->snapshot->container;
    const struct {
        const char *name;
        const struct fact *fact;
    } figures[] = {
        {"docker", &view->docker},
        {"docker_19", &view->docker_19},
        {"kubelet", &view->kubelet},
        {"podman", &view->podman},
        {"non_reclaimable", &view->non_reclaimable},
        {"headroom", &view->headroom},
    };
    uint64_t value = 0;
    const int rc = number_of(judge, 2, &value);

    for (size_t i = 0; rc == 0 && i < sizeof(figures) / sizeof(figures[0]); i++) {
        if (strcmp(figures[i].name, judge->words.word[1]) != 0) {
            continue;
        }
        if (figures[i].fact->state != FACT_OK && figures[i].fact->state != FACT_STALE) {
            return wrong(judge, fact_state_names[figures[i].fact->state]);
        }
        return figures[i].fact->value == value
                   ? 0
                   : wrong_number(judge, (int64_t)figures[i].fact->value);
    }
    return rc != 0 ? rc : wrong(judge, "no such figure");
}

static int check_line(struct judge *judge, const char *line, size_t bytes)
{
    const char *what;

    split(&judge->words, line, bytes, MAX_WORDS);
    if (judge->words.count == 0 || judge->words.word[0][0] == '#') {
        return 0;
    }
    what = judge->words.word[0];
    if (judge->words.count < 2) {
        return wrong(judge, "too few words");
    }
    if (strcmp(what, "fix") == 0) {
        split(&judge->words, line, bytes, 3);
    } else if (strcmp(what, "never") == 0) {
        split(&judge->words, line, bytes, 2);
        return check_never(judge);
    } else if (strcmp(what, "layer") == 0) {
        return check_layer(judge, false);
    } else if (strcmp(what, "part") == 0) {
        return check_layer(judge, true);
    } else if (strcmp(what, "container") == 0) {
        return check_container(judge);
    }
    return check_rule_line(judge);
}

/* A line of text says that rule speaks. */
static bool is_expected(const char *text, const char *id)
{
    const size_t length = strlen(id);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n");
        if (strncmp(line, "says ", 5) == 0 && strncmp(line + 5, id, length) == 0 &&
            line[5 + length] == ' ') {
            return true;
        }
        if (*line == '\0') {
            return false;
        }
    }
    return false;
}

int verdict_check(const char *text, const struct snapshot *snapshot,
    const struct finding_list *list, struct error *error)
{
    struct judge judge = {.snapshot = snapshot, .list = list, .error = error};

    for (const char *line = text; *line != '\0';) {
        const size_t bytes = strcspn(line, "\n");
        const int rc = check_line(&judge, line, bytes);

        if (rc != 0) {
            return rc;
        }
        line += bytes + (line[bytes] == '\n' ? 1 : 0);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!is_expected(text, list->items[i].rule->id)) {
            return error_set(error, -EINVAL, "'%s' speaks unexpectedly (%s): %s",
                list->items[i].rule->id, severity_names[list->items[i].severity],
                list->items[i].summary);
        }
    }
    return 0;
}
