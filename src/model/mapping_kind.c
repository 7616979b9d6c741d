/*
 * mapping_kind.c - classifies mappings by path, permissions and neighbours.
 *
 * The special paths are those of Linux 6.18: fs/proc/task_mmu.c (get_vma_name), mm/shmem.c
 * ("dev/zero", "memfd:"), ipc/shm.c ("SYSV%08x"), Documentation/filesystems/proc.rst. The
 * reader has already cut " (deleted)" off.
 *
 * "Program file" means: the same file is mapped executable somewhere in the process.
 * That needs no look into the file, and tells libraries and executables from locale
 * archives, databases and fonts. The anonymous mapping that starts where the writable
 * data of a program file ends is its bss (fs/binfmt_elf.c, and ld.so does the same).
 */
#include "model/mapping_kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct program_file {
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t inode;
};

static int compare_files(const void *left, const void *right)
{
    const struct program_file *a = left;
    const struct program_file *b = right;

    if (a->inode != b->inode) {
        return a->inode < b->inode ? -1 : 1;
    }
    if (a->device_major != b->device_major) {
        return a->device_major < b->device_major ? -1 : 1;
    }
    if (a->device_minor != b->device_minor) {
        return a->device_minor < b->device_minor ? -1 : 1;
    }
    return 0;
}

static struct program_file file_of(const struct mapping *mapping)
{
    return (struct program_file){
        .device_major = mapping->device_major,
        .device_minor = mapping->device_minor,
        .inode = mapping->inode,
    };
}

int program_files_collect(struct region *region, const struct process_facts *process,
    struct program_files *files)
{
    *files = (struct program_files){.items = NULL};
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        struct program_file *item;

        if (mapping->inode == 0 || (mapping->permissions & MAPPING_EXECUTE) == 0) {
            continue;
        }
        item = region_grow(
            region, &files->items, files->count, process->mapping_count, sizeof(*item));
        if (item == NULL) {
            return -ENOMEM;
        }
        *item = file_of(mapping);
        files->count++;
    }
    if (files->count > 1) {
        qsort(files->items, files->count, sizeof(*files->items), compare_files);
    }
    return 0;
}

static bool is_program_file(
    const struct mapping *mapping, const struct program_files *files)
{
    const struct program_file key = file_of(mapping);

    return mapping->inode != 0 && files->count > 0 &&
           bsearch(&key, files->items, files->count, sizeof(key), compare_files) != NULL;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The shared memory that a path names, or MAPPING_KIND_FILE. */
static enum mapping_kind shared_memory_kind(const char *path)
{
    if (strcmp(path, "/dev/zero") == 0 || starts_with(path, "[anon_shmem:")) {
        return MAPPING_KIND_SHM_ANONYMOUS;
    }
    if (starts_with(path, "/memfd:")) {
        return MAPPING_KIND_SHM_MEMFD;
    }
    if (starts_with(path, "/SYSV")) {
        return MAPPING_KIND_SHM_SYSV;
    }
    if (starts_with(path, "/dev/shm/")) {
        return MAPPING_KIND_SHM_POSIX;
    }
    return MAPPING_KIND_FILE;
}

static enum mapping_kind bracket_kind(const struct mapping *mapping)
{
    static const struct {
        const char *prefix;
        enum mapping_kind kind;
    } names[] = {
        {"[stack", MAPPING_KIND_MAIN_STACK},
        {"[heap]", MAPPING_KIND_BRK},
        {"[vdso]", MAPPING_KIND_KERNEL},
        {"[vvar", MAPPING_KIND_KERNEL},
        {"[vsyscall]", MAPPING_KIND_KERNEL},
        {"[uprobes]", MAPPING_KIND_KERNEL},
        {"[anon_shmem:", MAPPING_KIND_SHM_ANONYMOUS},
        {"[anon:", MAPPING_KIND_NAMED},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (starts_with(mapping->path, names[i].prefix)) {
            return names[i].kind;
        }
    }
    return MAPPING_KIND_ANONYMOUS;
}

static bool is_bss(
    const struct process_facts *process, size_t index, const struct program_files *files)
{
    const struct mapping *mapping = &process->mappings[index];
    const struct mapping *below = index > 0 ? &process->mappings[index - 1] : NULL;

    return below != NULL && below->end == mapping->start &&
           (below->permissions & MAPPING_WRITE) != 0 &&
           (below->permissions & MAPPING_SHARED) == 0 && is_program_file(below, files);
}

enum mapping_kind mapping_kind_of(
    const struct process_facts *process, size_t index, const struct program_files *files)
{
    const struct mapping *mapping = &process->mappings[index];
    enum mapping_kind kind;

    if (mapping->path[0] == '[') {
        kind = bracket_kind(mapping);
    } else if (mapping->path[0] == '\0' && mapping->inode == 0) {
        kind = MAPPING_KIND_ANONYMOUS;
    } else {
        kind = shared_memory_kind(mapping->path);
        if (kind == MAPPING_KIND_FILE && starts_with(mapping->path, "/dev/")) {
            kind = MAPPING_KIND_DEVICE;
        } else if (kind == MAPPING_KIND_FILE && is_program_file(mapping, files)) {
            kind = MAPPING_KIND_PROGRAM;
        }
    }
    if ((mapping->flags & MAPPING_IO) != 0 && kind != MAPPING_KIND_KERNEL) {
        return MAPPING_KIND_DEVICE;
    }
    if (kind != MAPPING_KIND_ANONYMOUS) {
        return kind;
    }
    if ((mapping->permissions & MAPPING_EXECUTE) != 0) {
        return MAPPING_KIND_GENERATED_CODE;
    }
    return is_bss(process, index, files) ? MAPPING_KIND_BSS : MAPPING_KIND_ANONYMOUS;
}
