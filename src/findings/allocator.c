/*
 * allocator.c - allocators besides glibc, and two ways in which pages stay after free.
 *
 * LazyFree: pages given up with MADV_FREE stay in Rss, and in Anonymous, until the kernel is
 * short of memory (madvise(2), mm/madvise.c). Huge pages: the kernel backs anonymous memory
 * with 2 MiB at once where it may, so touching one byte makes 2 MiB resident
 * (Documentation/admin-guide/mm/transhuge.rst).
 */
#include "findings/allocator.h"

#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "findings/mysql.h"
#include "model/known.h"

enum {
    LAZY_MIN_PERCENT = 5,
    LAZY_WARN_PERCENT = 40,
    HUGE_MIN_PERCENT = 10,
    HUGE_WARN_PERCENT = 50,
};

static const uint64_t lazy_min_bytes = 8 * FINDING_MIB;
static const uint64_t huge_min_bytes = 32 * FINDING_MIB;
static const uint64_t huge_warn_bytes = 64 * FINDING_MIB;
static const uint64_t opaque_min_bytes = 8 * FINDING_MIB;

/* An active allocator of the process with that kind, or NULL. */
static const struct allocator_facts *active_of_kind(
    const struct process_facts *process, enum allocator_kind kind)
{
    for (size_t i = 0; i < process->allocator_count; i++) {
        if (process->allocators[i].active &&
            process->allocators[i].kind == (uint32_t)kind) {
            return &process->allocators[i];
        }
    }
    return NULL;
}

static bool any_member_runs(const struct snapshot *snapshot, enum allocator_kind kind)
{
    for (size_t i = 0; i < snapshot->member_count; i++) {
        if (active_of_kind(snapshot->members[i].facts, kind) != NULL) {
            return true;
        }
    }
    return false;
}

/* Its own count, and the allocator as it names it: resident beyond the count is kept or unseen. */
static void add_what_a_database_says(
    struct finding *finding, const struct snapshot *snapshot)
{
    const struct process_view *server = mysql_server_of(snapshot);

    if (server == NULL) {
        return;
    }
    if (server->facts->mysql->malloc_library != NULL) {
        finding_add_text(
            finding, "version_malloc_library", server->facts->mysql->malloc_library);
    }
    finding_add_bytes(finding, "tracked", target_bytes(snapshot, LAYER_TRACKED));
}

int rule_allocator_opaque(const struct snapshot *snapshot, struct finding_list *list)
{
    static const enum allocator_kind kinds[] = {ALLOCATOR_JEMALLOC, ALLOCATOR_TCMALLOC,
        ALLOCATOR_MIMALLOC, ALLOCATOR_MUSL, ALLOCATOR_GO, ALLOCATOR_JVM};
    static const char *const looks[] = {
        "in the program: malloc_stats_print() of jemalloc",
        "in the program: MallocExtension's stats of tcmalloc",
        "MIMALLOC_SHOW_STATS=1 in the environment, printed at exit",
        "musl's malloc keeps no counters",
        "in the program: runtime.ReadMemStats, or GODEBUG=gctrace=1",
        "jcmd PID VM.native_memory, with -XX:NativeMemoryTracking=summary",
    };
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct finding finding = {.pid = target_pid(snapshot), .severity = SEVERITY_INFO};
    bool held;

    (void)layer_bytes(&snapshot->layers[LAYER_HELD], &held);
    if (held || resident < opaque_min_bytes) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!any_member_runs(snapshot, kinds[i])) {
            continue;
        }
        finding.summary = finding_printf(list,
            "%s is the allocator: how much of its memory is free inside cannot be seen "
            "from outside",
            allocator_kind_names[kinds[i]]);
        finding_add_text(&finding, "allocator", allocator_kind_names[kinds[i]]);
        finding_add_bytes(&finding, "resident", resident);
        add_what_a_database_says(&finding, snapshot);
        finding.fix = looks[i];
        finding.verify = "compare its own figures with resident";
        return finding_push(list, &finding);
    }
    return 0;
}

static const char *preload_of(const struct process_facts *process)
{
    for (size_t i = 0; i < process->environment_count; i++) {
        if (strcmp(process->environment[i].name, "LD_PRELOAD") == 0) {
            return process->environment[i].value;
        }
    }
    return NULL;
}

