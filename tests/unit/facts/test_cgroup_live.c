/*
 * test_cgroup_live.c - this machine's own cgroups: what is read is what the kernel says.
 *
 * Where we may make cgroups, a child with a known amount of anonymous memory and page cache
 * is put into one of its own. Where we may not (a hierarchy that is mounted read-only, or
 * belongs to others) that test says so and leaves it at the first one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include <cmocka.h>

#include "base/number.h"
#include "facts/cgroup.h"
#include "facts/cgroup_tree.h"

enum {
    REGION_BYTES = 64 << 20,
    PATH_BYTES = 4096,
    ANON_BYTES = 48 << 20,
    LAZY_BYTES = 16 << 20,
    FILE_BYTES = 24 << 20,
    LIMIT_BYTES = 512 << 20,
    WAIT_TRIES = 200,
    SLACK_BYTES = 6 << 20, /* the child's own pages, per-CPU batches, huge pages */
};

static struct facts_root root;
static struct cgroup_reader reader;
static struct facts facts;

static int set_up(void **state)
{
    (void)state;
    facts = (struct facts){.target_cgroup = -1};
    region_init(&facts.region, REGION_BYTES);
    if (facts_root_open(&root, NULL, NULL) != 0) {
        return -1;
    }
    return cgroup_reader_init(&reader, &root, &facts.region);
}

static int tear_down(void **state)
{
    (void)state;
    cgroup_reader_release(&reader);
    facts_root_close(&root);
    region_release(&facts.region);
    return 0;
}

static const struct cgroup_facts *read_process(const char *pid)
{
    int process = openat(root.proc_fd, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int32_t index;

    assert_true(process >= 0);
    assert_int_equal(cgroup_read_process(&reader, process, &facts, &index), 0);
    close(process);
    assert_true(index >= 0);
    facts.target_cgroup = index;
    return &facts.cgroups[index];
}

/* We are among the members of our own cgroup, and it is charged for something. */
static void our_own_cgroup_is_found(void **state)
{
    const struct cgroup_facts *cgroup;
    struct cgroup_members members;
    bool found = false;

    (void)state;
    if (reader.version == 0) {
        print_message("no cgroup hierarchy that bills memory is mounted here\n");
        return;
    }
    cgroup = read_process("self");
    assert_int_equal(cgroup->state, FACT_OK);
    assert_int_equal(cgroup->values[CGROUP_FACT_ANON].state, FACT_OK);
    assert_true(cgroup->root || cgroup->values[CGROUP_FACT_USAGE].value > 0);
    assert_int_equal(cgroup_members(&reader, cgroup->path, &facts.region, &members), 0);
    for (size_t i = 0; i < members.count; i++) {
        found = found || members.pids[i] == getpid();
    }
    assert_true(found);
    assert_int_equal(cgroup_find_competitor(&reader, &facts), 0);
    assert_int_equal(facts.competitor_oom_score.state, FACT_OK);
}

static bool write_at(int folder, const char *name, const char *text)
{
    int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    ssize_t put = write(fd, text, strlen(text));
    close(fd);
    return put == (ssize_t)strlen(text);
}

static void *touched(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        _exit(1);
    }
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    return memory;
}

/* The child: moves itself, takes memory, says that it is ready and waits. */
static void be_the_child(int folder, int file, int ready)
{
    static char block[1 << 16];
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", getpid());
    if (!write_at(folder, "cgroup.procs", pid)) {
        _exit(2);
    }
    (void)touched(ANON_BYTES);
    if (madvise(touched(LAZY_BYTES), LAZY_BYTES, MADV_FREE) != 0) {
        _exit(3);
    }
    for (size_t done = 0; done < FILE_BYTES; done += sizeof(block)) {
        if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block)) {
            _exit(4);
        }
    }
    if (write(ready, "x", 1) != 1) {
        _exit(5);
    }
    (void)pause();
    _exit(0);
}

static bool is_near_to(const struct fact *is, uint64_t value)
{
    return is->state == FACT_OK && is->value + SLACK_BYTES >= value &&
           is->value <= value + SLACK_BYTES;
}

static void near_to(enum cgroup_fact fact, uint64_t value)
{
    const struct fact *is = &facts.cgroups[facts.target_cgroup].values[fact];

    if (!is_near_to(is, value)) {
        fail_msg("%s is %" PRIu64 ", not about %" PRIu64, cgroup_fact_table[fact].name,
            is->value, value);
    }
}

/*
 * With many CPUs the kernel may owe the bill what each of them has counted, and pays within two
 * seconds (mm/memcontrol.c, flush_memcg_stats_dwork, Linux 6.1).
 */
