/*
 * smaps.c - reads smaps or maps line by line into the mappings of a process.
 *
 * The file is made while it is read, about a page of text at a time, and the target maps and
 * unmaps in between. Addresses never go back, but a mapping which merged with its lower
 * neighbour meanwhile may start before the end of the last one that was printed: it is
 * clipped, and its numbers, which are of the whole, are marked stale. So mappings are
 * always sorted and never overlap.
 * Numbers are in kB and of the keys in facts.def; text from Documentation/filesystems/
 * proc.rst and show_smap(), fs/proc/task_mmu.c.
 */
#include "facts/smaps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/fact_line.h"
#include "facts/line_reader.h"
#include "facts/mapping_line.h"
#include "facts/text_line.h"
#include "facts_types/facts.h"

#define FLAGS_KEY "VmFlags:"

/* Room for what is mapped between counting and reading. */
enum { SPARE_MAPPINGS = 64 };

struct smaps_parser {
    struct region *region;
    struct process_facts *process;
    struct mapping *current; /* NULL: before the first, or one that is skipped */
    bool current_clipped;
    uint64_t last_end;
    size_t capacity; /* of process->mappings */
};

static void finish_mapping(struct smaps_parser *parser)
{
    if (parser->current == NULL || !parser->current_clipped) {
        return;
    }
    for (size_t i = 0; i < MAPPING_FACT_COUNT; i++) {
        struct fact *fact = &parser->current->values[i];
        if (fact->state == FACT_OK) {
            fact->state = FACT_STALE;
            fact->plus_minus = fact->value;
        }
    }
}

/* Neighbours mostly map the same file, so its path is stored once. */
static char *store_path(struct smaps_parser *parser, const char *path)
{
    const struct process_facts *process = parser->process;

    if (process->mapping_count > 0) {
        char *last = process->mappings[process->mapping_count - 1].path;
        if (strcmp(last, path) == 0) {
            return last;
        }
    }
    return region_copy_text(parser->region, path);
}

