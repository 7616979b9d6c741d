/* test_memory.c - memory and page tables of a child, and the checks in front of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "facts/memory_process.h"
#include "facts/smaps.h"

enum { PAGES = 64, LARGE_BYTES = 48 << 10 };

struct memory_test {
    struct facts_root root;
    struct child child;
    struct process_folder folder;
    struct memory_process process;
    uint64_t page_bytes;
    uint64_t base; /* of the child's test pages */
};

/*
 * PAGES anonymous pages: the first quarter written, the second only read (the page of
 * zeroes), the third untouched, the last unmapped. words[1]: a shared mapping.
 */
static int map_pages(struct child_side *side)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t quarter = PAGES / 4 * page;
    char *base = mmap(
        NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shared =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile char sum = 0;

    if (base == MAP_FAILED || shared == MAP_FAILED ||
        madvise(base, PAGES * page, MADV_NOHUGEPAGE) != 0 ||
        munmap(base + 3 * quarter, quarter) != 0) {
        return 1;
    }
    for (size_t i = 0; i < quarter; i++) {
        base[i] = (char)(i * 7);
    }
    for (size_t i = quarter; i < 2 * quarter; i += page) {
        sum = (char)(sum + base[i]);
    }
    shared[0] = 1;
    child_tell(side,
        (uint64_t[CHILD_WORDS]){(uint64_t)(uintptr_t)base, (uint64_t)(uintptr_t)shared});
    return 0;
}

static int open_child(void **state)
{
    static struct memory_test test;

    test = (struct memory_test){.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    child_start(&test.child, map_pages);
    test.base = test.child.words[0];
    assert_int_equal(facts_root_open(&test.root, NULL, NULL), 0);
    assert_int_equal(process_folder_open(&test.root, test.child.pid, &test.folder), 0);
    assert_int_equal(memory_process_open(&test.process, &test.folder), 0);
    *state = &test;
    return 0;
}

static int close_child(void **state)
{
    struct memory_test *test = *state;

    memory_process_close(&test->process);
    process_folder_close(&test->folder);
    facts_root_close(&test->root);
    child_end(&test->child);
    return 0;
}

static void bytes_are_those_of_the_child(void **state)
{
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    static unsigned char data[LARGE_BYTES];
    uint64_t word = 0;

    assert_int_equal(memory_read(memory, test->base + 3, data, 100), 0);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(data[i], (unsigned char)((i + 3) * 7));
    }
    assert_int_equal(memory_read(memory, test->base, data, sizeof(data)), 0);
    for (size_t i = 0; i < sizeof(data); i++) {
        assert_int_equal(data[i], (unsigned char)(i * 7));
    }
    assert_int_equal(memory_read_word(memory, test->base, &word), 0);
    assert_true(word == UINT64_C(0x312a231c150e0700));
    assert_int_equal(memory->bytes_read >= 100 + sizeof(data) + 8, 1);
}

static void a_read_is_whole_or_fails(void **state)
{
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    const uint64_t hole = test->base + PAGES / 4 * 3 * test->page_bytes;
    static char data[LARGE_BYTES + 16];

    assert_int_equal(memory_read(memory, hole - 8, data, 16), -EFAULT);
    assert_int_equal(
        memory_read(memory, hole - LARGE_BYTES, data, LARGE_BYTES + 16), -EFAULT);
    assert_int_equal(memory_read(memory, hole - 8, data, 8), 0);
    assert_int_equal(memory_read(memory, 0, data, 8), -EFAULT);
    assert_int_equal(memory_read(memory, UINT64_MAX - 3, data, 8), -EFAULT);
    assert_int_equal(memory_read(memory, UINT64_MAX - 7, data, 7), -EFAULT);
    assert_int_equal(memory_read(memory, 0, data, 0), 0);
    assert_int_equal(memory_read_present(memory, UINT64_MAX - 3, data, 8), -EFAULT);
}

static void absent_pages_are_never_read(void **state)
{
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    const uint64_t untouched = test->base + PAGES / 2 * test->page_bytes;
    uint8_t bits = 0xff;
    char data[16];

    assert_int_equal(memory_read_present(memory, untouched, data, 8), -ENODATA);
    assert_int_equal(memory_read_present(memory, untouched - 8, data, 16), -ENODATA);
    assert_int_equal(memory_read_present(memory, untouched - 8, data, 8), 0);
    assert_int_equal(memory_pages(memory, untouched, 1, &bits), 0);
    assert_int_equal(bits & PAGE_PRESENT, 0);
}

