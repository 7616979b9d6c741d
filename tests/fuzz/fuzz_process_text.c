/*
 * fuzz_process_text.c - the small files of a process: stat, status, limits, environ, cmdline.
 *
 * Every parser gets the same bytes; what is kept of an environment must be on the list, and a
 * title never reaches behind an option.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "facts/environment.h"
#include "facts/limits.h"
#include "facts/process_name.h"
#include "facts/stat.h"
#include "facts/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void parse_environment(const char *text, size_t bytes)
{
    struct process_facts process = {0};
    struct region region;

    region_init(&region, 16 << 20);
    (void)environment_parse(text, bytes, &region, &process);
    for (size_t i = 0; i < process.environment_count; i++) {
        const char *name = process.environment[i].name;
        BUG_IF(!environment_is_setting(name, strlen(name)));
        BUG_IF(process.environment[i].value == NULL);
    }
    region_release(&region);
}

static void parse_stat(const char *text, size_t bytes)
{
    struct process_stat stat;

    if (process_stat_parse(text, bytes, &stat) == 0) {
        BUG_IF(stat.pid < 0 || stat.parent_pid < 0);
        BUG_IF(memchr(stat.name, '\0', sizeof(stat.name)) == NULL);
    }
}

static void parse_in_place(const uint8_t *data, char *text, size_t bytes)
{
    struct process_facts process = {0};
    int32_t group_pid;

    memcpy(text, data, bytes);
    status_parse(text, bytes, &process, &group_pid);
    BUG_IF(group_pid < 0 || process.namespace_pid < 0);
    memcpy(text, data, bytes);
    limits_parse(text, bytes, process.values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);

    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    parse_stat(text, bytes);
    parse_environment(text, bytes);
    if (bytes > 0) {
        BUG_IF(process_title_bytes(text, bytes) > bytes);
    }
    parse_in_place(data, text, bytes);
    free(text);
    return 0;
}