/* Room for count mappings in all; what is there already is kept. */
static bool reserve(struct smaps_parser *parser, size_t count)
{
    struct process_facts *process = parser->process;
    struct mapping *grown = region_alloc(parser->region, count * sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    if (process->mapping_count > 0) {
        memcpy(grown, process->mappings, process->mapping_count * sizeof(*grown));
    }
    process->mappings = grown;
    parser->capacity = count;
    return true;
}

static struct mapping *next_place(struct smaps_parser *parser)
{
    const size_t count = parser->process->mapping_count;

    if (count == parser->capacity && !reserve(parser, count * 2 + SPARE_MAPPINGS)) {
        return NULL;
    }
    return &parser->process->mappings[count];
}

static int start_mapping(struct smaps_parser *parser, char *line)
{
    struct process_facts *process = parser->process;
    struct mapping mapping;
    char *path;

    finish_mapping(parser);
    parser->current = NULL;
    if (mapping_line_parse(line, &mapping, &path) != 0) {
        return -EINVAL;
    }
    if (mapping.end <= parser->last_end) {
        return 0;
    }
    parser->current_clipped = mapping.start < parser->last_end;
    if (parser->current_clipped) {
        mapping.offset_bytes += parser->last_end - mapping.start;
        mapping.start = parser->last_end;
    }
    if (process->mapping_count >= FACTS_MAX_MAPPINGS) {
        return -EFBIG;
    }
    mapping.path = store_path(parser, path);
    struct mapping *place = next_place(parser);
    if (place == NULL || mapping.path == NULL) {
        return -ENOMEM;
    }
    *place = mapping;
    process->mapping_count++;
    parser->last_end = mapping.end;
    parser->current = place;
    return 0;
}

static int parse_line(struct smaps_parser *parser, char *line)
{
    if (mapping_line_is_header(line)) {
        return start_mapping(parser, line);
    }
    if (parser->current == NULL) {
        return parser->process->mapping_count == 0 ? -EINVAL : 0;
    }
    if (strncmp(line, FLAGS_KEY, strlen(FLAGS_KEY)) == 0) {
        parser->current->flags = mapping_line_flags(line + strlen(FLAGS_KEY));
    } else {
        (void)fact_line_store(mapping_fact_table, MAPPING_FACT_COUNT, "smaps", line,
            parser->current->values);
    }
    return 0;
}

static void start_parser(
    struct smaps_parser *parser, struct region *region, struct process_facts *process)
{
    *parser = (struct smaps_parser){.region = region, .process = process};
    process->mappings = NULL;
    process->mapping_count = 0;
    process->mappings_state = FACT_ABSENT;
    process->mappings_have_values = false;
}

static int end_parser(struct smaps_parser *parser, bool with_values, int rc)
{
    struct process_facts *process = parser->process;

    finish_mapping(parser);
    process->mappings_have_values = with_values && process->mapping_count > 0;
    process->mappings_state = rc == -ENOMEM ? FACT_STALE : facts_state_of(rc);
    return rc;
}

int smaps_parse(
    char *text, size_t bytes, struct region *region, struct process_facts *process)
{
    struct smaps_parser parser;
    char *end = text + bytes;
    char *line;
    int rc = 0;

    start_parser(&parser, region, process);
    while (rc == 0 && (line = text_line_next(&text, end)) != NULL) {
        rc = parse_line(&parser, line);
    }
    return end_parser(&parser, true, rc);
}

/*
 * The lines of maps. A struct mapping is large and there may be 65,000 of them: an array
 * that grows by doubling would take three times the memory of one of the right size.
 */
static size_t count_mappings(struct process_folder *folder, struct line_reader *reader)
{
    char *line = NULL;
    size_t count = 0;
    int fd = process_folder_open_file(folder, "maps");

    if (fd < 0) {
        return 0;
    }
    line_reader_init(reader, fd);
    while (count < FACTS_MAX_MAPPINGS && line_reader_next(reader, &line) == 0 &&
           line != NULL) {
        count++;
    }
    close(fd);
    folder->root->bytes_read += reader->bytes_read;
    return count;
}

static int open_mappings(struct process_folder *folder, bool *with_values)
{
    int fd = *with_values ? process_folder_open_file(folder, "smaps") : -ENOENT;

    if (fd == -ENOENT) {
        /* Not asked for, or a kernel without CONFIG_PROC_PAGE_MONITOR. */
        *with_values = false;
        fd = process_folder_open_file(folder, "maps");
    }
    return fd;
}

int smaps_read(struct process_folder *folder, bool with_values, struct region *region,
    struct process_facts *process)
{
    struct smaps_parser parser;
    struct line_reader reader;
    char *line = NULL;

    start_parser(&parser, region, process);
    int fd = open_mappings(folder, &with_values);
    if (fd < 0) {
        return end_parser(&parser, false, fd);
    }
    const bool reserved =
        reserve(&parser, count_mappings(folder, &reader) + SPARE_MAPPINGS);
    line_reader_init(&reader, fd);
    int rc = reserved ? line_reader_next(&reader, &line) : -ENOMEM;
    while (rc == 0 && line != NULL) {
        rc = parse_line(&parser, line);
        if (rc == 0) {
            rc = line_reader_next(&reader, &line);
        }
    }
    close(fd);
    folder->root->bytes_read += reader.bytes_read;
    return end_parser(&parser, with_values, rc);
}

bool smaps_is_private(const struct mapping *mapping)
{
    const struct fact *rss = &mapping->values[MAPPING_FACT_RSS];
    const struct fact *clean = &mapping->values[MAPPING_FACT_PRIVATE_CLEAN];
    const struct fact *dirty = &mapping->values[MAPPING_FACT_PRIVATE_DIRTY];

    return rss->state == FACT_OK && clean->state == FACT_OK && dirty->state == FACT_OK &&
           rss->value == number_add(clean->value, dirty->value);
}

void smaps_rollup_parse(char *text, size_t bytes, struct process_facts *process)
{
    char *end = text + bytes;
    char *line;

    while ((line = text_line_next(&text, end)) != NULL) {
        (void)fact_line_store(process_fact_table, PROCESS_FACT_COUNT, "smaps_rollup",
            line, process->values);
    }
}
