/*
 * allocator_detect.c - recognises allocators by what is mapped, linked in and initialised.
 *
 * In this order: mapped libraries by name; what the heap readers found (an initialised
 * main_arena means that glibc malloc really serves this process: under a preloaded or linked
 * allocator it stays all zero); Go's heap at its fixed address; and, when none of these
 * explains the memory, texts in the program's file, for allocators that are linked in.
 * Several may be active in one process, PHP on top of glibc for one. LD_PRELOAD in the
 * environment is an intention only; the mapped file is the fact.
 */
#include "facts/allocator_detect.h"

#include <errno.h>
#include <string.h>

#include "base/quantity.h"
#include "facts/program_text.h"
#include "facts_types/facts.h"

/* Go reserves its heap from here on (runtime/malloc.go, arena hints of linux/amd64). */
static const uint64_t go_heap_start = UINT64_C(0xc000000000);

static const char preload_name[] = "LD_PRELOAD";
static const char preload_separators[] = ": \t\n";

/* A library and the allocator that it holds; the name may stand anywhere in the base name. */
struct library {
    const char *part;
    enum allocator_kind kind;
};

static const struct library libraries[] = {
    {"ld-musl-", ALLOCATOR_MUSL},
    {"jemalloc", ALLOCATOR_JEMALLOC},
    {"tcmalloc", ALLOCATOR_TCMALLOC},
    {"mimalloc", ALLOCATOR_MIMALLOC},
    {"libstrata", ALLOCATOR_STRATA},
    {"libjvm.so", ALLOCATOR_JVM},
    {"libpython", ALLOCATOR_PYTHON},
};

/* Texts that only a program has which the allocator is linked into. */
struct marker {
    const char *text;
    size_t bytes;
    enum allocator_kind kind;
};

#define MARKER(text, kind)                                                               \
    {                                                                                    \
        text, sizeof(text) - 1, kind                                                     \
    }

static const struct marker markers[] = {
    MARKER("<jemalloc>: ", ALLOCATOR_JEMALLOC),
    MARKER("tcmalloc: ", ALLOCATOR_TCMALLOC),
    MARKER("mimalloc: ", ALLOCATOR_MIMALLOC),
    MARKER("strata: heap '", ALLOCATOR_STRATA),
    MARKER("\xff Go buildinf:", ALLOCATOR_GO),
};

enum { MARKER_COUNT = sizeof(markers) / sizeof(markers[0]) };

/* What was found, by kind. */
struct detection {
    struct region *region;
    struct process_facts *process;
    struct allocator_facts found[ALLOCATOR_KIND_COUNT];
    bool present[ALLOCATOR_KIND_COUNT];
    bool failed; /* no memory */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static struct allocator_facts *note(
    struct detection *detection, enum allocator_kind kind, char *evidence)
{
    struct allocator_facts *found = &detection->found[kind];

    detection->failed = detection->failed || evidence == NULL;
    if (!detection->present[kind]) {
        detection->present[kind] = true;
        *found = (struct allocator_facts){.kind = kind};
        found->evidence = evidence;
    }
    return found;
}

/* ---- LD_PRELOAD */

static size_t stem_bytes(const char *name, size_t bytes)
{
    const char *end = memmem(name, bytes, ".so", 3);

    return end == NULL ? bytes : (size_t)(end - name);
}

bool allocator_is_preload(const char *name, size_t bytes, const char *path)
{
    const char *slash = memrchr(name, '/', bytes);
    const char *mapped = base_name(path);

    if (slash != NULL) {
        bytes -= (size_t)(slash + 1 - name);
        name = slash + 1;
    }
    /* The loader opens links: libx.so.4 may be mapped as libx.so.4.5.10. */
    const size_t stem = stem_bytes(name, bytes);
    return stem > 0 && stem == stem_bytes(mapped, strlen(mapped)) &&
           memcmp(name, mapped, stem) == 0;
}

static const char *preload_value(const struct process_facts *process)
{
    for (size_t i = 0; i < process->environment_count; i++) {
        if (strcmp(process->environment[i].name, preload_name) == 0) {
            return process->environment[i].value;
        }
    }
    return NULL;
}

static const struct mapping *find_preloaded(
    const struct process_facts *process, const char *name, size_t bytes)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (mapping->inode != 0 && allocator_is_preload(name, bytes, mapping->path)) {
            return mapping;
        }
    }
    return NULL;
}

