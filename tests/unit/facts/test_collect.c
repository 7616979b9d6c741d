/* test_collect.c - whole readings: of captured trees, of children with known memory. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/number.h"
#include "child.h"
#include "facts/collect.h"
#include "facts/environment.h"
#include "facts/process_list.h"
#include "fixture.h"

#define MIB (UINT64_C(1) << 20)
#define POOL_NAME "strata-pool) (x"

enum {
    NOBODY = 65534,
    PRIVATE_MIB = 4,
    REWRITTEN_MIB = 1,
    SHARED_MIB = 2,
    UNTOUCHED_MIB = 64
};

/* ---- bodies of children */

static char *map_anonymous(uint64_t bytes, int sharing)
{
    char *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
        sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base != MAP_FAILED) {
        (void)madvise(base, (size_t)bytes, MADV_NOHUGEPAGE);
    }
    return base;
}

/* words: private and written, shared and written, untouched. */
static int map_known_things(struct child_side *side)
{
    char *private = map_anonymous(PRIVATE_MIB * MIB, MAP_PRIVATE);
    char *shared = map_anonymous(SHARED_MIB * MIB, MAP_SHARED);
    char *untouched = map_anonymous(UNTOUCHED_MIB * MIB, MAP_PRIVATE);

    memset(private, 1, PRIVATE_MIB * MIB);
    memset(shared, 2, SHARED_MIB * MIB);
    child_tell(side, (uint64_t[CHILD_WORDS]){(uint64_t)(uintptr_t) private,
                         (uint64_t)(uintptr_t)shared, (uint64_t)(uintptr_t)untouched});
    return 0;
}

/* A process with a child of its own that shares all but REWRITTEN_MIB; words[0]: its pid. */
static int fork_pool(struct child_side *side)
{
    char *private = map_anonymous(PRIVATE_MIB * MIB, MAP_PRIVATE);
    int rewritten[2];
    char byte;

    (void)prctl(PR_SET_NAME, POOL_NAME);
    memset(private, 1, PRIVATE_MIB * MIB);
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

/* Leaves a zombie: words[0]. */
static int leave_zombie(struct child_side *side)
{
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0) {
        return 1;
    }
    child_tell(side, (uint64_t[CHILD_WORDS]){(uint64_t)pid});
    return 0;
}

static void *outlive_the_first_thread(void *argument)
{
    const pid_t first = getpid();
    char stat[64];
    ssize_t got;

    /* The kernel shows the process as a zombie once its first thread has ended. */
    do {
        int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
        got = read(fd, stat, sizeof(stat) - 1);
        close(fd);
        stat[got < 0 ? 0 : got] = '\0';
    } while (strstr(stat, ") Z") == NULL);
    child_tell(argument, (uint64_t[CHILD_WORDS]){(uint64_t)first});
    return NULL;
}

static int end_first_thread(struct child_side *side)
{
    static struct child_side copy; /* outlives this thread's stack */
    char *private = map_anonymous(PRIVATE_MIB * MIB, MAP_PRIVATE);
    pthread_t thread;

    copy = *side;
    memset(private, 1, PRIVATE_MIB * MIB);
    if (pthread_create(&thread, NULL, outlive_the_first_thread, &copy) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}

/*
 * Starts this program anew, in memory that it shares with nobody, when it may go on. It
 * closes its pipe when it is ready.
 */
static int become_holder(struct child_side *side)
{
    char ready[16];

    (void)snprintf(ready, sizeof(ready), "%d", side->ready);
    child_tell(side, NULL);
    (void)execl("/proc/self/exe", "holder", ready, (char *)NULL);
    return 1;
}

/* The new program: holds written, shared and merely read memory until it is killed. */
static int hold_memory(const char *ready)
{
    char *private = map_anonymous((PRIVATE_MIB + 1) * MIB, MAP_PRIVATE);
    char *shared = map_anonymous(SHARED_MIB * MIB, MAP_SHARED);
    volatile const char *zeroes = private + PRIVATE_MIB * MIB;
    volatile char sum = 0;
    uint64_t fd = 0;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(private, 1, PRIVATE_MIB * MIB);
    memset(shared, 2, SHARED_MIB * MIB);
    for (size_t i = 0; i < MIB; i++) {
        sum = (char)(sum + zeroes[i]);
    }
    if (number_parse(ready, &fd) != 0 || close((int)fd) != 0) {
        return 1;
    }
    for (;;) {
        (void)pause();
    }
}

static void start_holder(struct child *child)
{
    char byte;

    child_start(child, become_holder);
    assert_int_equal(write(child->go, "", 1), 1);
    assert_int_equal(read(child->ready, &byte, 1), 0); /* closed when it is ready */
}

/* ---- helpers */

static int collect(
    const char *target, unsigned what, struct facts *facts, struct error *error)
{
    struct facts_root root;

    error_reset(error);
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    int rc = facts_collect(&root, target, what, facts, error);
    facts_root_close(&root);
    return rc;
}

static int collect_pid(pid_t pid, unsigned what, struct facts *facts, struct error *error)
{
    char target[16];

    (void)snprintf(target, sizeof(target), "%d", pid);
    return collect(target, what, facts, error);
}

static uint64_t value(const struct process_facts *process, enum process_fact id)
{
    if (process->values[id].state != FACT_OK) {
        fail_msg("%s is %s", process_fact_table[id].name,
            fact_state_names[process->values[id].state]);
    }
    return process->values[id].value;
}

static const struct mapping *mapping_at(
    const struct process_facts *process, uint64_t address)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (address >= mapping->start && address < mapping->end) {
            return mapping;
        }
    }
    fail_msg("no mapping at %llx", (unsigned long long)address);
    return NULL;
}

