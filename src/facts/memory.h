/* memory.h - the memory of another process, or of a test, behind one interface. */
#ifndef STRATA_FACTS_MEMORY_H
#define STRATA_FACTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One page table entry as readers need it. */
enum page_bits {
    PAGE_PRESENT = 1,
    PAGE_SWAPPED = 2,
    PAGE_FILE = 4,      /* file or shared anonymous */
    PAGE_EXCLUSIVE = 8, /* mapped by this process only */
    PAGE_ZERO = 16,     /* present, but the shared page of zeroes: costs no memory */
};

struct memory;

/*
 * Operations of a source of memory. read() copies exactly bytes or fails: a short copy is a
 * failure (-EFAULT), since process_vm_readv(2) reports a half unmapped range as success.
 * pages() stores one byte of enum page_bits for each of count pages from address on.
 * Both return 0 or -errno and never stop or change the target.
 */
struct memory_operations {
    int (*read)(struct memory *memory, uint64_t address, void *data, size_t bytes);
    int (*pages)(struct memory *memory, uint64_t address, size_t count, uint8_t *bits);
    /* Optional: pages() where less has to be told, see memory_present(). */
    int (*present)(struct memory *memory, uint64_t address, size_t count, uint8_t *bits);
    /* Optional: many small reads for the price of one, see memory_read_scattered(). */
    int (*read_scattered)(struct memory *memory, const uint64_t *addresses, size_t count,
        size_t bytes, uint8_t *data, bool *was_read);
    /* Optional, see memory_next_populated(). */
    bool (*next_populated)(struct memory *memory, uint64_t address, uint64_t end,
        uint64_t *start, uint64_t *stop);
};

/*
 * page_bytes is the target's page size. bytes_read counts what was copied, for the stated
 * cost. A source embeds this struct as its first member.
 */
struct memory {
    const struct memory_operations *operations;
    uint64_t page_bytes;
    uint64_t bytes_read;
};

/* The operations, with the checks that every caller needs (no wrap, bytes counted). */
int memory_read(struct memory *memory, uint64_t address, void *data, size_t bytes);
int memory_pages(struct memory *memory, uint64_t address, size_t count, uint8_t *bits);

/*
 * Only PAGE_PRESENT and PAGE_ZERO of each page; the other bits say nothing. Costs a fraction of
 * memory_pages() where the source can tell these from the page tables alone.
 */
int memory_present(struct memory *memory, uint64_t address, size_t count, uint8_t *bits);

/*
 * Like memory_read(), but refuses with -ENODATA when a page of the range is not present:
 * reading an absent page of the target would make page tables there and change the
 * residency that is being measured.
 */
int memory_read_present(
    struct memory *memory, uint64_t address, void *data, size_t bytes);

/* Places that are read at once, at most. */
enum { MEMORY_SCATTERED = 76 };

/*
 * Reads bytes at each of count addresses, one behind the other into data; was_read says which. The
 * others are absent, not mapped, or wrap. 0, or -errno when the target cannot be read at all.
 */
int memory_read_scattered(struct memory *memory, const uint64_t *addresses, size_t count,
    size_t bytes, uint8_t *data, bool *was_read);

/*
 * The first piece [*start, *stop) of [address, end) that may hold present pages; false when
 * there is none. A reader that looks at many places asks this first: programs reserve
 * terabytes of address space (sanitizers, Go, Java) which nobody could walk through.
 * A source that does not know answers with the whole of [address, end).
 */
bool memory_next_populated(struct memory *memory, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop);

/*
 * How many pages of [start, end), widened to whole pages, are present. Costs time for what
 * is populated only, where the source knows that. 0 or -errno.
 */
int memory_count_present(
    struct memory *memory, uint64_t start, uint64_t end, uint64_t *present_pages);

/* A little-endian 64-bit word; same errors as memory_read_present(). */
int memory_read_word(struct memory *memory, uint64_t address, uint64_t *word);

#endif