/* The mapped file is one that LD_PRELOAD names. */
static bool is_preloaded(const struct process_facts *process, const char *path)
{
    const char *value = preload_value(process);

    while (value != NULL && *value != '\0') {
        const size_t bytes = strcspn(value, preload_separators);
        if (bytes > 0 && allocator_is_preload(value, bytes, path)) {
            return true;
        }
        value += bytes;
        value += strspn(value, preload_separators);
    }
    return false;
}

static void judge_preload(struct process_facts *process)
{
    const char *value = preload_value(process);

    process->preload_state = FACT_ABSENT;
    if (process->environment_state != FACT_OK) {
        process->preload_state = process->environment_state;
        return;
    }
    while (value != NULL && *value != '\0') {
        const size_t bytes = strcspn(value, preload_separators);
        if (bytes > 0 && find_preloaded(process, value, bytes) == NULL) {
            process->preload_state = FACT_MALFORMED;
            return;
        }
        if (bytes > 0) {
            process->preload_state = FACT_OK;
        }
        value += bytes;
        value += strspn(value, preload_separators);
    }
}

/* ---- mapped files */

static void look_at_libraries(struct detection *detection)
{
    const struct process_facts *process = detection->process;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        const char *name = base_name(mapping->path);
        if ((mapping->permissions & MAPPING_EXECUTE) == 0 || mapping->inode == 0) {
            continue;
        }
        for (size_t k = 0; k < sizeof(libraries) / sizeof(libraries[0]); k++) {
            struct allocator_facts *found;
            if (strstr(name, libraries[k].part) == NULL) {
                continue;
            }
            found = note(detection, libraries[k].kind,
                region_printf(detection->region, "mapped file '%s'", name));
            found->active = true;
            found->preloaded = is_preloaded(process, mapping->path);
        }
    }
}

/* ---- what the readers of heaps found */

static bool has_span(const struct process_facts *process, enum span_owner owner)
{
    for (size_t i = 0; i < process->span_count; i++) {
        if (process->spans[i].owner == owner) {
            return true;
        }
    }
    return false;
}

static bool is_glibc_mapped(const struct process_facts *process)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const char *name = base_name(process->mappings[i].path);
        if (strcmp(name, "libc.so.6") == 0 || strncmp(name, "libc-2.", 7) == 0) {
            return true;
        }
    }
    return false;
}

static bool holds_memory(const struct glibc_facts *glibc)
{
    for (size_t i = 0; i < glibc->arena_count; i++) {
        if (glibc->arenas[i].held_bytes > 0) {
            return true;
        }
    }
    return glibc->parameters.mmapped_bytes > 0;
}

static void look_at_glibc(struct detection *detection, bool heaps_read)
{
    const struct glibc_facts *glibc = &detection->process->glibc;
    struct allocator_facts *found;

    if (glibc->arena_count > 0) {
        found = note(detection, ALLOCATOR_GLIBC,
            region_printf(detection->region, "main_arena in %s, %s",
                glibc->static_binary ? "the program" : "libc",
                quantity_count(glibc->arena_count, "arena").text));
        found->active = holds_memory(glibc);
        found->linked_statically = glibc->static_binary;
        found->version = glibc->version;
    } else if (is_glibc_mapped(detection->process)) {
        found = note(detection, ALLOCATOR_GLIBC,
            region_copy_text(detection->region,
                heaps_read ? "libc is mapped, its malloc was never used"
                           : "libc is mapped"));
        found->active = !heaps_read;
    }
}

