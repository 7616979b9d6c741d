/* memory_process.h - the memory of a live process as a struct memory. */
#ifndef STRATA_FACTS_MEMORY_PROCESS_H
#define STRATA_FACTS_MEMORY_PROCESS_H

#include "facts/memory.h"
#include "facts/pagemap.h"
#include "facts/process_folder.h"

enum { MEMORY_LOOK_PAGES = 64 };

struct memory_process {
    struct memory memory; /* first: the operations get a pointer to it */
    int32_t pid;          /* of a thread that has the memory */
    int mem_fd;           /* /proc/PID/mem */
    bool use_readv;       /* process_vm_readv(2) is tried first for large reads */
    struct pagemap pagemap;
    /* What the caller last asked of at most MEMORY_LOOK_PAGES pages. */
    uint64_t look_start;
    size_t look_count; /* 0: nothing */
    uint8_t look[MEMORY_LOOK_PAGES];
};

/*
 * Opens the memory of the process of folder. Nothing is stopped, attached or changed. 0; -EACCES
 * or -EPERM: needs the same user, CAP_SYS_PTRACE or a lower kernel.yama.ptrace_scope;
 * -ESRCH; or -errno. On 0 release with memory_process_close().
 */
int memory_process_open(struct memory_process *process, struct process_folder *folder);
void memory_process_close(struct memory_process *process);

#endif
