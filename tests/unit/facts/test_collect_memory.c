/* test_collect_memory.c - what is read of children with known memory, alone and as a pool. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "collected.h"
#include "known_child.h"

enum { REWRITTEN_MIB = 1, NAME_BYTES = 16 };

/* Of this run alone, since a pool is looked up by its name; odd, for the reader of stat. */
static char pool_name[NAME_BYTES];

static void known_memory_is_found_to_the_byte(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, known_child_map_things);
    assert_int_equal(collected_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.target_kind, TARGET_PROCESS);
    assert_int_equal(facts.process_count, 1);
    const struct process_facts *process = &facts.processes[0];
    assert_int_equal(process->pid, child.pid);
    assert_int_equal(process->parent_pid, getpid());
    assert_int_equal(process->user_id, getuid());
    assert_int_equal(process->mappings_state, FACT_OK);
    assert_true(process->start_unix_seconds * 1000000000 <=
                (uint64_t)facts.taken_at_unix_ns + 2000000000);

    const struct mapping *mapping = collected_mapping(process, child.words[0]);
    assert_int_equal(mapping->inode, 0);
    assert_true(mapping->values[MAPPING_FACT_RSS].value >= KNOWN_PRIVATE_MIB * MIB);
    mapping = collected_mapping(process, child.words[1]);
    assert_int_equal(mapping->values[MAPPING_FACT_RSS].value, KNOWN_SHARED_MIB * MIB);
    assert_string_equal(mapping->path, "/dev/zero");
    assert_true((mapping->permissions & MAPPING_SHARED) != 0);

    uint64_t rss = 0;
    for (size_t i = 0; i < process->mapping_count; i++) {
        rss += process->mappings[i].values[MAPPING_FACT_RSS].value;
    }
    assert_int_equal(rss, collected_value(process, PROCESS_FACT_ROLLUP_RSS));
    assert_true(collected_value(process, PROCESS_FACT_PSS) <= rss);
    assert_true(collected_value(process, PROCESS_FACT_PSS) >=
                (KNOWN_PRIVATE_MIB + KNOWN_SHARED_MIB) * MIB);
    assert_true(facts.cost_wall_us > 0);
    assert_true(facts.cost_bytes_read > 0);
    region_release(&facts.region);
    child_end(&child);
}

/* The head of a first chunk of PHP, and nothing behind it. */
static int forge_a_zend_chunk(struct child_side *side)
{
    enum { CHUNK = 2 * MIB, HEAP_WORD = 8 };
    char *area =
        mmap(NULL, 2 * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (area == MAP_FAILED) {
        return 1;
    }
    uint64_t *chunk =
        (uint64_t *)(void *)(area + (CHUNK - (uintptr_t)area % CHUNK) % CHUNK);
    const uint64_t address = (uintptr_t)chunk;
    chunk[0] = (uintptr_t)&chunk[HEAP_WORD];
    chunk[1] = address;
    chunk[2] = address;
    chunk[3] = UINT64_C(1) << 32 | 511; /* free pages, and where the free tail begins */
    child_tell(side, (const uint64_t[CHILD_WORDS]){address});
    return 0;
}

static void a_request_heap_that_cannot_be_read_is_a_gap(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, forge_a_zend_chunk);
    assert_int_equal(collected_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), 0);
    const struct gap *gap = collected_gap(&facts, "zend");
    assert_non_null(gap);
    assert_int_equal(gap->state, FACT_MALFORMED);
    region_release(&facts.region);
    child_end(&child);
}

static bool frames_equal_the_rollup(const struct facts *facts)
{
    const struct process_facts *process = &facts->processes[0];

    assert_int_equal(facts->exclusive_bytes.state, FACT_OK);
    if (facts->exclusive_bytes.value !=
        collected_value(process, PROCESS_FACT_PRIVATE_CLEAN) +
            collected_value(process, PROCESS_FACT_PRIVATE_DIRTY)) {
        return false;
    }
    if (!collected_frames_are_shown()) {
        assert_int_equal(facts->unique_bytes.state, FACT_DENIED);
        assert_non_null(collected_gap(facts, "frames"));
        return true;
    }
    assert_int_equal(facts->unique_bytes.state, FACT_OK);
    assert_null(collected_gap(facts, "frames"));
    return facts->unique_bytes.value == collected_value(process, PROCESS_FACT_ROLLUP_RSS);
}

