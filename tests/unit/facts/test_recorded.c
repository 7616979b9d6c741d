/*
 * test_recorded.c - processes of other machines, recorded: the readers find in their memory what
 * the programs said of themselves. Made by tools/test-aarch64 --record.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compare_report.h"
#include "facts/glibc.h"
#include "facts/thread_stack.h"
#include "facts/zend.h"
#include "recorded_memory.h"

enum { PATH_BYTES = 4096 };

static int open_told(const char *folder, const char *name)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s/%s", STRATA_FIXTURES, folder, name);
    const int told = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(told >= 0);
    return told;
}

static const struct span *span_at(const struct process_facts *process, uint64_t address)
{
    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];
        if (address >= span->start && address < span->end) {
            return span;
        }
    }
    return NULL;
}

static void arenas_are_as_malloc_info_has_them(void **state)
{
    static struct recorded_memory recorded;
    static struct report report;
    struct target_process target = {.output = open_told(*state, "glibc-threads.told")};

    target_read_report(&target, &report);
    close(target.output);
    recorded_memory_open(&recorded, *state, "glibc-threads");
    struct glibc_facts *glibc = &recorded.process.glibc;
    assert_int_equal(
        glibc_read(&recorded.memory, &recorded.region, &recorded.process), 0);
    compare_report(glibc, &report, recorded.memory.page_bytes);
    assert_string_equal(glibc->version, "2.36");
    assert_true(report.arena_count > 1);
    /* Each thread that builds a heap frees blocks, so each has a cache. */
    assert_int_equal(glibc->tcaches.state, FACT_OK);
    assert_true(glibc->tcaches.value + 1 >= recorded.threads.count);
    assert_true(glibc->tcache_bytes.value > 0);
    recorded_memory_release(&recorded);
}

/* Each thread's stack pointer, as the kernel tells it, lies in the stack with its number. */
static void stacks_are_where_the_kernel_says(void **state)
{
    static struct recorded_memory recorded;
    size_t first = 0;

    recorded_memory_open(&recorded, *state, "glibc-threads");
    assert_int_equal(thread_stack_find(&recorded.memory, &recorded.threads,
                         &recorded.region, &recorded.process),
        0);
    for (size_t i = 0; i < recorded.threads.count; i++) {
        const struct span *span = span_at(&recorded.process, recorded.stack_pointers[i]);
        if (span == NULL) {
            first++; /* its stack is the mapping [stack] */
            continue;
        }
        assert_int_equal(span->owner, SPAN_THREAD_STACK);
        assert_int_equal(span->index, recorded.thread_ids[i].id);
        assert_true(span->resident.value > 0);
    }
    assert_int_equal(first, 1);
    assert_int_equal(recorded.process.span_count, recorded.threads.count - 1);
    recorded_memory_release(&recorded);
}

static void php_is_as_it_says_itself(void **state)
{
    static struct recorded_memory recorded;
    char line[PATH_BYTES] = "";
    char *next = line;
    uint64_t figures[4]; /* used, real, and the peaks of both */
    const int told = open_told(*state, "php.told");

    assert_true(read(told, line, sizeof(line) - 1) > 0);
    close(told);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        figures[i] = strtoull(next, &next, 10);
    }
    recorded_memory_open(&recorded, *state, "php");
    assert_int_equal(zend_read(&recorded.memory, &recorded.region, &recorded.process), 0);
    assert_int_equal(recorded.process.zend.heap_count, 1);
    const struct zend_heap_facts *heap = &recorded.process.zend.heaps[0];
    assert_int_equal(heap->state, FACT_OK);
    assert_int_equal(heap->used_bytes, figures[0]);
    assert_int_equal(heap->real_bytes, figures[1]);
    assert_int_equal(heap->peak_used_bytes, figures[2]);
    assert_int_equal(heap->peak_real_bytes, figures[3]);
    assert_int_equal(heap->deep_state, FACT_OK);
    assert_true(heap->found_by_symbol);
    assert_false(recorded.process.zend.thread_safe);
    assert_int_equal(strncmp(recorded.process.zend.version, "8.2.", 4), 0);
    recorded_memory_release(&recorded);
}

/* The page behind the version was never touched: the version is there all the same. */
static void php_version_at_the_end_of_what_is_present(void **state)
{
    static const char mark[] = "X-Powered-By: PHP/";
    static struct recorded_memory recorded;
    size_t cut = 0;

    recorded_memory_open(&recorded, *state, "php");
    const uint64_t page_bytes = recorded.memory.page_bytes;
    for (size_t i = 0; i + 1 < recorded.page_count; i++) {
        const struct recorded_page *page = &recorded.pages[i];
        if (page->data != NULL && page[1].address == page->address + page_bytes &&
            memmem(page->data, page_bytes, mark, sizeof(mark) - 1) != NULL) {
            recorded.pages[i + 1].bits = 0;
            cut++;
        }
    }
    assert_true(cut > 0);
    assert_int_equal(zend_read(&recorded.memory, &recorded.region, &recorded.process), 0);
    assert_non_null(recorded.process.zend.version);
    recorded_memory_release(&recorded);
}

/* A folder of tests/fixtures for each machine. */
static char narrow[] = "aarch64";
static char wide[] = "aarch64-16k"; /* pages of 16 KiB */

int main(void)
{
#define CASE(name, folder)                                                               \
    {                                                                                    \
#        name " " #        folder, name, NULL, NULL, folder                              \
    }
    const struct CMUnitTest tests[] = {
        CASE(arenas_are_as_malloc_info_has_them, narrow),
        CASE(arenas_are_as_malloc_info_has_them, wide),
        CASE(stacks_are_where_the_kernel_says, narrow),
        CASE(stacks_are_where_the_kernel_says, wide),
        CASE(php_is_as_it_says_itself, narrow),
        CASE(php_is_as_it_says_itself, wide),
        CASE(php_version_at_the_end_of_what_is_present, narrow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
