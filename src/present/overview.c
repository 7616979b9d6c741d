/*
 * overview.c - the order of rows, which text and JSON share.
 *
 * The order is total (size, name, pid), so the same facts give the same bytes. A target
 * whose resident set is not known comes last: it is not known to be large.
 */
#include "present/overview.h"

#include <stdlib.h>
#include <string.h>

#include "present/header_text.h"

static int64_t resident(const struct overview_row *row)
{
    const struct layer *layer = &row->snapshot.layers[LAYER_RESIDENT];

    return layer->state == FACT_OK || layer->state == FACT_STALE ? layer->bytes : -1;
}

static int32_t first_pid(const struct overview_row *row)
{
    const struct facts *facts = row->snapshot.facts;

    return facts->process_count > 0 ? facts->processes[0].pid : 0;
}

static int by_size(const void *left, const void *right)
{
    const struct overview_row *a = left;
    const struct overview_row *b = right;

    if (resident(a) != resident(b)) {
        return resident(a) < resident(b) ? 1 : -1;
    }
    int order = strcmp(target_name(a->snapshot.facts), target_name(b->snapshot.facts));
    return order != 0 ? order
                      : (first_pid(a) > first_pid(b)) - (first_pid(a) < first_pid(b));
}

void overview_sort(struct overview *overview)
{
    if (overview->count > 1) {
        qsort(overview->rows, overview->count, sizeof(*overview->rows), by_size);
    }
}
