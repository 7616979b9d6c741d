/*
 * environment.c - picks the settings of allocators and runtimes out of /proc/PID/environ.
 *
 * Environments hold passwords and keys. Only names in the table below are looked at, only
 * their values are copied, and the buffer which held the rest is wiped before it is freed, so
 * that no secret of a target gets into a capture, an output or a core dump of ours.
 */
#include "facts/environment.h"

#include <errno.h>
#include <string.h>

enum {
    ENVIRON_MAX_BYTES =
        6 << 20, /* execve takes no more (fs/exec.c, bprm_stack_limits()) */
    SETTINGS_MAX = 64,
    VALUE_MAX_BYTES = 4096,
};

/* A name that ends in '*' stands for all names with that start. */
static const char *const settings[] = {
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_ARENA_TEST",
    "MALLOC_CHECK_",
    "MALLOC_CONF", /* jemalloc */
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_PERTURB_",
    "MALLOC_TCACHE_COUNT",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
    "JE_MALLOC_CONF",
    "_RJEM_MALLOC_CONF",
    "MIMALLOC_*",
    "TCMALLOC_*",
    "STRATA_*",
    "USE_ZEND_ALLOC",
    "USE_ZEND_ALLOC_HUGE_PAGES",
    "PYTHONMALLOC",
    "GODEBUG",
    "GOGC",
    "GOMEMLIMIT",
    "RR_MODE",
};

bool environment_is_setting(const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const size_t length = strlen(settings[i]);
        const bool family = settings[i][length - 1] == '*';
        if (family ? bytes >= length && memcmp(name, settings[i], length - 1) == 0
                   : bytes == length && memcmp(name, settings[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static int keep(const char *entry, size_t name_bytes, size_t entry_bytes,
    struct region *region, struct process_facts *process)
{
    size_t value_bytes = entry_bytes - name_bytes - 1;
    struct environment_facts *place = region_grow(region, &process->environment,
        process->environment_count, SETTINGS_MAX, sizeof(*place));

    if (place == NULL) {
        return process->environment_count >= SETTINGS_MAX ? 0 : -ENOMEM;
    }
    if (value_bytes > VALUE_MAX_BYTES) {
        value_bytes = VALUE_MAX_BYTES;
    }
    place->name = region_copy(region, entry, name_bytes);
    place->value = region_copy(region, entry + name_bytes + 1, value_bytes);
    if (place->name == NULL || place->value == NULL) {
        return -ENOMEM;
    }
    process->environment_count++;
    return 0;
}

int environment_parse(
    const char *text, size_t bytes, struct region *region, struct process_facts *process)
{
    const char *end = text + bytes;

    while (text < end) {
        const size_t entry_bytes = strnlen(text, (size_t)(end - text));
        const char *equals = memchr(text, '=', entry_bytes);
        if (equals != NULL && environment_is_setting(text, (size_t)(equals - text))) {
            int rc = keep(text, (size_t)(equals - text), entry_bytes, region, process);
            if (rc != 0) {
                return rc;
            }
        }
        text += entry_bytes + 1;
    }
    return 0;
}

int environment_read(
    struct process_folder *folder, struct region *region, struct process_facts *process)
{
    struct buffer buffer;

    buffer_init(&buffer);
    int rc = process_folder_read(folder, "environ", ENVIRON_MAX_BYTES, &buffer);
    process->environment_state = facts_state_of(rc);
    if (rc == 0) {
        rc =
            environment_parse(buffer_text(&buffer), buffer.length_bytes, region, process);
    }
    if (buffer.data != NULL) {
        explicit_bzero(buffer.data, buffer.capacity_bytes);
    }
    buffer_release(&buffer);
    return rc;
}
