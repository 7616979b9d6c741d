/* test_thread_hostile.c - memory full of words that look like threads: what it costs to look at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/thread_descriptor.h"
#include "facts/thread_stack.h"
#include "paged_memory.h"

enum {
    PAGE = 4096,
    WORDS = PAGE / sizeof(uint64_t),
    MAPPING_PAGES = 32, /* such a mapping is searched whole */
    MAPPINGS = 5000,
    READS_MAX = 6 << 20,
    REGION_BYTES = 64 << 20,
};

static const uint64_t base = 0x7f0000000000;
static const uint64_t futex_offset = (uint64_t)-32;

static struct {
    struct memory memory; /* first */
    void (*fill)(uint64_t page, uint64_t *words);
    uint64_t reads;
    uint64_t pages_asked;
    struct region region;
    struct mapping mappings[MAPPINGS];
    struct process_facts process;
} target;

static const uint8_t *page_of_words(struct memory *memory, uint64_t page)
{
    static uint64_t words[WORDS];

    (void)memory;
    memset(words, 0, sizeof(words));
    target.fill(page, words);
    return (const uint8_t *)words;
}

static int read_words(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    if (++target.reads > READS_MAX) {
        fail_msg("it is read and read");
    }
    return paged_memory_read(memory, address, data, bytes, page_of_words);
}

static int look_at_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    (void)memory;
    (void)address;
    target.pages_asked += count;
    memset(bits, PAGE_PRESENT, count);
    return 0;
}

static void begin(void (*fill)(uint64_t page, uint64_t *words), size_t mappings)
{
    static const struct memory_operations operations = {
        .read = read_words, .pages = look_at_pages};
    static char no_path[] = "";

    memset(&target, 0, sizeof(target));
    target.memory = (struct memory){.operations = &operations, .page_bytes = PAGE};
    target.fill = fill;
    region_init(&target.region, REGION_BYTES);
    for (size_t i = 0; i < mappings; i++) {
        const uint64_t start = base + 2 * i * MAPPING_PAGES * PAGE;
        target.mappings[i] = (struct mapping){.start = start,
            .end = start + MAPPING_PAGES * PAGE,
            .permissions = MAPPING_READ | MAPPING_WRITE,
            .path = no_path};
    }
    target.process.mappings = target.mappings;
    target.process.mapping_count = mappings;
}

static void put_thread(
    uint64_t *words, uint64_t address, uint64_t next, uint64_t previous)
{
    words[0] = next;
    words[1] = previous;
    words[2] = 0;
    words[3] = address + 0x20;
    words[4] = address + 0x20;
    words[5] = futex_offset;
}

/*
 * Threads in threes: the neighbours of the first are the others, both point back to it, and from
 * there a walk leads to one that is its own next one, far from where it began.
 */
static void fill_with_endless_rings(uint64_t page, uint64_t *words)
{
    enum { THREAD_WORDS = 6, THREAD = THREAD_WORDS * sizeof(uint64_t) };

    for (uint64_t i = 0; (i + 3) * THREAD_WORDS <= WORDS; i += 3) {
        const uint64_t first = page + i * THREAD;
        uint64_t *place = words + i * THREAD_WORDS;
        put_thread(place, first, first + THREAD, first + 2 * THREAD);
        put_thread(place + THREAD_WORDS, first + THREAD, page + (WORDS - 8) * 8, first);
        put_thread(place + 2 * THREAD_WORDS, first + 2 * THREAD, first, 0);
    }
    put_thread(words + WORDS - 8, page + (WORDS - 8) * 8, page + (WORDS - 8) * 8, 1);
}

static void rings_that_never_come_round(void **state)
{
    struct thread_descriptors found;

    (void)state;
    begin(fill_with_endless_rings, MAPPINGS);
    assert_int_equal(
        thread_descriptors_find(&target.memory, &target.process, &target.region, &found),
        0);
    assert_true(found.count > 0);
    region_release(&target.region);
}

/* Three threads in a page and no ring; each says that its stack begins a GiB below all. */
static void fill_with_one_stack_for_all(uint64_t page, uint64_t *words)
{
    enum { THREAD_BYTES = 0x550, BLOCK = 0x100 / sizeof(uint64_t) };
    const uint64_t start = base - (UINT64_C(1) << 30);

    for (uint64_t at = 0; at + THREAD_BYTES <= PAGE; at += THREAD_BYTES) {
        uint64_t *place = words + at / sizeof(uint64_t);
        put_thread(place, page + at, 0, 0);
        place[BLOCK] = start;
        place[BLOCK + 1] = page + at + THREAD_BYTES - start;
    }
}

static void stacks_inside_of_each_other(void **state)
{
    const struct thread_list none = {0};

    (void)state;
    begin(fill_with_one_stack_for_all, 4);
    assert_int_equal(
        thread_stack_find(&target.memory, &none, &target.region, &target.process), 0);
    assert_int_equal(target.process.span_count, 1);
    assert_true(target.pages_asked < 2 * (UINT64_C(1) << 30) / PAGE);
    region_release(&target.region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_that_never_come_round),
        cmocka_unit_test(stacks_inside_of_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
