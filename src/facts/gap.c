/*
 * gap.c - words for missing facts.
 *
 * Three locks stand before the memory of another process (kernel/ptrace.c,
 * __ptrace_may_access()): the user, or CAP_SYS_PTRACE; the dumpable flag, which servers that
 * change their user lose; and Yama, which is asked for memory but not for smaps. The
 * kernel says EACCES or EPERM for all of them, so the reason names what we can see.
 */
#include "facts/gap.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "facts_types/fact.h"

enum { SCOPE_MAX_BYTES = 64 };

void gap_add(
    struct facts *facts, const char *fact, int32_t pid, uint32_t state, const char *why)
{
    struct region *region = &facts->region;
    struct gap *gap =
        region_grow(region, &facts->gaps, facts->gap_count, FACTS_MAX_GAPS, sizeof(*gap));

    if (gap == NULL) {
        return;
    }
    gap->fact = region_copy_text(region, fact);
    gap->why = region_copy_text(region, why);
    if (gap->fact == NULL || gap->why == NULL) {
        return;
    }
    gap->pid = pid;
    gap->state = state;
    facts->gap_count++;
}

/* kernel.yama.ptrace_scope, 0 when there is no Yama. */
static uint64_t yama_scope(struct facts_root *root)
{
    struct buffer buffer;
    uint64_t scope = 0;

    buffer_init(&buffer);
    if (facts_read_file(root, root->proc_fd, "sys/kernel/yama/ptrace_scope",
            SCOPE_MAX_BYTES, &buffer) == 0) {
        const char *text = buffer_text(&buffer);
        (void)number_read(&text, 10, &scope);
    }
    buffer_release(&buffer);
    return scope;
}

static char *denied_reason(
    struct facts *facts, struct facts_root *root, const struct process_facts *process)
{
    const uint64_t scope = yama_scope(root);

    if (geteuid() == 0) {
        return region_copy_text(&facts->region,
            "this root has no CAP_SYS_PTRACE over the process: run outside of the "
            "container, or give it that capability");
    }
    if (process->user_id != geteuid()) {
        return region_printf(&facts->region,
            "the process belongs to user %u: run with sudo, or give CAP_SYS_PTRACE",
            process->user_id);
    }
    if (scope > 0) {
        return region_printf(&facts->region,
            "kernel.yama.ptrace_scope is %llu: run with sudo, give CAP_SYS_PTRACE, or "
            "set it to 0",
            (unsigned long long)scope);
    }
    return region_copy_text(&facts->region,
        "the process made itself not dumpable: run with sudo, or give CAP_SYS_PTRACE");
}

void gap_add_failure(struct facts *facts, struct facts_root *root, const char *fact,
    const struct process_facts *process, int rc)
{
    const char *why = NULL;

    switch (-rc) {
    case ENOMEM:
        return;
    case EACCES:
    case EPERM:
        why = denied_reason(facts, root, process);
        break;
    case ESRCH:
        why = "the process ended while it was read";
        break;
    case ENOENT:
        why = "this kernel does not offer it";
        break;
    case EINVAL:
        why = "the text is not what this file should hold";
        break;
    case EFBIG:
        why = "there is more of it than is ever read";
        break;
    default:
        why = strerrordesc_np(-rc);
        break;
    }
    gap_add(facts, fact, process->pid, facts_state_of(rc),
        why != NULL ? why : "reading it failed");
}
