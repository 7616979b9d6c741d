/* memory_process.h - the memory of a live process as a struct memory. */
#ifndef STRATA_FACTS_MEMORY_PROCESS_H
#define STRATA_FACTS_MEMORY_PROCESS_H

#include "facts/memory.h"
#include "facts/page_looks.h"
#include "facts/pagemap.h"
#include "facts/process_folder.h"
#include "facts_types/process_facts.h"

struct memory_process {
    struct memory memory; /* first: the operations get a pointer to it */
    int32_t pid;          /* of a thread that has the memory */
    int mem_fd;           /* /proc/PID/mem */
    bool use_readv;       /* process_vm_readv(2) is tried first for large reads */
    struct pagemap pagemap;
    const struct mapping *mappings; /* as smaps told, sorted; not owned */
    size_t mapping_count;           /* 0: nothing is known of them */
    uint64_t private_block;         /* in which a page was seen to be its own, */
    uint64_t private_ns;            /* at this time */
    struct page_looks looks;
};

/*
 * Opens the memory of the process of folder. Nothing is stopped, attached or changed. 0; -EACCES
 * or -EPERM: needs the same user, CAP_SYS_PTRACE or a lower kernel.yama.ptrace_scope;
 * -ESRCH; or -errno. On 0 release with memory_process_close().
 */
int memory_process_open(struct memory_process *process, struct process_folder *folder);

/*
 * What smaps told of the process a moment ago, which must outlive process: large reads from
 * mappings without a shared page then cost less.
 */
void memory_process_know(
    struct memory_process *process, const struct process_facts *facts);

void memory_process_close(struct memory_process *process);

#endif
