/*
 * collected.c - one reading of a live target.
 *
 * What a test asks for has to be there: the test fails where it is not, and says why.
 */
#include "collected.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

int collected(const char *target, unsigned what, struct facts *facts, struct error *error)
{
    struct facts_root root;

    error_reset(error);
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    int rc = facts_collect(&root, target, what, facts, error);
    facts_root_close(&root);
    return rc;
}

int collected_pid(pid_t pid, unsigned what, struct facts *facts, struct error *error)
{
    char target[16];

    (void)snprintf(target, sizeof(target), "%d", pid);
    return collected(target, what, facts, error);
}

uint64_t collected_value(const struct process_facts *process, enum process_fact id)
{
    if (process->values[id].state != FACT_OK) {
        fail_msg("%s is %s", process_fact_table[id].name,
            fact_state_names[process->values[id].state]);
    }
    return process->values[id].value;
}

const struct mapping *collected_mapping(
    const struct process_facts *process, uint64_t address)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (address >= mapping->start && address < mapping->end) {
            return mapping;
        }
    }
    fail_msg("no mapping at %llx", (unsigned long long)address);
    return NULL;
}

const struct gap *collected_gap(const struct facts *facts, const char *fact)
{
    for (size_t i = 0; i < facts->gap_count; i++) {
        if (strcmp(facts->gaps[i].fact, fact) == 0) {
            return &facts->gaps[i];
        }
    }
    return NULL;
}

bool collected_frames_are_shown(void)
{
    uint64_t entry = 0;
    int on_stack = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const off_t offset =
        (off_t)((uintptr_t)&on_stack / (uintptr_t)sysconf(_SC_PAGESIZE) * sizeof(entry));

    assert_int_equal(pread(fd, &entry, sizeof(entry), offset), sizeof(entry));
    close(fd);
    return (entry << 9) != 0 && access("/proc/kpagecount", R_OK) == 0;
}