static void look_at_runtimes(struct detection *detection)
{
    const struct process_facts *process = detection->process;
    const char *program =
        process->executable == NULL ? "" : base_name(process->executable);

    if (process->zend.heap_count > 0) {
        struct allocator_facts *found = note(detection, ALLOCATOR_ZEND,
            region_printf(detection->region, "%s of PHP",
                quantity_count(process->zend.heap_count, "heap").text));
        for (size_t i = 0; i < process->zend.heap_count; i++) {
            found->active = found->active || !process->zend.heaps[i].custom;
        }
        found->version = process->zend.version;
    }
    if (strncmp(program, "python", 6) == 0 || has_span(process, SPAN_PYTHON_ARENA)) {
        (void)note(detection, ALLOCATOR_PYTHON,
            region_printf(detection->region, "program '%s'", program));
    }
    if (process->strata.state == FACT_OK || process->strata.state == FACT_STALE) {
        note(detection, ALLOCATOR_STRATA,
            region_copy_text(detection->region, "its statistics region"))
            ->active = true;
    }
    if (detection->present[ALLOCATOR_PYTHON]) {
        detection->found[ALLOCATOR_PYTHON].active = has_span(process, SPAN_PYTHON_ARENA);
    }
    for (size_t i = 0; i < process->mapping_count; i++) {
        if (process->mappings[i].start == go_heap_start) {
            struct allocator_facts *found = note(detection, ALLOCATOR_GO,
                region_copy_text(
                    detection->region, "a mapping where Go places its heap"));
            found->active = true;
        }
    }
}

/* ---- the program's file */

static bool is_explained(const struct detection *detection)
{
    for (size_t i = 0; i < ALLOCATOR_KIND_COUNT; i++) {
        if (detection->present[i] && detection->found[i].active) {
            return true;
        }
    }
    return false;
}

static int look_into_program(struct detection *detection, struct process_folder *folder)
{
    struct program_text texts[MARKER_COUNT];
    int result;

    for (size_t i = 0; i < MARKER_COUNT; i++) {
        texts[i] =
            (struct program_text){.text = markers[i].text, .bytes = markers[i].bytes};
    }
    result = program_text_search(folder, texts, MARKER_COUNT);
    if (result < 0) {
        return result == -ESRCH || result == -ENOMEM ? result : 0;
    }
    for (size_t i = 0; i < MARKER_COUNT; i++) {
        struct allocator_facts *found;
        if (!texts[i].found) {
            continue;
        }
        found = note(detection, markers[i].kind,
            region_copy_text(detection->region, "a text of its own in the program"));
        found->active = true;
        found->linked_statically = true;
    }
    return 0;
}

static int store(struct detection *detection)
{
    struct process_facts *process = detection->process;

    for (size_t i = 0; i < ALLOCATOR_KIND_COUNT; i++) {
        struct allocator_facts *place;
        if (!detection->present[i]) {
            continue;
        }
        place = region_grow(detection->region, &process->allocators,
            process->allocator_count, ALLOCATOR_KIND_COUNT, sizeof(*place));
        if (place == NULL) {
            return -ENOMEM;
        }
        *place = detection->found[i];
        process->allocator_count++;
    }
    return detection->failed ? -ENOMEM : 0;
}

int allocator_detect(struct process_folder *folder, bool heaps_read,
    struct region *region, struct process_facts *process)
{
    struct detection detection = {.region = region, .process = process};
    int result = 0;

    process->allocators = NULL;
    process->allocator_count = 0;
    judge_preload(process);
    look_at_libraries(&detection);
    look_at_glibc(&detection, heaps_read);
    look_at_runtimes(&detection);
    if (folder != NULL && !is_explained(&detection)) {
        result = look_into_program(&detection, folder);
    }
    return result < 0 ? result : store(&detection);
}