static void wait_for_the_bill(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", child);
    for (int tries = 0; tries < WAIT_TRIES; tries++) {
        const struct cgroup_facts *cgroup = read_process(pid);
        if (is_near_to(&cgroup->values[CGROUP_FACT_ANON], ANON_BYTES + LAZY_BYTES) &&
            is_near_to(&cgroup->values[CGROUP_FACT_FILE], FILE_BYTES)) {
            return;
        }
        (void)nanosleep(&pause, NULL);
        (void)tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
    }
}

static void check_child(pid_t child, const char *path, bool on_disk)
{
    const struct cgroup_facts *cgroup;
    struct cgroup_members members;
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", child);
    cgroup = read_process(pid);
    assert_string_equal(cgroup->path, path);
    assert_string_equal(cgroup->charged_path, path);
    near_to(CGROUP_FACT_ANON, ANON_BYTES + LAZY_BYTES);
    near_to(CGROUP_FACT_FILE, FILE_BYTES);
    near_to(CGROUP_FACT_SHMEM, on_disk ? 0 : FILE_BYTES);
    /* Lazily freed pages are anonymous, and on the list of inactive file pages. */
    near_to(CGROUP_FACT_INACTIVE_FILE, LAZY_BYTES + (on_disk ? FILE_BYTES : 0));
    near_to(CGROUP_FACT_USAGE, ANON_BYTES + LAZY_BYTES + FILE_BYTES);
    assert_int_equal(cgroup->values[CGROUP_FACT_LIMIT].value, LIMIT_BYTES);
    assert_int_equal(cgroup_members(&reader, path, &facts.region, &members), 0);
    assert_int_equal(members.count, 1);
    assert_int_equal(members.pids[0], child);
    if (cgroup->values[CGROUP_FACT_LIMIT_EFFECTIVE].value == LIMIT_BYTES) {
        assert_string_equal(cgroup->limit_path, path);
    }
    assert_int_equal(cgroup->values[CGROUP_FACT_HEADROOM].state, FACT_OK);
    if (strcmp(cgroup->headroom_path, path) == 0) {
        near_to(CGROUP_FACT_HEADROOM, LIMIT_BYTES - ANON_BYTES - LAZY_BYTES - FILE_BYTES);
        assert_int_equal(cgroup_find_competitor(&reader, &facts), 0);
        assert_int_equal(facts.competitor_pid, child);
        assert_string_equal(facts.competitor_name, "test_facts_cgro");
    }
}

static void run_in(int folder, const char *path)
{
    char name[] = "strata-cgroup-live-XXXXXX";
    int ready[2];
    char byte;
    int file = mkostemp(name, O_CLOEXEC);
    struct statfs system;
    int status;

    assert_true(file >= 0);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(fstatfs(file, &system), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        be_the_child(folder, file, ready[1]);
    }
    close(ready[1]);
    ssize_t got = read(ready[0], &byte, 1);
    close(ready[0]);
    if (got == 1) {
        wait_for_the_bill(child);
        check_child(child, path, system.f_type != TMPFS_MAGIC);
    }
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(file);
    if (got != 1) {
        fail_msg("the child ended with %d", WEXITSTATUS(status));
    }
}

static void a_child_with_known_memory_is_charged_for_it(void **state)
{
    char limit[16];
    char name[64];
    char path[PATH_BYTES];

    (void)state;
    if (reader.version == 0) {
        print_message("no cgroup hierarchy that bills memory is mounted here\n");
        return;
    }
    const char *parent = read_process("self")->path;
    int folder = cgroup_open(&reader, parent);
    assert_true(folder >= 0);
    (void)snprintf(name, sizeof(name), "strata-test-%d", getpid());
    (void)snprintf(
        path, sizeof(path), "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name);
    (void)snprintf(limit, sizeof(limit), "%d", LIMIT_BYTES);
    if (mkdirat(folder, name, 0755) != 0) {
        assert_true(errno == EROFS || errno == EACCES || errno == EPERM);
        print_message(
            "no cgroup of our own can be made below '%s': %s\n", parent, strerror(errno));
        close(folder);
        return;
    }
    int own = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(own >= 0);
    if (write_at(
            own, reader.version == 1 ? "memory.limit_in_bytes" : "memory.max", limit)) {
        run_in(own, path);
    } else {
        print_message(
            "the memory controller is not passed on to children of '%s'\n", parent);
    }
    close(own);
    assert_int_equal(unlinkat(folder, name, AT_REMOVEDIR), 0);
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(our_own_cgroup_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_child_with_known_memory_is_charged_for_it, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
