/*
 * fuzz_smaps.c - maps, smaps and smaps_rollup: whatever the text, mappings are sorted, do not
 * overlap, and have a path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "facts/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(const struct process_facts *process)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        BUG_IF(mapping->start >= mapping->end || mapping->path == NULL);
        BUG_IF(i > 0 && mapping->start < process->mappings[i - 1].end);
        for (size_t j = 0; j < MAPPING_FACT_COUNT; j++) {
            const struct fact *fact = &mapping->values[j];
            BUG_IF(
                fact->state != FACT_OK && fact->state != FACT_STALE && fact->value != 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct process_facts process = {0};
    struct region region;
    char *text = malloc(bytes + 1);

    if (text == NULL) {
        return 0;
    }
    region_init(&region, 64 << 20);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    (void)smaps_parse(text, bytes, &region, &process);
    check(&process);
    memcpy(text, data, bytes);
    smaps_rollup_parse(text, bytes, &process);
    region_release(&region);
    free(text);
    return 0;
}
