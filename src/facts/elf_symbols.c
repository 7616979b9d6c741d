/*
 * elf_symbols.c - program headers, dynamic section, GNU hash table (System V gABI; the
 * hash section as laid out by binutils). Every count comes from the target and is bounded;
 * every chain ends after a fixed number of steps.
 */
#include "facts/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    MAX_PROGRAM_HEADERS = 64,
    MAX_DYNAMIC_ENTRIES = 256,
    MAX_CHAIN = 4096,
    MAX_NAME_BYTES = 128,
    HASH_HEADER_BYTES = 16,
    BLOOM_WORD_BYTES = 8,
    HASH_SEED = 5381,
};

static int find_dynamic(struct memory *memory, uint64_t start, const Elf64_Ehdr *header,
    uint64_t *base, uint64_t *dynamic)
{
    Elf64_Phdr programs[MAX_PROGRAM_HEADERS];
    bool have_base = false;
    size_t count = header->e_phnum;

    if (count == 0 || count > MAX_PROGRAM_HEADERS ||
        header->e_phentsize != sizeof(programs[0])) {
        return -EINVAL;
    }
    int rc = memory_read_present(
        memory, start + header->e_phoff, programs, count * sizeof(programs[0]));
    if (rc != 0) {
        return rc;
    }
    *dynamic = 0;
    for (size_t i = 0; i < count; i++) {
        if (programs[i].p_type == PT_LOAD && programs[i].p_offset == 0) {
            *base = start - programs[i].p_vaddr;
            have_base = true;
        } else if (programs[i].p_type == PT_DYNAMIC) {
            *dynamic = programs[i].p_vaddr;
        }
    }
    if (!have_base || *dynamic == 0) {
        return -EINVAL;
    }
    *dynamic += *base;
    return 0;
}

/* The loader may have relocated the entry in place, or (read-only images) may not. */
static uint64_t relocated(const struct elf_symbols *elf, uint64_t value)
{
    return value < elf->base ? value + elf->base : value;
}

static int read_dynamic(struct elf_symbols *elf, uint64_t dynamic)
{
    for (size_t i = 0; i < MAX_DYNAMIC_ENTRIES; i++) {
        Elf64_Dyn entry;
        int rc = memory_read_present(
            elf->memory, dynamic + i * sizeof(entry), &entry, sizeof(entry));
        if (rc != 0) {
            return rc;
        }
        switch (entry.d_tag) {
        case DT_NULL:
            return elf->symbols != 0 && elf->strings != 0 && elf->hash != 0 ? 0 : -EINVAL;
        case DT_SYMTAB:
            elf->symbols = relocated(elf, entry.d_un.d_ptr);
            break;
        case DT_STRTAB:
            elf->strings = relocated(elf, entry.d_un.d_ptr);
            break;
        case DT_STRSZ:
            elf->strings_bytes = entry.d_un.d_val;
            break;
        case DT_GNU_HASH:
            elf->hash = relocated(elf, entry.d_un.d_ptr);
            break;
        default:
            break;
        }
    }
    return -EINVAL;
}

int elf_symbols_open(struct memory *memory, uint64_t start, struct elf_symbols *elf)
{
    Elf64_Ehdr header;
    uint64_t dynamic;
    int rc = memory_read_present(memory, start, &header, sizeof(header));

    *elf = (struct elf_symbols){.memory = memory};
    if (rc != 0) {
        return rc;
    }
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return -EINVAL;
    }
    elf->machine = header.e_machine;
    rc = find_dynamic(memory, start, &header, &elf->base, &dynamic);
    return rc != 0 ? rc : read_dynamic(elf, dynamic);
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = HASH_SEED;

    for (; *name != '\0'; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash;
}

static int name_equals(
    const struct elf_symbols *elf, uint32_t offset, const char *name, bool *equal)
{
    char text[MAX_NAME_BYTES];
    size_t bytes = strlen(name) + 1;

    *equal = false;
    if (bytes > sizeof(text) || offset > elf->strings_bytes ||
        bytes > elf->strings_bytes - offset) {
        return 0;
    }
    int rc = memory_read_present(elf->memory, elf->strings + offset, text, bytes);
    if (rc == 0) {
        *equal = memcmp(text, name, bytes) == 0;
    }
    return rc;
}

static int read_half(const struct elf_symbols *elf, uint64_t address, uint32_t *half)
{
    return memory_read_present(elf->memory, address, half, sizeof(*half));
}

/* Does symbol number index have this name and a definition? 0 with *address, or -ENOENT. */
static int check_symbol(
    const struct elf_symbols *elf, uint32_t index, const char *name, uint64_t *address)
{
    Elf64_Sym symbol;
    bool equal;
    int rc = memory_read_present(elf->memory,
        elf->symbols + (uint64_t)index * sizeof(symbol), &symbol, sizeof(symbol));

    rc = rc != 0 ? rc : name_equals(elf, symbol.st_name, name, &equal);
    if (rc != 0) {
        return rc;
    }
    if (!equal || symbol.st_shndx == SHN_UNDEF) {
        return -ENOENT;
    }
    *address = elf->base + symbol.st_value;
    return 0;
}

int elf_symbol_find(const struct elf_symbols *elf, const char *name, uint64_t *address)
{
    uint32_t
        header[HASH_HEADER_BYTES / 4]; /* buckets, first symbol, bloom words, shift */
    uint32_t wanted = gnu_hash(name);
    uint32_t index;
    int rc = memory_read_present(elf->memory, elf->hash, header, sizeof(header));

    if (rc != 0) {
        return rc;
    }
    if (header[0] == 0) {
        return -EINVAL;
    }
    uint64_t buckets =
        elf->hash + HASH_HEADER_BYTES + (uint64_t)header[2] * BLOOM_WORD_BYTES;
    uint64_t chains = buckets + (uint64_t)header[0] * 4;
    rc = read_half(elf, buckets + (uint64_t)(wanted % header[0]) * 4, &index);
    if (rc != 0 || index < header[1]) {
        return rc != 0 ? rc : -ENOENT;
    }
    for (size_t step = 0; step < MAX_CHAIN; step++, index++) {
        uint32_t hash;
        rc = read_half(elf, chains + (uint64_t)(index - header[1]) * 4, &hash);
        if (rc != 0) {
            return rc;
        }
        if ((hash | 1) == (wanted | 1)) {
            rc = check_symbol(elf, index, name, address);
            if (rc != -ENOENT) {
                return rc;
            }
        }
        if ((hash & 1) != 0) {
            return -ENOENT;
        }
    }
    return -EINVAL;
}