static const struct gap *find_gap(const struct facts *facts, const char *fact)
{
    for (size_t i = 0; i < facts->gap_count; i++) {
        if (strcmp(facts->gaps[i].fact, fact) == 0) {
            return &facts->gaps[i];
        }
    }
    return NULL;
}

/* Frame numbers are shown to the capability, which root may lack in a container. */
static bool frames_are_shown(void)
{
    uint64_t entry = 0;
    int on_stack = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const off_t offset =
        (off_t)((uintptr_t)&on_stack / (uintptr_t)sysconf(_SC_PAGESIZE) * sizeof(entry));

    assert_int_equal(pread(fd, &entry, sizeof(entry), offset), sizeof(entry));
    close(fd);
    return (entry << 9) != 0 && access("/proc/kpagecount", R_OK) == 0;
}

/* ---- tests */

static void known_memory_is_found_to_the_byte(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, map_known_things);
    assert_int_equal(collect_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.target_kind, TARGET_PROCESS);
    assert_int_equal(facts.process_count, 1);
    const struct process_facts *process = &facts.processes[0];
    assert_int_equal(process->pid, child.pid);
    assert_int_equal(process->parent_pid, getpid());
    assert_int_equal(process->user_id, getuid());
    assert_int_equal(process->mappings_state, FACT_OK);
    assert_true(process->start_unix_seconds * 1000000000 <=
                (uint64_t)facts.taken_at_unix_ns + 2000000000);

    const struct mapping *mapping = mapping_at(process, child.words[0]);
    assert_int_equal(mapping->inode, 0);
    assert_true(mapping->values[MAPPING_FACT_RSS].value >= PRIVATE_MIB * MIB);
    mapping = mapping_at(process, child.words[1]);
    assert_int_equal(mapping->values[MAPPING_FACT_RSS].value, SHARED_MIB * MIB);
    assert_string_equal(mapping->path, "/dev/zero");
    assert_true((mapping->permissions & MAPPING_SHARED) != 0);

    uint64_t rss = 0;
    for (size_t i = 0; i < process->mapping_count; i++) {
        rss += process->mappings[i].values[MAPPING_FACT_RSS].value;
    }
    assert_int_equal(rss, value(process, PROCESS_FACT_ROLLUP_RSS));
    assert_true(value(process, PROCESS_FACT_PSS) <= rss);
    assert_true(value(process, PROCESS_FACT_PSS) >= (PRIVATE_MIB + SHARED_MIB) * MIB);
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
    assert_int_equal(collect_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), 0);
    const struct gap *gap = find_gap(&facts, "zend");
    assert_non_null(gap);
    assert_int_equal(gap->state, FACT_MALFORMED);
    region_release(&facts.region);
    child_end(&child);
}

static bool frames_equal_the_rollup(const struct facts *facts)
{
    const struct process_facts *process = &facts->processes[0];

    assert_int_equal(facts->exclusive_bytes.state, FACT_OK);
    if (facts->exclusive_bytes.value != value(process, PROCESS_FACT_PRIVATE_CLEAN) +
                                            value(process, PROCESS_FACT_PRIVATE_DIRTY)) {
        return false;
    }
    if (!frames_are_shown()) {
        assert_int_equal(facts->unique_bytes.state, FACT_DENIED);
        assert_non_null(find_gap(facts, "frames"));
        return true;
    }
    assert_int_equal(facts->unique_bytes.state, FACT_OK);
    assert_null(find_gap(facts, "frames"));
    return facts->unique_bytes.value == value(process, PROCESS_FACT_ROLLUP_RSS);
}

