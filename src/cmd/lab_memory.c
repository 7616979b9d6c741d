/*
 * lab_memory.c - a lab that takes more than there is would swap, or have others killed.
 *
 * What can be had is the smaller of MemAvailable and the limit of the own cgroup, whose cache
 * gives way. A lab which makes a cgroup beside that one might have more; it is not asked for.
 */
#include "cmd/lab_memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/quantity.h"
#include "cmd/message.h"
#include "facts/collect.h"

enum { KIB_PER_MIB = 1024, PID_TEXT_BYTES = 16 };

/* The setting's value among the arguments; the default when it is not there or no number. */
static uint64_t value_of(const struct lab_memory *memory, const struct options *options)
{
    uint64_t value = memory->value;

    for (int i = 1; memory->setting != NULL && i < options->argument_count; i++) {
        const size_t length = strlen(memory->setting);
        const char *word = options->arguments[i];
        uint64_t number = 0;
        if (strncmp(word, memory->setting, length) == 0 && word[length] == '=' &&
            number_parse(word + length + 1, &number) == 0) {
            value = number;
        }
    }
    /* 0 is each lab's own word for its default. */
    return value != 0 ? value : memory->value;
}

static uint64_t bytes_of(const struct lab_memory *memory, uint64_t value)
{
    const uint64_t each = number_from_kib(memory->each_kib);
    const uint64_t most = each > 0 ? UINT64_MAX / each : UINT64_MAX;

    return number_add(number_from_kib(memory->base_mib * KIB_PER_MIB),
        each * number_smaller(value, most));
}

struct room {
    uint64_t bytes; /* UINT64_MAX: not known */
    const char *whose;
};

static void narrow(struct room *room, const struct fact *fact, const char *whose)
{
    if (fact->state == FACT_OK && fact->value < room->bytes) {
        *room = (struct room){.bytes = fact->value, .whose = whose};
    }
}

static struct room find_room(void)
{
    struct room room = {.bytes = UINT64_MAX, .whose = ""};
    struct error error = {0};
    char pid[PID_TEXT_BYTES];
    struct facts_root root;
    struct facts facts;

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (facts_root_open(&root, NULL, &error) != 0) {
        return room;
    }
    if (facts_collect(&root, pid, COLLECT_STATUS | COLLECT_CGROUP | COLLECT_HOST, &facts,
            &error) == 0) {
        narrow(&room, &facts.host.values[HOST_FACT_MEM_AVAILABLE], "are available");
        for (size_t i = 0; i < facts.cgroup_count; i++) {
            narrow(&room, &facts.cgroups[i].values[CGROUP_FACT_LIMIT_EFFECTIVE],
                "are the limit of its cgroup");
        }
        region_release(&facts.region);
    }
    facts_root_close(&root);
    return room;
}

static enum exit_code refuse(
    const struct lab_row *row, uint64_t needed_bytes, const struct room *room)
{
    const struct lab_memory *memory = &row->memory;
    const uint64_t base = bytes_of(memory, 0);
    const uint64_t fits = memory->each_kib > 0 && room->bytes > base
                              ? (room->bytes - base) / number_from_kib(memory->each_kib)
                              : 0;
    struct buffer remedy;

    buffer_init(&remedy);
    if (fits > 0) {
        buffer_printf(&remedy, "; 'strata lab %s %s=%llu' takes no more than that",
            row->name, memory->setting, (unsigned long long)fits);
    }
    complain("cannot run lab '%s': it takes up to %s of memory, and %s %s%s", row->name,
        quantity_bytes(needed_bytes, false).text, quantity_bytes(room->bytes, false).text,
        room->whose, buffer_text(&remedy));
    buffer_release(&remedy);
    return EXIT_PARTIAL;
}

enum exit_code lab_memory_check(const struct lab_row *row, const struct options *options)
{
    const uint64_t needed = bytes_of(&row->memory, value_of(&row->memory, options));
    const struct room room = find_room();

    if (needed > room.bytes) {
        return refuse(row, needed, &room);
    }
    complain("lab '%s' takes up to %s of memory", row->name,
        quantity_bytes(needed, false).text);
    return EXIT_FINE;
}
