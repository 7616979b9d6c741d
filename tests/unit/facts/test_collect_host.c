/* test_collect_host.c - who is looked at closely on a host with many processes. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/collect.h"

/*
 * A host of the test's own: SOLOS large programs of different names, WEBS workers in one
 * service of which one is large, a hand-started pool of a master and FORKS workers, of which
 * one is large, LONERS small ones that share only their name with a large one, and a pool of
 * PHP-FPM, all small.
 */
enum {
    SOLOS = 40,
    WEBS = 30,
    FORKS = 20,
    LONERS = 25,
    FIRST_WEB = 1000,
    FIRST_FORK = 2000,
    FIRST_LONER = 3000,
    FPMS = 22,
    FIRST_FPM = 3500,
    LARGE_PAGES = 10000,
    SMALL_PAGES = 100,
    PATH_BYTES = 128,
};

struct host {
    char path[PATH_BYTES];
    int fd;
};

static void write_file(
    const struct host *host, int pid, const char *file, const char *text)
{
    char name[PATH_BYTES];

    (void)snprintf(name, sizeof(name), "proc/%d/%s", pid, file);
    int fd = openat(host->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void add_process(const struct host *host, int pid, int parent, const char *name,
    unsigned pages, const char *cgroup)
{
    const unsigned page_kb = (unsigned)(sysconf(_SC_PAGESIZE) / 1024);
    char text[512];

    (void)snprintf(text, sizeof(text), "proc/%d", pid);
    assert_int_equal(mkdirat(host->fd, text, 0700), 0);
    (void)snprintf(text, sizeof(text),
        "%d (%s) S %d 1 1 0 -1 0 9 0 0 0 0 0 0 0 20 0 3 0 %d 0 %u 0 0 0 0 0 0\n", pid,
        name, parent, pid, pages);
    write_file(host, pid, "stat", text);
    (void)snprintf(text, sizeof(text), "Tgid:\t%d\nVmRSS:\t%u kB\nRssAnon:\t%u kB\n", pid,
        pages * page_kb, pages * page_kb / 2);
    write_file(host, pid, "status", text);
    (void)snprintf(text, sizeof(text), "0::%s\n", cgroup);
    write_file(host, pid, "cgroup", text);
    write_file(
        host, pid, "smaps_rollup", "0-f ---p 0 0 0 [rollup]\nRss: 8 kB\nPss: 4 kB\n");
}

static int make_host(void **state)
{
    static struct host host;
    char name[16];

    host = (struct host){.path = "/tmp/strata-test-host-XXXXXX"};
    assert_non_null(mkdtemp(host.path));
    host.fd = open(host.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(host.fd, "proc", 0700), 0);
    for (int i = 1; i <= SOLOS; i++) {
        (void)snprintf(name, sizeof(name), "solo%d", i);
        /* The large members of the pools stand among the largest of all. */
        add_process(&host, i, 0, i == 1 ? "loner" : name, LARGE_PAGES - (unsigned)i * 10,
            "/init.scope");
    }
    for (int i = 0; i < WEBS; i++) {
        add_process(&host, FIRST_WEB + i, 1, "web", i == 7 ? LARGE_PAGES : SMALL_PAGES,
            "/system.slice/web.service");
    }
    for (int i = 0; i <= FORKS; i++) {
        add_process(&host, FIRST_FORK + i, i == 0 ? 1 : FIRST_FORK, "fork",
            i == 5 ? LARGE_PAGES : SMALL_PAGES, "/user.slice/session-1.scope");
    }
    for (int i = 0; i < LONERS; i++) {
        add_process(&host, FIRST_LONER + i, 2, "loner", SMALL_PAGES, "/init.scope");
    }
    for (int i = 0; i < FPMS; i++) {
        add_process(&host, FIRST_FPM + i, i == 0 ? 1 : FIRST_FPM, "php-fpm8.2",
            SMALL_PAGES, "/init.scope");
        write_file(&host, FIRST_FPM + i, "cmdline",
            i == 0 ? "php-fpm: master process (/etc/php-fpm.conf)"
                   : "php-fpm: pool shop");
    }
    *state = &host;
    return 0;
}

static void remove_process(const struct host *host, int pid)
{
    static const char *const files[] = {
        "/stat", "/status", "/cgroup", "/smaps_rollup", "/cmdline", ""};
    char name[PATH_BYTES];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(name, sizeof(name), "proc/%d%s", pid, files[i]);
        (void)unlinkat(host->fd, name, files[i][0] == '\0' ? AT_REMOVEDIR : 0);
    }
}

static int drop_host(void **state)
{
    struct host *host = *state;

    for (int pid = 1; pid < FIRST_FPM + FPMS; pid++) {
        remove_process(host, pid);
    }
    (void)unlinkat(host->fd, "proc", AT_REMOVEDIR);
    close(host->fd);
    return rmdir(host->path);
}

static void read_host_as(const struct host *host, unsigned what, struct facts *facts)
{
    struct facts_root root;
    struct error error = {0};

    assert_int_equal(facts_root_open(&root, host->path, NULL), 0);
    assert_int_equal(facts_collect_host(&root, what, facts, &error), 0);
    facts_root_close(&root);
}

static void read_host(const struct host *host, struct facts *facts)
{
    read_host_as(host, COLLECT_OVERVIEW, facts);
}

static bool is_known_closely(const struct process_facts *process)
{
    return process->values[PROCESS_FACT_RSS_ANON].state == FACT_OK &&
           process->cgroup_index >= 0;
}

static void all_are_there_with_their_resident_set(void **state)
{
    struct facts facts;

    read_host(*state, &facts);
    assert_int_equal(facts.process_count, SOLOS + WEBS + FORKS + 1 + LONERS + FPMS);
    for (size_t i = 0; i < facts.process_count; i++) {
        const struct process_facts *process = &facts.processes[i];
        assert_int_equal(process->values[PROCESS_FACT_VM_RSS].state, FACT_OK);
        assert_true(process->values[PROCESS_FACT_VM_RSS].value >=
                    SMALL_PAGES * (uint64_t)sysconf(_SC_PAGESIZE));
        assert_int_equal(process->start_time_ticks, process->pid);
        assert_true(
            i == 0 || process->values[PROCESS_FACT_VM_RSS].value <=
                          facts.processes[i - 1].values[PROCESS_FACT_VM_RSS].value);
    }
    region_release(&facts.region);
}

static void pools_with_a_large_member_are_known_as_a_whole(void **state)
{
    struct facts facts;
    size_t far = 0;

    read_host(*state, &facts);
    for (size_t i = 0; i < facts.process_count; i++) {
        const struct process_facts *process = &facts.processes[i];
        if (strcmp(process->name, "web") == 0 || strcmp(process->name, "fork") == 0) {
            assert_true(is_known_closely(process));
        }
        if (process->pid >= FIRST_LONER && process->pid < FIRST_FPM) {
            assert_false(is_known_closely(process));
            assert_int_equal(process->values[PROCESS_FACT_RSS_ANON].state, FACT_ABSENT);
        }
        far += !is_known_closely(process);
    }
    /* The loners, and the smallest of the large ones. */
    assert_true(far >= LONERS);
    assert_true(far < LONERS + SOLOS);
    region_release(&facts.region);
}

/* Each worker is one of the smallest of the host, and together they are a row of a name. */
static void a_pool_of_small_workers_is_known_by_its_title(void **state)
{
    struct facts facts;
    size_t workers = 0;

    read_host(*state, &facts);
    for (size_t i = 0; i < facts.process_count; i++) {
        const struct process_facts *process = &facts.processes[i];
        if (process->pid > FIRST_FPM) {
            assert_non_null(process->title);
            assert_string_equal(process->title, "php-fpm: pool shop");
            assert_true(is_known_closely(process));
            workers++;
        }
    }
    assert_int_equal(workers, FPMS - 1);
    region_release(&facts.region);
}

static void what_was_not_looked_at_is_said_once(void **state)
{
    struct facts facts;
    size_t gaps = 0;

    read_host(*state, &facts);
    for (size_t i = 0; i < facts.gap_count; i++) {
        if (strcmp(facts.gaps[i].fact, "status") == 0) {
            assert_int_equal(facts.gaps[i].state, FACT_ABSENT);
            assert_int_equal(facts.gaps[i].pid, 0);
            assert_non_null(strstr(facts.gaps[i].why, "for the largest only"));
            gaps++;
        }
    }
    assert_int_equal(gaps, 1);
    region_release(&facts.region);
}

/* How many fit into the time for it is not for a test to say; who is left out is. */
static void pss_is_of_the_largest_and_the_others_are_counted(void **state)
{
    struct facts facts;
    size_t known = 0;
    size_t others = 0;

    read_host(*state, &facts);
    for (size_t i = 0; i < facts.process_count; i++) {
        if (facts.processes[i].values[PROCESS_FACT_PSS].state == FACT_OK) {
            assert_int_equal(known, i);
            known++;
        }
    }
    for (size_t i = 0; i < facts.gap_count; i++) {
        if (strcmp(facts.gaps[i].fact, "smaps_rollup") == 0) {
            assert_memory_equal(facts.gaps[i].why, "of ", strlen("of "));
            others = strtoul(facts.gaps[i].why + strlen("of "), NULL, 10);
        }
    }
    assert_in_range(known, 1, SOLOS);
    assert_int_equal(known + others, facts.process_count);
    region_release(&facts.region);
}

static void all_are_known_closely_when_asked_for(void **state)
{
    struct facts facts;

    read_host_as(*state, COLLECT_OVERVIEW | COLLECT_CLOSELY, &facts);
    assert_int_equal(facts.process_count, SOLOS + WEBS + FORKS + 1 + LONERS + FPMS);
    for (size_t i = 0; i < facts.process_count; i++) {
        assert_true(is_known_closely(&facts.processes[i]));
    }
    region_release(&facts.region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_there_with_their_resident_set),
        cmocka_unit_test(pools_with_a_large_member_are_known_as_a_whole),
        cmocka_unit_test(a_pool_of_small_workers_is_known_by_its_title),
        cmocka_unit_test(what_was_not_looked_at_is_said_once),
        cmocka_unit_test(pss_is_of_the_largest_and_the_others_are_counted),
        cmocka_unit_test(all_are_known_closely_when_asked_for),
    };

    return cmocka_run_group_tests(tests, make_host, drop_host);
}