int rule_preload_not_active(const struct snapshot *snapshot, struct finding_list *list)
{
    struct finding finding = {.severity = SEVERITY_WARN};
    const struct process_facts *first = NULL;
    uint64_t count = 0;
    const char *preload;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        if (process->preload_state == FACT_MALFORMED) {
            first = first == NULL ? process : first;
            count++;
        }
    }
    if (first == NULL) {
        return 0;
    }
    finding.pid = count == 1 ? first->pid : 0;
    preload = preload_of(first);
    finding.summary =
        "LD_PRELOAD names a library that is not in the process: it took no effect";
    finding.reasoning =
        "the loader prints one line to standard error and goes on when it cannot open "
        "the file, when it is for another architecture or C library, or when the program "
        "is setuid; a static program ignores the variable";
    finding_add_text(&finding, "ld_preload", preload != NULL ? preload : "not readable");
    finding_add_count(&finding, "processes", count);
    finding.fix =
        "# inside the container or as the service's user: what the loader says\n"
        "LD_DEBUG=libs LD_PRELOAD=/path/to/library.so /bin/true";
    finding.verify = finding_printf(list,
        "strata explain %s: the library is listed among the allocators",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* Who used MADV_FREE decides what to change. */
static const char *lazy_free_fix(
    struct finding_list *list, const struct snapshot *snapshot)
{
    static const struct fix_variable go[] = {{"GODEBUG", "madvdontneed=1"}};
    static const struct fix_variable jemalloc[] = {{"MALLOC_CONF", "muzzy_decay_ms:0"}};

    if (any_member_runs(snapshot, ALLOCATOR_GO)) {
        return fix_environment(list, snapshot, go, 1);
    }
    if (any_member_runs(snapshot, ALLOCATOR_JEMALLOC)) {
        return fix_environment(list, snapshot, jemalloc, 1);
    }
    return "# nothing to change: the kernel takes these pages when it needs them";
}

int rule_lazy_free(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t lazy =
        sum_over_members(snapshot, PROCESS_FACT_LAZY_FREE, MAPPING_FACT_LAZY_FREE);
    struct finding finding = {.pid = target_pid(snapshot)};

    if (!finding_reaches(lazy, lazy_min_bytes, resident, LAZY_MIN_PERCENT)) {
        return 0;
    }
    finding.severity = at_least_percent(lazy, resident, LAZY_WARN_PERCENT)
                           ? SEVERITY_WARN
                           : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%s of the resident set was freed with MADV_FREE: it counts until the kernel is "
        "short of memory",
        quantity_bytes(lazy, false).text);
    finding.reasoning = "LazyFree of smaps: the program has given these pages up, the "
                        "kernel has not taken them yet; they still count in Rss, in "
                        "docker stats and towards the limit, and are dropped without I/O "
                        "before anything is killed";
    finding_add_bytes(&finding, "lazy_free", lazy);
    finding_add_percent(&finding, "share_of_resident", lazy, resident);
    finding_predict(&finding, lazy, lazy, CONFIDENCE_MEASURED);
    finding.fix = lazy_free_fix(list, snapshot);
    finding.verify = finding_printf(list,
        "strata explain %s: resident without lazy_free stays the same",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* "always" of "always", or "[always] madvise never" as the kernel prints it. */
static bool huge_pages_always(const struct facts *facts)
{
    const char *enabled = facts->host.thp_enabled;

    return enabled != NULL &&
           (strcmp(enabled, "always") == 0 || strstr(enabled, "[always]") != NULL);
}

static const char *huge_pages_fix(
    struct finding_list *list, const struct snapshot *snapshot)
{
    static const struct fix_variable jemalloc[] = {{"MALLOC_CONF", "thp:never"}};

    if (any_member_runs(snapshot, ALLOCATOR_JEMALLOC)) {
        return fix_environment(list, snapshot, jemalloc, 1);
    }
    if (huge_pages_always(snapshot->facts)) {
        return "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled\n"
               "# and start the program again";
    }
    return "# the program asked for huge pages with madvise: its own option turns them "
           "off";
}

int rule_thp_inflation(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t huge =
        sum_over_members(snapshot, PROCESS_FACT_ANON_HUGE, MAPPING_FACT_ANON_HUGE);
    const bool always = huge_pages_always(snapshot->facts);
    struct finding finding = {.pid = target_pid(snapshot)};

    if (!finding_reaches(huge, huge_min_bytes, resident, HUGE_MIN_PERCENT)) {
        return 0;
    }
    finding.severity =
        always && finding_reaches(huge, huge_warn_bytes, resident, HUGE_WARN_PERCENT)
            ? SEVERITY_WARN
            : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%s is in huge pages, which are resident as a whole although only parts may be "
        "in use",
        quantity_bytes(huge, false).text);
    finding.reasoning = "which parts of a huge page were ever touched cannot be seen, so "
                        "the range goes from nothing to all of it; thread stacks and the "
                        "heaps of jemalloc gain most, large arrays in use gain nothing";
    finding_add_bytes(&finding, "anon_huge", huge);
    finding_add_percent(&finding, "share_of_resident", huge, resident);
    finding_add_text(&finding, "enabled",
        snapshot->facts->host.thp_enabled != NULL ? snapshot->facts->host.thp_enabled
                                                  : "not readable");
    finding_predict(&finding, 0, huge, CONFIDENCE_ROUGH);
    finding.fix = huge_pages_fix(list, snapshot);
    finding.verify = finding_printf(list,
        "after the same load, strata explain %s: anon_huge and resident are smaller",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
