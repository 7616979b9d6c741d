/*
 * advice.c - several rules look at the same free memory, each with a change of its own. An
 * operator makes one of them: after a cap on arenas there is little left for thresholds to give
 * back, and the other way round. So a rule names the bytes it would give back (struct rule,
 * bytes), and of each kind one finding is chosen.
 *
 * The weights say how far the middle of a range is worth its word. A change that does not last
 * (malloc_trim once) counts half: the memory comes back with the load.
 */
#include "findings/advice.h"

#include "base/number.h"

enum { MOST_OF_A_COUNT = 100, ONCE_PERCENT = 50 };

static const uint64_t weight_percent[] = {
    [CONFIDENCE_MEASURED] = 100, [CONFIDENCE_LIKELY] = 85, [CONFIDENCE_ROUGH] = 60};

uint64_t advice_expected_bytes(const struct finding *finding)
{
    uint64_t expected;

    if (!finding->predicts) {
        return 0;
    }
    expected = number_subtract(
        finding->predicted_low_bytes / 2 + finding->predicted_high_bytes / 2,
        finding->predicted_cost_bytes / 2);
    expected = expected / MOST_OF_A_COUNT * weight_percent[finding->confidence];
    return finding->rule->once ? expected / MOST_OF_A_COUNT * ONCE_PERCENT : expected;
}

/* Findings on bytes that no other rule gives back compete with none, not even of their rule. */
static bool competes(const struct finding *a, const struct finding *b)
{
    return a == b || (a->rule->bytes != BYTES_OWN && a->rule->bytes == b->rule->bytes);
}

/* The best of those that compete with this one, and whether one of them is a warning. */
static const struct finding *best_of(
    const struct finding_list *list, const struct finding *one, bool *warns)
{
    const struct finding *best = one;

    *warns = false;
    for (size_t i = 0; i < list->count; i++) {
        const struct finding *other = &list->items[i];
        if (!competes(one, other) || !other->predicts) {
            continue;
        }
        *warns = *warns || other->severity >= SEVERITY_WARN;
        if (advice_expected_bytes(other) > advice_expected_bytes(best)) {
            best = other;
        }
    }
    return best;
}

/* Keeps the order; the least drops out of a full list. */
static void insert(struct advice *advice, const struct finding *finding)
{
    const uint64_t bytes = advice_expected_bytes(finding);
    size_t at = advice->count;

    while (at > 0 && advice_expected_bytes(advice->first[at - 1]) < bytes) {
        at--;
    }
    if (at == ADVICE_MAX) {
        return;
    }
    if (advice->count < ADVICE_MAX) {
        advice->count++;
    }
    for (size_t i = advice->count - 1; i > at; i--) {
        advice->first[i] = advice->first[i - 1];
    }
    advice->first[at] = finding;
}

const struct finding *advice_instead(
    const struct advice *advice, const struct finding *finding)
{
    for (size_t i = 0; i < advice->count; i++) {
        if (competes(finding, advice->first[i])) {
            return advice->first[i];
        }
    }
    return NULL;
}

void advice_of(const struct finding_list *list, struct advice *advice)
{
    *advice = (struct advice){.confidence = CONFIDENCE_MEASURED};
    for (size_t i = 0; i < list->count; i++) {
        const struct finding *finding = &list->items[i];
        bool warns;

        if (advice_expected_bytes(finding) > 0 &&
            best_of(list, finding, &warns) == finding && warns &&
            advice_instead(advice, finding) == NULL) {
            insert(advice, finding);
        }
    }
    for (size_t i = 0; i < advice->count && advice->first[i] != NULL; i++) {
        const struct finding *finding = advice->first[i];
        advice->low_bytes = number_add(advice->low_bytes, finding->predicted_low_bytes);
        advice->high_bytes =
            number_add(advice->high_bytes, finding->predicted_high_bytes);
        if (finding->confidence > advice->confidence) {
            advice->confidence = finding->confidence;
        }
    }
}