static void page_bits_tell_written_zero_and_absent_pages(void **state)
{
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    uint8_t bits[PAGES + 1];

    /* The address need not be aligned: it stands for its page. */
    assert_int_equal(memory_pages(memory, test->base + 5, PAGES, bits), 0);
    for (size_t i = 0; i < PAGES; i++) {
        const uint8_t expected[] = {
            PAGE_PRESENT | PAGE_EXCLUSIVE, PAGE_PRESENT | PAGE_ZERO, 0, 0};
        if (bits[i] != expected[i / (PAGES / 4)]) {
            fail_msg("page %zu has bits %u", i, bits[i]);
        }
    }
    assert_int_equal(memory_pages(memory, test->child.words[1], 1, bits), 0);
    assert_int_equal(bits[0], PAGE_PRESENT | PAGE_FILE | PAGE_EXCLUSIVE);
    assert_int_equal(memory_pages(memory, UINT64_MAX, 2, bits), -EFAULT);
    assert_int_equal(memory_pages(memory, test->base, 0, bits), 0);
}

/* Asked once or many times, from any page on, for one or all: what is told is the same. */
static void present_pages_are_told_alike(void **state)
{
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    const uint8_t said = PAGE_PRESENT | PAGE_ZERO; /* before 6.7 others come with them */
    uint8_t all[PAGES];
    uint8_t bits[PAGES];

    assert_int_equal(memory_pages(memory, test->base, PAGES, all), 0);
    for (size_t first = 0; first < PAGES; first++) {
        const size_t count = first % 3 == 0 ? 1 : PAGES - first;
        memset(bits, 0xff, sizeof(bits));
        assert_int_equal(
            memory_present(memory, test->base + first * test->page_bytes, count, bits),
            0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(bits[i] & said, all[first + i] & said);
        }
    }
    assert_int_equal(memory_present(memory, UINT64_MAX, 2, bits), -EFAULT);
}

/* In slots that are written, read only, untouched and unmapped, with and without the call. */
static void scattered_places_are_read_each_or_not(void **state)
{
    enum { BYTES = 16, PLACES = 6 };
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    const uint64_t quarter = PAGES / 4 * test->page_bytes;
    const uint64_t addresses[PLACES] = {test->base + 3 * quarter + 8, test->base + 24,
        test->base + 2 * quarter, test->base + quarter - 8, UINT64_MAX - 3,
        test->base + 2 * quarter - BYTES};
    const bool expected[PLACES] = {false, true, false, true, false, true};
    struct process_facts facts = {.pid = test->child.pid};
    struct region region;

    region_init(&region, 16 << 20);
    assert_int_equal(smaps_read(&test->folder, true, &region, &facts), 0);
    for (int by_call = 0; by_call < 2; by_call++) {
        uint8_t data[PLACES][BYTES] = {{0}};
        bool was_read[PLACES];
        assert_int_equal(
            memory_read_scattered(memory, addresses, PLACES, BYTES, data[0], was_read),
            0);
        for (size_t i = 0; i < PLACES; i++) {
            assert_int_equal(was_read[i], expected[i]);
        }
        assert_int_equal(data[1][0], 24 * 7);
        assert_int_equal(data[3][7], (uint8_t)((quarter - 1) * 7));
        assert_int_equal(data[3][8] + data[5][BYTES - 1], 0);
        memory_process_know(&test->process, &facts);
    }
    region_release(&region);
}

