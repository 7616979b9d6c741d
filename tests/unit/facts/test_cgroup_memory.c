/*
 * test_cgroup_memory.c - readers of cgroups and of the host when memory is short.
 *
 * The region is given a little more with each try, so that every request for memory is
 * the one that fails once. Each failure must be -ENOMEM and leave nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/cgroup.h"
#include "facts/cgroup_tree.h"
#include "facts/host.h"
#include "fixture.h"

enum { STEP_BYTES = 16, REGION_BYTES = 1 << 20 };

/* A step of the work, with all its memory from facts->region. */
static int read_all(struct facts_root *root, const char *pid, struct facts *facts)
{
    struct cgroup_reader reader;
    int process = openat(root->proc_fd, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = cgroup_reader_init(&reader, root, &facts->region);

    assert_true(process >= 0);
    if (rc == 0) {
        rc = cgroup_read_process(&reader, process, facts, &facts->target_cgroup);
    }
    if (rc == 0) {
        rc = cgroup_find_competitor(&reader, facts);
    }
    if (rc == 0) {
        struct cgroup_matches matches;
        rc = cgroup_find(&reader, "docker", &facts->region, &matches);
    }
    if (rc == 0) {
        rc = host_read(root, &facts->region, &facts->host);
    }
    cgroup_reader_release(&reader);
    close(process);
    return rc;
}

static void until_it_succeeds(const char *name, const char *pid)
{
    struct facts_root root;
    size_t bytes = 0;
    int rc;

    fixture_open(&root, name);
    do {
        struct facts facts = {.target_cgroup = -1};
        region_init(&facts.region, bytes);
        rc = read_all(&root, pid, &facts);
        assert_true(rc == 0 || rc == -ENOMEM);
        region_release(&facts.region);
        bytes += STEP_BYTES;
        assert_true(bytes < REGION_BYTES);
    } while (rc != 0);
    assert_true(bytes > sizeof(struct cgroup_facts));
    facts_root_close(&root);
}

static void every_request_for_memory_may_fail(void **state)
{
    (void)state;
    until_it_succeeds("cgroup-hybrid-systemd", "900");
    until_it_succeeds("cgroup-v2-private-namespace", "1");
    until_it_succeeds("cgroup-v1-kubernetes-cgroupfs", "6001");
    until_it_succeeds("cgroup-v2-deleted", "44");
    until_it_succeeds("c42-virtual-machine", "2001");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_for_memory_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