static void frames_of_one_process_are_its_resident_set(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;
    bool equal = false;

    (void)state;
    /* A program of its own: what a fork shares with us becomes its own when we write. */
    start_holder(&child);
    /* A library page may be mapped by somebody else between the two looks: look again. */
    for (int tries = 0; tries < 20 && !equal; tries++) {
        assert_int_equal(collect_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), 0);
        equal = frames_equal_the_rollup(&facts);
        region_release(&facts.region);
    }
    assert_true(equal);
    /* The mappings are read for their frames alone, too. */
    assert_int_equal(collect_pid(child.pid, COLLECT_FRAMES, &facts, &error), 0);
    assert_int_equal(facts.exclusive_bytes.state, FACT_OK);
    assert_true(facts.exclusive_bytes.value >= (PRIVATE_MIB + SHARED_MIB) * MIB);
    region_release(&facts.region);
    child_end(&child);
}

static uint64_t exclusive_of(pid_t pid)
{
    struct facts facts;
    struct error error;

    assert_int_equal(collect_pid(pid, COLLECT_EXPLAIN, &facts, &error), 0);
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
    int rc = collect(POOL_NAME, COLLECT_EXPLAIN, &facts, &error);
    if (rc != 0) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(facts.target_kind, TARGET_POOL);
    assert_string_equal(facts.target_name, POOL_NAME);
    assert_int_equal(facts.process_count, 2);
    assert_int_equal(facts.processes[0].pid, child.pid);
    assert_int_equal(facts.processes[1].pid, child.words[0]);
    if (frames_are_shown()) {
        const uint64_t both = (PRIVATE_MIB - REWRITTEN_MIB) * MIB;
        const uint64_t rss_sum = value(&facts.processes[0], PROCESS_FACT_ROLLUP_RSS) +
                                 value(&facts.processes[1], PROCESS_FACT_ROLLUP_RSS);
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

static void what_has_no_memory_is_refused(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, leave_zombie);
    assert_int_equal(
        collect_pid((pid_t)child.words[0], COLLECT_EXPLAIN, &facts, &error), -ENOENT);
    assert_non_null(strstr(error.text, "zombie"));
    child_end(&child);
    assert_int_equal(collect_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), -ENOENT);
    assert_null(facts.region.blocks);
}

static void a_process_outlives_its_first_thread(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, end_first_thread);
    if (collect_pid(child.pid, COLLECT_EXPLAIN, &facts, &error) != 0) {
        fail_msg("%s", error.text);
    }
    const struct process_facts *process = &facts.processes[0];
    assert_int_equal(process->pid, child.pid);
    assert_int_equal(process->parent_pid, getpid());
    assert_int_not_equal(process->run_state, 'Z');
    assert_true(value(process, PROCESS_FACT_PSS) >= PRIVATE_MIB * MIB);
    assert_true(facts.exclusive_bytes.value >= PRIVATE_MIB * MIB);
    assert_int_equal(process->mappings_state, FACT_OK);
    assert_null(find_gap(&facts, "memory"));
    region_release(&facts.region);
    child_end(&child);
}

static void another_program_is_another_process(void **state)
{
    struct process_folder folder;
    struct facts_root root;
    struct child child;
    char byte;

    (void)state;
    child_start(&child, become_holder);
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    assert_int_equal(process_folder_open(&root, child.pid, &folder), 0);
    process_folder_watch(&folder);
    assert_int_equal(process_folder_check(&folder), 0);
    assert_int_equal(write(child.go, "", 1), 1);
    assert_int_equal(read(child.ready, &byte, 1), 0);
    /* The same file, but started anew. */
    assert_int_equal(process_folder_check(&folder), -ESTALE);
    child_end(&child);
    assert_int_equal(process_folder_check(&folder), -ESRCH);
    process_folder_close(&folder);
    facts_root_close(&root);
}

