/* test_thread_stack.c - stacks of live and ended threads of children. */
#include <pthread.h>
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
#include "facts/span_list.h"
#include "facts/thread_stack.h"

enum { LIVE = 5, ENDED = 3, STACK_BYTES = 256 << 10 };

struct stack_note {
    uint64_t inside; /* address of a variable on the stack */
    int32_t id;
};

static struct stack_note notes[LIVE + ENDED];
static pthread_barrier_t started;

static void *live_thread(void *argument)
{
    struct stack_note *note = argument;

    *note = (struct stack_note){.inside = (uint64_t)(uintptr_t)&note, .id = gettid()};
    (void)pthread_barrier_wait(&started);
    for (;;) {
        (void)pause();
    }
    return NULL;
}

static void *short_thread(void *argument)
{
    struct stack_note *note = argument;

    *note = (struct stack_note){.inside = (uint64_t)(uintptr_t)&note, .id = gettid()};
    (void)pthread_barrier_wait(&started);
    return NULL;
}

/* LIVE threads that wait and ENDED ones whose stacks glibc keeps. words[0]: the notes. */
static int run_threads(struct child_side *side)
{
    pthread_t threads[LIVE + ENDED];
    pthread_attr_t attributes;

    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0 ||
        pthread_barrier_init(&started, NULL, LIVE + ENDED + 1) != 0) {
        return 1;
    }
    for (int i = 0; i < LIVE + ENDED; i++) {
        if (pthread_create(&threads[i], &attributes,
                i < LIVE ? live_thread : short_thread, &notes[i]) != 0) {
            return 1;
        }
    }
    (void)pthread_barrier_wait(&started);
    for (int i = LIVE; i < LIVE + ENDED; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    child_tell(side, (uint64_t[CHILD_WORDS]){(uint64_t)(uintptr_t)notes});
    return 0;
}

static int run_nothing(struct child_side *side)
{
    child_tell(side, NULL);
    return 0;
}

struct stack_test {
    struct facts_root root;
    struct child child;
    struct process_folder folder;
    struct memory_process memory;
    struct region region;
    struct process_facts process;
};

static void open_child(struct stack_test *test, child_body *body)
{
    *test = (struct stack_test){0};
    child_start(&test->child, body);
    region_init(&test->region, 64 << 20);
    assert_int_equal(facts_root_open(&test->root, NULL, NULL), 0);
    assert_int_equal(process_folder_open(&test->root, test->child.pid, &test->folder), 0);
    assert_int_equal(memory_process_open(&test->memory, &test->folder), 0);
    test->process.pid = test->child.pid;
    test->process.namespace_pid = test->child.pid;
    assert_int_equal(smaps_read(&test->folder, true, &test->region, &test->process), 0);
    assert_int_equal(thread_stack_read(&test->folder, &test->memory.memory, &test->region,
                         &test->process),
        0);
}

static void close_child(struct stack_test *test)
{
    memory_process_close(&test->memory);
    process_folder_close(&test->folder);
    facts_root_close(&test->root);
    region_release(&test->region);
    child_end(&test->child);
}

static const struct span *span_at(const struct stack_test *test, uint64_t address)
{
    for (size_t i = 0; i < test->process.span_count; i++) {
        const struct span *span = &test->process.spans[i];
        if (address >= span->start && address < span->end) {
            return span;
        }
    }
    return NULL;
}

static const struct mapping *mapping_at(const struct stack_test *test, uint64_t address)
{
    for (size_t i = 0; i < test->process.mapping_count; i++) {
        const struct mapping *mapping = &test->process.mappings[i];
        if (address >= mapping->start && address < mapping->end) {
            return mapping;
        }
    }
    return NULL;
}

static void every_stack_is_found_with_its_thread(void **state)
{
    struct stack_note told[LIVE + ENDED];
    struct stack_test test;

    (void)state;
    open_child(&test, run_threads);
    assert_int_equal(
        memory_read(&test.memory.memory, test.child.words[0], told, sizeof(told)), 0);
    assert_int_equal(test.process.span_count, LIVE + ENDED);
    for (size_t i = 0; i < LIVE + ENDED; i++) {
        const struct span *span = span_at(&test, told[i].inside);
        assert_non_null(span);
        assert_int_equal(span->owner, i < LIVE ? SPAN_THREAD_STACK : SPAN_CACHED_STACK);
        assert_int_equal(span->index, i < LIVE ? told[i].id : 0);
        assert_int_equal(span->resident.state, FACT_OK);
        assert_true(span->resident.value >= test.memory.memory.page_bytes);
        assert_true(span->resident.value < STACK_BYTES);
        /* Whole stack, guard page left out. */
        assert_true(span->end - span->start <= STACK_BYTES);
        assert_true(
            span->end - span->start >= STACK_BYTES - test.memory.memory.page_bytes);
        const struct mapping *mapping = mapping_at(&test, span->start);
        assert_non_null(mapping);
        assert_true((mapping->permissions & MAPPING_WRITE) != 0);
        assert_true(mapping->end >= span->end);
    }
    close_child(&test);
}

static void a_program_without_threads_has_no_stacks(void **state)
{
    struct stack_test test;

    (void)state;
    open_child(&test, run_nothing);
    assert_int_equal(test.process.span_count, 0);
    close_child(&test);
}

static struct span make_span(uint64_t start, uint64_t end, uint32_t owner)
{
    return (struct span){.start = start, .end = end, .owner = owner};
}

static void spans_are_sorted_and_never_overlap(void **state)
{
    struct span spans[] = {make_span(0x5000, 0x6000, SPAN_ZEND_CHUNK),
        make_span(0x1000, 0x3000, SPAN_THREAD_STACK),
        make_span(0x2000, 0x4000, SPAN_GLIBC_MMAPPED),
        make_span(0x4000, 0x5000, SPAN_PYTHON_ARENA),
        make_span(0x5000, 0x5800, SPAN_GLIBC_ARENA_HEAP),
        make_span(0x5900, 0x5a00, SPAN_ZEND_HUGE)};
    size_t count = sizeof(spans) / sizeof(spans[0]);

    (void)state;
    span_list_settle(spans, &count);
    assert_int_equal(count, 4);
    assert_int_equal(spans[0].owner, SPAN_GLIBC_MMAPPED);
    assert_int_equal(spans[1].owner, SPAN_PYTHON_ARENA);
    assert_int_equal(spans[2].owner, SPAN_GLIBC_ARENA_HEAP);
    assert_int_equal(spans[3].owner, SPAN_ZEND_HUGE);
    for (size_t i = 1; i < count; i++) {
        assert_true(spans[i - 1].end <= spans[i].start);
    }
    count = 0;
    span_list_settle(spans, &count);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stack_is_found_with_its_thread),
        cmocka_unit_test(a_program_without_threads_has_no_stacks),
        cmocka_unit_test(spans_are_sorted_and_never_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
