/*
 * zend_symbols.c - decodes zend_mm_get_heap() of a stripped PHP.
 *
 * The function returns the static alloc_globals.mm_heap. Its code is, in every build of the
 * thread-unsafe engine that was seen:
 *   x86-64   [endbr64]  mov rax, [rip + disp32]  ret
 *   aarch64  [bti]      adrp xN, page;  ldr x0, [xN, #offset];  ret
 * A thread-safe engine reads fs: or tpidr_el0 first; it does not match, and its heaps are
 * found by their shape instead. This is also the only way to see a PHP whose heap is
 * malloc (USE_ZEND_ALLOC=0): it has no chunk at all.
 */
#include "facts/zend_symbols.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
    CODE_BYTES = 16,
    ENDBR_BYTES = 4,
    MOV_BYTES = 7,
    ARM_PAGE_BYTES = 4096,
};

static int decode_x86(
    const uint8_t *code, size_t bytes, uint64_t address, uint64_t *global)
{
    static const uint8_t endbr[ENDBR_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const uint8_t mov_rax[] = {0x48, 0x8b, 0x05};
    int32_t displacement;
    size_t at = 0;

    if (bytes >= ENDBR_BYTES && memcmp(code, endbr, ENDBR_BYTES) == 0) {
        at = ENDBR_BYTES;
    }
    if (bytes < at + MOV_BYTES + 1 || memcmp(code + at, mov_rax, sizeof(mov_rax)) != 0 ||
        code[at + MOV_BYTES] != 0xc3) {
        return -ENOENT;
    }
    memcpy(&displacement, code + at + sizeof(mov_rax), sizeof(displacement));
    *global = address + at + MOV_BYTES + (uint64_t)(int64_t)displacement;
    return 0;
}

static uint32_t instruction(const uint8_t *code, size_t index)
{
    uint32_t word;

    memcpy(&word, code + index * sizeof(word), sizeof(word));
    return word;
}

static int decode_arm(
    const uint8_t *code, size_t bytes, uint64_t address, uint64_t *global)
{
    size_t at = 0;

    if (bytes < CODE_BYTES) {
        return -ENOENT;
    }
    if (instruction(code, 0) == 0xd503245f) { /* bti c */
        at = 1;
    }
    uint32_t adrp = instruction(code, at);
    uint32_t load = instruction(code, at + 1);
    /* adrp xN: 1 immlo 10000 immhi Rd; ldr x0, [xN, #imm12 * 8] */
    if ((adrp & 0x9f000000) != 0x90000000 || (load & 0xffc0001f) != 0xf9400000 ||
        (adrp & 0x1f) != (load >> 5 & 0x1f) || instruction(code, at + 2) != 0xd65f03c0) {
        return -ENOENT;
    }
    uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    if ((pages & 0x100000) != 0) {
        pages |= ~(uint64_t)0x1fffff; /* 21 bits, signed */
    }
    uint64_t page = (address + at * 4) & ~(uint64_t)(ARM_PAGE_BYTES - 1);
    *global = page + pages * ARM_PAGE_BYTES + (uint64_t)(load >> 10 & 0xfff) * 8;
    return 0;
}

int zend_decode_load(const uint8_t *code, size_t bytes, uint64_t address,
    uint16_t machine, uint64_t *global)
{
    switch (machine) {
    case EM_X86_64:
        return decode_x86(code, bytes, address, global);
    case EM_AARCH64:
        return decode_arm(code, bytes, address, global);
    default:
        return -ENOENT;
    }
}

int zend_symbols_read(struct memory *memory, uint64_t start, struct zend_symbols *symbols)
{
    struct elf_symbols elf;
    uint8_t code[CODE_BYTES];
    uint64_t function;
    uint64_t global;
    uint64_t unused;

    *symbols = (struct zend_symbols){0};
    int rc = elf_symbols_open(memory, start, &elf);
    rc = rc != 0 ? rc : elf_symbol_find(&elf, "zend_mm_get_heap", &function);
    if (rc != 0) {
        return rc == -ENOENT || rc == -EINVAL ? 0 : rc;
    }
    symbols->is_php = true;
    symbols->thread_safe = elf_symbol_find(&elf, "tsrm_get_ls_cache", &unused) == 0;
    rc = memory_read_present(memory, function, code, sizeof(code));
    if (rc != 0 ||
        zend_decode_load(code, sizeof(code), function, elf.machine, &global) != 0) {
        return rc;
    }
    return memory_read_word(memory, global, &symbols->heap);
}