/* Reads the target as another user; 0 when all is as it should be, else a line number. */
static int read_as_nobody(pid_t pid)
{
    struct facts facts;
    struct error error = {0};
    struct facts_root root;
    char target[16];

    (void)snprintf(target, sizeof(target), "%d", pid);
    if ((geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0) ||
        facts_root_open(&root, NULL, NULL) != 0) {
        return __LINE__;
    }
    if (facts_collect(&root, target, COLLECT_EXPLAIN, &facts, &error) != 0) {
        return __LINE__;
    }
    const struct process_facts *process = &facts.processes[0];
    const struct gap *gap = find_gap(&facts, "smaps");
    if (process->values[PROCESS_FACT_VM_RSS].state != FACT_OK ||
        process->values[PROCESS_FACT_VM_RSS].value == 0) {
        return __LINE__;
    }
    if (process->values[PROCESS_FACT_PSS].state != FACT_DENIED ||
        process->mappings_state != FACT_DENIED || process->glibc.state != FACT_DENIED ||
        process->glibc.why == NULL || process->environment_state != FACT_DENIED) {
        return __LINE__;
    }
    if (gap == NULL || gap->state != FACT_DENIED || gap->pid != pid ||
        strstr(gap->why, "user 0") == NULL || strstr(gap->why, "sudo") == NULL ||
        strstr(gap->why, "CAP_SYS_PTRACE") == NULL) {
        return __LINE__;
    }
    if (find_gap(&facts, "frames") == NULL || facts.unique_bytes.state != FACT_DENIED ||
        facts.exclusive_bytes.state != FACT_DENIED) {
        return __LINE__;
    }
    return 0;
}

