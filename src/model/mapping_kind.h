/* mapping_kind.h - what a mapping is by its line in maps, without looking inside. */
#ifndef STRATA_MODEL_MAPPING_KIND_H
#define STRATA_MODEL_MAPPING_KIND_H

#include <stdbool.h>

#include "base/region.h"
#include "facts_types/process_facts.h"

enum mapping_kind {
    MAPPING_KIND_PROGRAM,        /* file that is also mapped executable: ELF objects */
    MAPPING_KIND_FILE,           /* any other file */
    MAPPING_KIND_BSS,            /* anonymous, adjoins the data of a program file */
    MAPPING_KIND_SHM_ANONYMOUS,  /* MAP_SHARED|MAP_ANONYMOUS: "/dev/zero (deleted)" */
    MAPPING_KIND_SHM_MEMFD,      /* "/memfd:NAME (deleted)" */
    MAPPING_KIND_SHM_SYSV,       /* "/SYSV00000000 (deleted)" */
    MAPPING_KIND_SHM_POSIX,      /* below /dev/shm */
    MAPPING_KIND_DEVICE,         /* other nodes of /dev, and VM_IO mappings */
    MAPPING_KIND_KERNEL,         /* [vdso], [vvar], [vsyscall], [uprobes] */
    MAPPING_KIND_MAIN_STACK,     /* [stack] */
    MAPPING_KIND_BRK,            /* [heap] */
    MAPPING_KIND_GENERATED_CODE, /* anonymous and executable */
    MAPPING_KIND_NAMED,          /* [anon:NAME]: prctl(PR_SET_VMA_ANON_NAME) */
    MAPPING_KIND_ANONYMOUS,      /* private, without any of these marks */
};

/* The files of a process that are mapped executable somewhere; sorted. */
struct program_files {
    struct program_file *items;
    size_t count;
};

/* Collects them from the mappings of process. 0 or -ENOMEM. */
int program_files_collect(struct region *region, const struct process_facts *process,
    struct program_files *files);

/* The kind of the mapping at index; its neighbour below decides what is a bss. */
enum mapping_kind mapping_kind_of(
    const struct process_facts *process, size_t index, const struct program_files *files);

#endif
