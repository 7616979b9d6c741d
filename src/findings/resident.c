/*
 * resident.c - what the resident set itself says: pages that are no cause for alarm, and
 * pages that nobody owns.
 */
#include "findings/resident.h"

#include <stdbool.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum {
    FILES_MIN_PERCENT = 30,
    UNEXPLAINED_MIN_PERCENT = 2,
    UNEXPLAINED_WARN_PERCENT = 10,
};

static const uint64_t files_min_bytes = 16 * FINDING_MIB;
static const uint64_t unexplained_min_bytes = 2 * FINDING_MIB;
static const uint64_t unexplained_warn_bytes = 64 * FINDING_MIB;

/* Clean pages of files: the kernel drops them when memory is short. */
static uint64_t file_bytes(const struct layer *resident)
{
    static const char *const ids[] = {
        "program-code", "program-read-only", "file-pages", "file"};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        sum = number_add(sum, layer_part_bytes(resident, ids[i]));
    }
    return sum;
}

int rule_file_pages_look_alarming(
    const struct snapshot *snapshot, struct finding_list *list)
{
    const struct layer *layer = &snapshot->layers[LAYER_RESIDENT];
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t files = file_bytes(layer);
    struct finding finding = {.pid = target_pid(snapshot), .severity = SEVERITY_INFO};

    if (!finding_reaches(files, files_min_bytes, resident, FILES_MIN_PERCENT)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "%s of the resident set (%s) is pages of files: it looks alarming and is not, "
        "the kernel drops them when memory is short",
        quantity_bytes(files, false).text, quantity_percent(files, resident).text);
    finding.reasoning =
        "a page of a file that is mapped counts in Rss of each process that touched it; "
        "it can be read again from the file, so it is not what makes a machine run out "
        "of memory";
    finding_add_bytes(&finding, "file_pages", files);
    finding_add_bytes(&finding, "other", number_subtract(resident, files));
    finding_add_bytes(&finding, "program_code", layer_part_bytes(layer, "program-code"));
    finding_add_bytes(&finding, "mapped_files", layer_part_bytes(layer, "file-pages"));
    finding.fix = "# nothing to change: watch RssAnon instead of Rss";
    finding.verify = "grep RssAnon /proc/PID/status";
    return finding_push(list, &finding);
}

int rule_unexplained_residual(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct layer *residual = &snapshot->layers[LAYER_RESIDUAL];
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct finding finding = {.pid = target_pid(snapshot)};
    uint64_t size;
    bool denied = false;

    if (!state_is_known((uint32_t)residual->state)) {
        return 0;
    }
    size = residual->bytes < 0 ? (uint64_t)-residual->bytes : (uint64_t)residual->bytes;
    if (!finding_reaches(
            size, unexplained_min_bytes, resident, UNEXPLAINED_MIN_PERCENT)) {
        return 0;
    }
    for (size_t i = 0; i < snapshot->facts->gap_count; i++) {
        denied = denied || snapshot->facts->gaps[i].state == FACT_DENIED;
    }
    finding.severity =
        finding_reaches(size, unexplained_warn_bytes, resident, UNEXPLAINED_WARN_PERCENT)
            ? SEVERITY_WARN
            : SEVERITY_INFO;
    finding.summary =
        residual->bytes < 0
            ? finding_printf(list,
                  "parts claim %s more than is resident: the process changed while it "
                  "was read",
                  quantity_bytes(size, false).text)
            : finding_printf(list, "%s of the resident set (%s) has no known owner",
                  quantity_bytes(size, false).text,
                  quantity_percent(size, resident).text);
    finding_add_bytes(&finding, "unexplained", size);
    finding_add_percent(&finding, "share_of_resident", size, resident);
    finding_add_count(&finding, "missing_facts", snapshot->facts->gap_count);
    finding.fix = denied ? "# some facts were denied: run it again with sudo"
                         : "# run it again while the process is quiet";
    finding.verify = finding_printf(
        list, "strata explain %s: residual is below 2 %%", fix_target(list, snapshot));
    return finding_push(list, &finding);
}