static void another_user_gets_status_and_reasons(void **state)
{
    struct child child;
    int status = -1;

    (void)state;
    child_start(&child, map_known_things);
    const pid_t target = geteuid() == 0 ? child.pid : 1; /* both belong to root */
    pid_t reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        int line = read_as_nobody(target);
        if (line != 0) {
            (void)fprintf(stderr, "not as expected at line %d\n", line);
        }
        _exit(line == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    child_end(&child);
}

static void a_captured_tree_is_read_as_far_as_it_goes(void **state)
{
    struct facts_root root;
    struct facts facts;
    struct error error = {0};

    (void)state;
    fixture_open(&root, "odd-process");
    assert_int_equal(facts_collect(&root, "30176", COLLECT_EXPLAIN, &facts, &error), 0);
    const struct process_facts *process = &facts.processes[0];
    assert_string_equal(process->name, "we) R 1 (x\n\t");
    assert_string_equal(process->title, "/srv/fixture/q");
    assert_string_equal(process->executable, "/srv/fixture/q");
    assert_true(process->executable_deleted);
    assert_int_equal(process->mapping_count, 33);
    assert_int_equal(value(process, PROCESS_FACT_OOM_SCORE), 667);
    assert_int_equal(value(process, PROCESS_FACT_MINOR_FAULTS), 5432);
    assert_int_equal(value(process, PROCESS_FACT_MAJOR_FAULTS), 7);
    assert_int_equal(process->environment_count, 4);
    /* No rollup and no pagemap was captured: that is said, and nothing else is lost. */
    assert_int_equal(process->values[PROCESS_FACT_PSS].state, FACT_ABSENT);
    assert_non_null(find_gap(&facts, "smaps_rollup"));
    assert_non_null(find_gap(&facts, "memory"));
    assert_int_equal(facts.unique_bytes.state, FACT_ABSENT);
    /* Its allocator is told by the mapped libc alone. */
    assert_int_equal(process->allocator_count, 1);
    assert_int_equal(process->allocators[0].kind, ALLOCATOR_GLIBC);
    region_release(&facts.region);
    facts_root_close(&root);
}

/* Addresses of RoadRunner's servers may hold passwords; its mode does not. */
static void only_named_settings_are_taken_from_an_environment(void **state)
{
    static const char text[] =
        "RR_RELAY=tcp://user:secret@127.0.0.1:6001\0RR_MODE=http\0RR_MODEL=x";
    struct process_facts process = {0};
    struct region region;

    (void)state;
    region_init(&region, 1 << 16);
    assert_int_equal(environment_parse(text, sizeof(text), &region, &process), 0);
    assert_int_equal(process.environment_count, 1);
    assert_string_equal(process.environment[0].name, "RR_MODE");
    assert_string_equal(process.environment[0].value, "http");
    region_release(&region);
}

static void a_host_is_read_largest_first(void **state)
{
    struct facts_root root;
    struct facts facts;
    struct error error = {0};

    (void)state;
    fixture_open(&root, "host");
    assert_int_equal(facts_collect_host(&root, COLLECT_OVERVIEW, &facts, &error), 0);
    assert_int_equal(facts.target_kind, TARGET_HOST);
    assert_int_equal(facts.process_count, 18); /* no kernel threads, no zombie */
    assert_int_equal(facts.processes[0].pid, 28904);
    assert_int_equal(value(&facts.processes[0], PROCESS_FACT_PSS), 17587 << 10);
    for (size_t i = 1; i < facts.process_count; i++) {
        assert_true(value(&facts.processes[i - 1], PROCESS_FACT_VM_RSS) >=
                    value(&facts.processes[i], PROCESS_FACT_VM_RSS));
        assert_false(facts.processes[i].kernel_thread);
        assert_true(facts.processes[i].cgroup_index >= 0);
    }
    region_release(&facts.region);
    facts_root_close(&root);
}

static void the_bill_is_that_of_the_target(void **state)
{
    struct facts_root root;
    struct facts facts;
    struct error error = {0};

    (void)state;
    fixture_open(&root, "host");
    assert_int_equal(
        facts_collect(&root, "pool:www", COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.process_count, 5);
    assert_true(facts.target_cgroup >= 0);
    assert_string_equal(
        facts.cgroups[facts.target_cgroup].path, "/system.slice/php8.2-fpm.service");
    region_release(&facts.region);
    assert_int_equal(
        facts_collect(&root, "nginx.service", COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.target_kind, TARGET_UNIT);
    assert_int_equal(facts.target_cgroup, 0);
    assert_string_equal(facts.cgroups[0].path, "/system.slice/nginx.service");
    region_release(&facts.region);
    facts_root_close(&root);
}

/* Members that the caller chose: the same facts, and never those of another process. */
static void chosen_members_are_read_as_one_target(void **state)
{
    struct process_identity identities[2];
    struct chosen_members chosen = {
        .kind = TARGET_POOL, .name = "two", .processes = identities, .count = 2};
    struct facts_root root;
    struct child children[2];
    struct facts facts;
    struct error error;

    (void)state;
    for (int i = 0; i < 2; i++) {
        start_holder(&children[i]);
        assert_int_equal(collect_pid(children[i].pid, COLLECT_STATUS, &facts, &error), 0);
        identities[i].pid = children[i].pid;
        identities[i].start_time_ticks = facts.processes[0].start_time_ticks;
        region_release(&facts.region);
    }
    error_reset(&error);
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    assert_int_equal(
        facts_collect_members(&root, &chosen, COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.process_count, 2);
    assert_int_equal(facts.processes[1].pid, children[1].pid);
    assert_string_equal(facts.target_name, "two");
    assert_int_equal(
        facts.unique_bytes.state, frames_are_shown() ? FACT_OK : FACT_DENIED);
    region_release(&facts.region);

    identities[1].start_time_ticks++;
    assert_int_equal(
        facts_collect_members(&root, &chosen, COLLECT_STATUS, &facts, &error), 0);
    assert_int_equal(facts.process_count, 1);
    assert_non_null(find_gap(&facts, "process"));
    region_release(&facts.region);

    identities[0].start_time_ticks++;
    assert_int_equal(
        facts_collect_members(&root, &chosen, COLLECT_STATUS, &facts, &error), -ESRCH);
    assert_non_null(strstr(error.text, "'two'"));
    facts_root_close(&root);
    for (int i = 0; i < 2; i++) {
        child_end(&children[i]);
    }
}

/* Others start and end processes meanwhile, so only what must differ is asked for. */
static void the_fingerprint_of_all_processes_tells_a_new_one(void **state)
{
    struct facts_root root;
    struct child child;
    uint64_t before;
    uint64_t with_child;

    (void)state;
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    assert_int_equal(process_list_fingerprint(&root, &before), 0);
    child_start(&child, map_known_things);
    assert_int_equal(process_list_fingerprint(&root, &with_child), 0);
    assert_true(before != with_child);
    child_end(&child);
    assert_int_equal(process_list_fingerprint(&root, &before), 0);
    assert_true(before != with_child);
    facts_root_close(&root);
}

int main(int count, char **arguments)
{
    if (count == 2) {
        return hold_memory(arguments[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fingerprint_of_all_processes_tells_a_new_one),
        cmocka_unit_test(only_named_settings_are_taken_from_an_environment),
        cmocka_unit_test(known_memory_is_found_to_the_byte),
        cmocka_unit_test(a_request_heap_that_cannot_be_read_is_a_gap),
        cmocka_unit_test(frames_of_one_process_are_its_resident_set),
        cmocka_unit_test(a_pool_counts_each_frame_once),
        cmocka_unit_test(what_has_no_memory_is_refused),
        cmocka_unit_test(a_process_outlives_its_first_thread),
        cmocka_unit_test(another_program_is_another_process),
        cmocka_unit_test(another_user_gets_status_and_reasons),
        cmocka_unit_test(a_captured_tree_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_host_is_read_largest_first),
        cmocka_unit_test(the_bill_is_that_of_the_target),
        cmocka_unit_test(chosen_members_are_read_as_one_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