static void frames_of_one_process_are_its_resident_set(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;
    bool equal = false;

    (void)state;
    /* A program of its own: what a fork shares with us becomes its own when we write. */
    known_child_start_holder(&child);
    /* A library page may be mapped by somebody else between the two looks: look again. */
    for (int tries = 0; tries < 20 && !equal; tries++) {
        assert_int_equal(collected_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), 0);
        equal = frames_equal_the_rollup(&facts);
        region_release(&facts.region);
    }
    assert_true(equal);
    /* The mappings are read for their frames alone, too. */
    assert_int_equal(collected_pid(child.pid, COLLECT_FRAMES, &facts, &error), 0);
    assert_int_equal(facts.exclusive_bytes.state, FACT_OK);
    assert_true(
        facts.exclusive_bytes.value >= (KNOWN_PRIVATE_MIB + KNOWN_SHARED_MIB) * MIB);
    region_release(&facts.region);
    child_end(&child);
}

/* A process with a child of its own that shares all but REWRITTEN_MIB; words[0]: its pid. */
static int fork_pool(struct child_side *side)
{
    char *private = known_child_map(KNOWN_PRIVATE_MIB * MIB, MAP_PRIVATE);
    int rewritten[2];
    char byte;

    (void)prctl(PR_SET_NAME, pool_name);
    memset(private, 1, KNOWN_PRIVATE_MIB * MIB);
    if (pipe(rewritten) != 0) {
        return 1;
    }
    pid_t worker = fork();
    if (worker == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        memset(private, 3, REWRITTEN_MIB * MIB);
        if (write(rewritten[1], "", 1) != 1) {
            return 1;
        }
        for (;;) {
            (void)pause();
        }
    }
    if (worker < 0 || read(rewritten[0], &byte, 1) != 1) {
        return 1;
    }
    child_tell(side, (uint64_t[CHILD_WORDS]){(uint64_t)worker});
    return 0;
}

static uint64_t exclusive_of(pid_t pid)
{
    struct facts facts;
    struct error error;

    assert_int_equal(collected_pid(pid, COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.exclusive_bytes.state, FACT_OK);
    const uint64_t bytes = facts.exclusive_bytes.value;
    region_release(&facts.region);
    return bytes;
}

static void a_pool_counts_each_frame_once(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, fork_pool);
    const uint64_t alone = exclusive_of(child.pid) + exclusive_of((pid_t)child.words[0]);
    int rc = collected(pool_name, COLLECT_EXPLAIN, &facts, &error);
    if (rc != 0) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(facts.target_kind, TARGET_POOL);
    assert_string_equal(facts.target_name, pool_name);
    assert_int_equal(facts.process_count, 2);
    assert_int_equal(facts.processes[0].pid, child.pid);
    assert_int_equal(facts.processes[1].pid, child.words[0]);
    if (collected_frames_are_shown()) {
        const uint64_t both = (KNOWN_PRIVATE_MIB - REWRITTEN_MIB) * MIB;
        const uint64_t rss_sum =
            collected_value(&facts.processes[0], PROCESS_FACT_ROLLUP_RSS) +
            collected_value(&facts.processes[1], PROCESS_FACT_ROLLUP_RSS);
        assert_int_equal(facts.unique_bytes.state, FACT_OK);
        assert_true(facts.unique_bytes.value + both <= rss_sum);
        assert_true(facts.unique_bytes.value > rss_sum / 2);
        assert_true(facts.exclusive_bytes.value >= alone + both);
        assert_true(facts.exclusive_bytes.value <= facts.unique_bytes.value);
    } else {
        assert_int_equal(facts.unique_bytes.state, FACT_DENIED);
        assert_int_equal(facts.exclusive_bytes.state, FACT_DENIED);
    }
    region_release(&facts.region);
    kill((pid_t)child.words[0], SIGKILL);
    child_end(&child);
}

int main(int count, char **arguments)
{
    if (count == 2) {
        return known_child_hold(arguments[1]);
    }
    (void)snprintf(pool_name, sizeof(pool_name), "st) (x%d", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_memory_is_found_to_the_byte),
        cmocka_unit_test(a_request_heap_that_cannot_be_read_is_a_gap),
        cmocka_unit_test(frames_of_one_process_are_its_resident_set),
        cmocka_unit_test(a_pool_counts_each_frame_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
