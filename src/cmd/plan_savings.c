/*
 * plan_savings.c - from predictions for a pool to bytes of one worker.
 *
 * Only rules whose fix is a setting that lasts count: one that frees memory once does not
 * change how many workers fit. What is free and resident in the allocators is what an
 * allocator that gives whole free pages back would not keep; the whole of it is the upper end,
 * since some of it is needed again by the next request.
 */
#include "cmd/plan_savings.h"

#include <string.h>

static const struct saving_rule {
    const char *rule;
    const char *title;
    const char *how;
} lasting[] = {
    {"glibc-arenas", "a cap of 2 on malloc's arenas", "MALLOC_ARENA_MAX=2"},
    {"glibc-mmap-threshold", "malloc's thresholds fixed",
        "MALLOC_TRIM_THRESHOLD_=1048576"},
};
/* PHP maps its chunks itself unless it is told not to; gc_mem_caches() leaves those alone
 * that are kept for later requests. Only its own manager knows memory_limit. */
static const char zend_how[] =
    "LD_PRELOAD=libstrata-malloc.so USE_ZEND_ALLOC=0, without which it changes nothing; "
    "memory_limit then has no effect";
enum { LASTING_COUNT = sizeof(lasting) / sizeof(lasting[0]) };

static void add_saving(struct plan_input *input, const struct plan_saving *saving)
{
    if (input->saving_count < PLAN_MAX_SAVINGS && saving->high_bytes > 0) {
        input->savings[input->saving_count++] = *saving;
    }
}

void plan_savings(const struct finding_list *list, struct plan_input *input)
{
    const uint64_t workers = input->workers_now == 0 ? 1 : input->workers_now;

    for (size_t i = 0; i < list->count; i++) {
        const struct finding *finding = &list->items[i];
        for (int j = 0; finding->predicts && j < LASTING_COUNT; j++) {
            if (strcmp(finding->rule->id, lasting[j].rule) == 0) {
                add_saving(
                    input, &(struct plan_saving){.id = lasting[j].rule,
                               .title = lasting[j].title,
                               .how = lasting[j].how,
                               .confidence = confidence_names[finding->confidence],
                               .low_bytes = finding->predicted_low_bytes / workers,
                               .high_bytes = finding->predicted_high_bytes / workers});
            }
        }
    }
    add_saving(
        input, &(struct plan_saving){.id = "give-back",
                   .title = "an allocator that gives free pages back",
                   .how = input->heap.known ? zend_how : "LD_PRELOAD=libstrata-malloc.so",
                   .confidence = confidence_names[CONFIDENCE_ROUGH],
                   .low_bytes = 0,
                   .high_bytes = input->retained_bytes});
}
