/* elf_symbols.h - exported symbols of a running image, out of the process's own memory. */
#ifndef STRATA_FACTS_ELF_SYMBOLS_H
#define STRATA_FACTS_ELF_SYMBOLS_H

#include <stdint.h>

#include "facts/memory.h"

/* The dynamic symbol table of one mapped ELF image, as needed for look-ups by name. */
struct elf_symbols {
    struct memory *memory;
    uint64_t base;    /* load bias: what is added to every address in the file */
    uint16_t machine; /* EM_X86_64, EM_AARCH64 */
    uint64_t symbols; /* addresses of the tables in the target */
    uint64_t strings;
    uint64_t strings_bytes;
    uint64_t hash; /* DT_GNU_HASH */
};

/*
 * Reads the headers of the image whose first page is mapped at start. It works on deleted,
 * upgraded and stripped binaries, since the loader keeps what it needs in memory. Only
 * present pages are read. 0, -EINVAL (no ELF image of 64 bits, no usable dynamic
 * section), -ENODATA (a page is not resident), or -errno of a read.
 */
int elf_symbols_open(struct memory *memory, uint64_t start, struct elf_symbols *elf);

/* The address of the exported symbol name in the target. 0, -ENOENT, or as above. */
int elf_symbol_find(const struct elf_symbols *elf, const char *name, uint64_t *address);

#endif
