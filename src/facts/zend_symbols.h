/* zend_symbols.h - the heap pointer out of PHP's exported functions. */
#ifndef STRATA_FACTS_ZEND_SYMBOLS_H
#define STRATA_FACTS_ZEND_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/elf_symbols.h"

/* What the code of a PHP image says about its heap. */
struct zend_symbols {
    bool is_php;      /* the image exports zend_mm_get_heap */
    bool thread_safe; /* ZTS: the heap pointer lies in thread-local storage */
    uint64_t heap;    /* address of the heap struct; 0: not decoded */
};

/*
 * Looks for zend_mm_get_heap in the image mapped at start and decodes it: one load of a
 * global relative to the program counter, on x86-64 and aarch64. Not PHP is no error:
 * is_php stays false. 0, or -errno of a read.
 */
int zend_symbols_read(
    struct memory *memory, uint64_t start, struct zend_symbols *symbols);

/*
 * The address which code, bytes long and at address, loads from, if it is such a function:
 * 0, or -ENOENT. machine is the image's e_machine.
 */
int zend_decode_load(const uint8_t *code, size_t bytes, uint64_t address,
    uint16_t machine, uint64_t *global);

#endif
