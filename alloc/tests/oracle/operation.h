/*
 * Lists of heap operations, as a PHP program would cause them, made from a seed.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_OPERATION_H
#define STRATA_ALLOC_TESTS_ORACLE_OPERATION_H

#include <stddef.h>
#include <stdint.h>

/* Slots of each kind; engine.php has the same numbers. */
enum { STRING_SLOTS = 256, ARRAY_SLOTS = 16, FIXED_SLOTS = 16, PIECES = 7 };

/* The numbers are those of the words sent to engine.php. */
enum operation_kind {
    OPERATION_MAKE = 1,    /* string[slot] = str_repeat('x', amount) */
    OPERATION_DROP = 2,    /* string[slot] = null */
    OPERATION_PIECE = 3,   /* string[slot] .= piece[other] */
    OPERATION_CONCAT = 4,  /* string[slot] .= string[other], perhaps itself */
    OPERATION_CUT = 5,     /* string[slot] = substr(string[slot], 0, amount), in eights */
    OPERATION_QUOTE = 6,   /* string[slot] = quotemeta(string[slot]) */
    OPERATION_APPEND = 7,  /* amount times array[slot][] = integer */
    OPERATION_COPY = 8,    /* array[slot] = array[other]; array[slot][0] = 1 */
    OPERATION_DISCARD = 9, /* array[slot] = null */
    OPERATION_RESIZE = 10, /* fixed[slot]->setSize(amount) */
    OPERATION_GC = 11,     /* gc_mem_caches() */
    OPERATION_RESET = 12,  /* memory_reset_peak_usage() */
};

struct operation {
    enum operation_kind kind;
    unsigned slot;
    unsigned other;
    uint32_t amount;
};

/* Length of a piece which OPERATION_PIECE adds, in bytes. */
extern const uint32_t piece_bytes[PIECES];

/*
 * Fills list with count operations which depend on nothing but the seed. Every one is
 * possible in its place: nothing empty is grown, cut or copied.
 */
void operation_list_generate(struct operation *list, size_t count, uint64_t seed);

/*
 * Drops from list what is not possible in its place (after entries were taken out of the
 * middle); returns the new count.
 */
size_t operation_list_repair(struct operation *list, size_t count);

/* The word which engine.php reads for this operation. */
uint64_t operation_word(const struct operation *operation);

/* Writes the operation as one line of PHP, without newline, into text (cut to size). */
void operation_describe(const struct operation *operation, char *text, size_t text_bytes);

#endif
