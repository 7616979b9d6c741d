/* test_collect_process.c - which process it is that is read, and for whom. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/collect.h"
#include "facts/process_folder.h"
#include "facts/process_list.h"
#include "collected.h"
#include "known_child.h"

enum { NOBODY = 65534 };

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

static void what_has_no_memory_is_refused(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, leave_zombie);
    assert_int_equal(
        collected_pid((pid_t)child.words[0], COLLECT_EXPLAIN, &facts, &error), -ENOENT);
    assert_non_null(strstr(error.text, "zombie"));
    child_end(&child);
    assert_int_equal(collected_pid(child.pid, COLLECT_EXPLAIN, &facts, &error), -ENOENT);
    assert_null(facts.region.blocks);
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
    char *private = known_child_map(KNOWN_PRIVATE_MIB * MIB, MAP_PRIVATE);
    pthread_t thread;

    copy = *side;
    memset(private, 1, KNOWN_PRIVATE_MIB * MIB);
    if (pthread_create(&thread, NULL, outlive_the_first_thread, &copy) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}

static void a_process_outlives_its_first_thread(void **state)
{
    struct child child;
    struct facts facts;
    struct error error;

    (void)state;
    child_start(&child, end_first_thread);
    if (collected_pid(child.pid, COLLECT_EXPLAIN, &facts, &error) != 0) {
        fail_msg("%s", error.text);
    }
    const struct process_facts *process = &facts.processes[0];
    assert_int_equal(process->pid, child.pid);
    assert_int_equal(process->parent_pid, getpid());
    assert_int_not_equal(process->run_state, 'Z');
    assert_true(collected_value(process, PROCESS_FACT_PSS) >= KNOWN_PRIVATE_MIB * MIB);
    assert_true(facts.exclusive_bytes.value >= KNOWN_PRIVATE_MIB * MIB);
    assert_int_equal(process->mappings_state, FACT_OK);
    assert_null(collected_gap(&facts, "memory"));
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
    child_start(&child, known_child_become_holder);
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
    const struct gap *gap = collected_gap(&facts, "smaps");
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
    if (collected_gap(&facts, "frames") == NULL ||
        facts.unique_bytes.state != FACT_DENIED ||
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
    child_start(&child, known_child_map_things);
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
        known_child_start_holder(&children[i]);
        assert_int_equal(
            collected_pid(children[i].pid, COLLECT_STATUS, &facts, &error), 0);
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
        facts.unique_bytes.state, collected_frames_are_shown() ? FACT_OK : FACT_DENIED);
    region_release(&facts.region);

    identities[1].start_time_ticks++;
    assert_int_equal(
        facts_collect_members(&root, &chosen, COLLECT_STATUS, &facts, &error), 0);
    assert_int_equal(facts.process_count, 1);
    assert_non_null(collected_gap(&facts, "process"));
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
    child_start(&child, known_child_map_things);
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
        return known_child_hold(arguments[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_memory_is_refused),
        cmocka_unit_test(a_process_outlives_its_first_thread),
        cmocka_unit_test(another_program_is_another_process),
        cmocka_unit_test(another_user_gets_status_and_reasons),
        cmocka_unit_test(chosen_members_are_read_as_one_target),
        cmocka_unit_test(the_fingerprint_of_all_processes_tells_a_new_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
