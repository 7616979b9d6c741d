/*
 * fuzz_cgroup_values.c - any text as one of the files of a memory cgroup.
 *
 * The first byte chooses file and version. Every fact ends in a state that has a value,
 * or has none.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "facts/cgroup_values.h"

static const struct {
    uint32_t version;
    const char *file;
} files[] = {
    {1, "memory.usage_in_bytes"},
    {1, "memory.stat"},
    {1, "memory.oom_control"},
    {2, "memory.max"},
    {2, "memory.stat"},
    {2, "memory.events"},
    {2, "memory.pressure"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fact values[CGROUP_FACT_COUNT] = {0};
    char *text;

    if (bytes == 0) {
        return 0;
    }
    text = malloc(bytes);
    BUG_IF(text == NULL);
    memcpy(text, data + 1, bytes - 1);
    text[bytes - 1] = '\0';
    size_t chosen = data[0] % (sizeof(files) / sizeof(files[0]));
    cgroup_values_parse(files[chosen].version, files[chosen].file, text, values);
    for (size_t i = 0; i < CGROUP_FACT_COUNT; i++) {
        BUG_IF(values[i].state != FACT_OK && values[i].state != FACT_ABSENT &&
               values[i].state != FACT_MALFORMED);
        BUG_IF(values[i].state != FACT_OK && values[i].value != 0);
    }
    free(text);
    return 0;
}