/* smaps told that all is private; since then pages became shared, as by a fork. */
static void one_shared_page_ends_the_trust_in_smaps(void **state)
{
    struct memory_test *test = *state;
    struct memory *memory = &test->process.memory;
    const uint64_t quarter = PAGES / 4 * test->page_bytes;
    struct mapping mapping = {.start = test->base, .end = test->base + 3 * quarter};
    const struct process_facts facts = {
        .mappings = &mapping, .mapping_count = 1, .mappings_have_values = true};
    static char data[LARGE_BYTES];

    mapping.values[MAPPING_FACT_RSS].state = FACT_OK;
    mapping.values[MAPPING_FACT_PRIVATE_CLEAN].state = FACT_OK;
    mapping.values[MAPPING_FACT_PRIVATE_DIRTY].state = FACT_OK;
    memory_process_know(&test->process, &facts);
    assert_int_equal(memory_read(memory, test->base, data, sizeof(data)), 0);
    assert_int_equal(test->process.mapping_count, 1);
    test->process.private_ns = 0;
    memset(data, 1, sizeof(data));
    assert_int_equal(memory_read(memory, test->base + quarter, data, sizeof(data)), 0);
    assert_int_equal(test->process.mapping_count, 0);
    for (size_t i = 0; i < sizeof(data); i++) {
        assert_int_equal(data[i], 0);
    }
}

static void zero_pages_are_known_without_the_scan_request(void **state)
{
    struct memory_test *test = *state;
    struct pagemap *pagemap = &test->process.pagemap;
    const uint64_t zero_page = test->base + PAGES / 4 * test->page_bytes;
    uint64_t entry = 0;
    uint8_t bits = 0;

    /* As on a kernel before 6.7, where the frame number must tell. */
    assert_int_equal(pagemap_read(pagemap, zero_page, 1, &entry), 0);
    pagemap->can_scan = false;
    pagemap->zero_frame = entry & PAGEMAP_FRAME_MASK;
    assert_int_equal(pagemap_bits(pagemap, zero_page, 1, &bits), 0);
    assert_int_equal(bits & PAGE_ZERO, pagemap->zero_frame != 0 ? PAGE_ZERO : 0);
    assert_int_equal(pagemap_bits(pagemap, test->base, 1, &bits), 0);
    assert_int_equal(bits & PAGE_ZERO, 0);
}

static void empty_address_space_is_jumped_over(void **state)
{
    struct memory_test *test = *state;
    struct pagemap *pagemap = &test->process.pagemap;
    const uint64_t page = test->page_bytes;
    const uint64_t untouched = test->base + PAGES / 2 * page;
    uint64_t start = 0;
    uint64_t stop = 0;

    assert_true(
        pagemap_next_populated(pagemap, test->base + page, untouched, &start, &stop));
    assert_true(start == test->base + page);
    assert_true(stop == untouched);
    assert_false(pagemap_next_populated(pagemap, untouched, untouched, &start, &stop));
    if (pagemap->can_scan) {
        assert_false(pagemap_next_populated(
            pagemap, untouched, untouched + PAGES / 4 * page, &start, &stop));
    }
    pagemap->can_scan = false;
    assert_true(
        pagemap_next_populated(pagemap, untouched, untouched + page, &start, &stop));
    assert_true(start == untouched && stop == untouched + page);
}

static void the_memory_of_an_ended_process_is_gone(void **state)
{
    struct memory_test *test = *state;
    char data[16];
    uint8_t bits;

    child_end(&test->child);
    assert_int_equal(process_folder_check(&test->folder), -ESRCH);
    assert_true(memory_read(&test->process.memory, test->base, data, 16) < 0);
    int rc = memory_pages(&test->process.memory, test->base, 1, &bits);
    assert_true(rc < 0 || bits == 0);
    child_start(&test->child, map_pages); /* for the teardown */
}

int main(void)
{
#define CHILD_TEST(name) cmocka_unit_test_setup_teardown(name, open_child, close_child)
    const struct CMUnitTest tests[] = {
        CHILD_TEST(bytes_are_those_of_the_child),
        CHILD_TEST(a_read_is_whole_or_fails),
        CHILD_TEST(absent_pages_are_never_read),
        CHILD_TEST(page_bits_tell_written_zero_and_absent_pages),
        CHILD_TEST(present_pages_are_told_alike),
        CHILD_TEST(scattered_places_are_read_each_or_not),
        CHILD_TEST(one_shared_page_ends_the_trust_in_smaps),
        CHILD_TEST(zero_pages_are_known_without_the_scan_request),
        CHILD_TEST(empty_address_space_is_jumped_over),
        CHILD_TEST(the_memory_of_an_ended_process_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
