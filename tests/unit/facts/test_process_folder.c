/* test_process_folder.c - identity of a process, in a tree that changes under the reader. */
#include <errno.h>
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
#include "facts/process_folder.h"

enum { PID = 77, GROUPS = 65536 };

/* A folder with proc/77/stat and whatever a test adds. */
struct tree {
    char path[64];
    int fd;
    struct facts_root root;
};

static void write_text(const struct tree *tree, const char *name, const char *text)
{
    int fd = openat(tree->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void write_stat(
    const struct tree *tree, char run_state, uint64_t start_ticks, uint64_t stack_start)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
        "%d (server) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0 0 0 0 %llu 0\n",
        PID, run_state, (unsigned long long)start_ticks, (unsigned long long)stack_start);
    write_text(tree, "proc/77/stat", text);
}

static int make_tree(void **state)
{
    static struct tree tree;

    tree = (struct tree){.path = "/tmp/strata-test-folder-XXXXXX"};
    assert_non_null(mkdtemp(tree.path));
    tree.fd = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(tree.fd, "proc", 0700), 0);
    assert_int_equal(mkdirat(tree.fd, "proc/77", 0700), 0);
    write_stat(&tree, 'S', 500, 4096);
    assert_int_equal(facts_root_open(&tree.root, tree.path, NULL), 0);
    *state = &tree;
    return 0;
}

static void remove_process(const struct tree *tree)
{
    static const char *const files[] = {"stat", "status", "smaps"};
    char name[64];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)snprintf(name, sizeof(name), "proc/77/%s", files[i]);
        (void)unlinkat(tree->fd, name, 0);
    }
    (void)unlinkat(tree->fd, "proc/77", AT_REMOVEDIR);
}

static int drop_tree(void **state)
{
    struct tree *tree = *state;

    remove_process(tree);
    facts_root_close(&tree->root);
    (void)unlinkat(tree->fd, "proc", AT_REMOVEDIR);
    close(tree->fd);
    return rmdir(tree->path);
}

static void a_reused_pid_is_another_process(void **state)
{
    struct tree *tree = *state;
    struct process_folder folder;

    assert_int_equal(process_folder_open(&tree->root, PID, &folder), 0);
    process_folder_watch(&folder);
    assert_int_equal(process_folder_check(&folder), 0);
    write_stat(tree, 'S', 501, 4096);
    assert_int_equal(process_folder_check(&folder), -ESRCH);
    process_folder_close(&folder);
}

static void another_stack_is_another_program(void **state)
{
    struct tree *tree = *state;
    struct process_folder folder;

    assert_int_equal(process_folder_open(&tree->root, PID, &folder), 0);
    process_folder_watch(&folder);
    write_stat(tree, 'S', 500, 8192);
    assert_int_equal(process_folder_check(&folder), -ESTALE);
    write_stat(tree, 'Z', 500, 0);
    assert_int_equal(process_folder_check(&folder), -ESRCH);
    process_folder_close(&folder);
}

static void a_missing_file_is_told_from_a_missing_process(void **state)
{
    struct tree *tree = *state;
    struct process_folder folder;
    struct buffer buffer;

    buffer_init(&buffer);
    assert_int_equal(process_folder_open(&tree->root, PID, &folder), 0);
    assert_int_equal(process_folder_read(&folder, "smaps", 4096, &buffer), -ENOENT);
    assert_int_equal(process_folder_open_file(&folder, "smaps"), -ENOENT);
    remove_process(tree);
    assert_int_equal(process_folder_read(&folder, "smaps", 4096, &buffer), -ESRCH);
    assert_int_equal(process_folder_open_file(&folder, "smaps"), -ESRCH);
    assert_int_equal(process_folder_check(&folder), -ESRCH);
    process_folder_close(&folder);
    assert_int_equal(process_folder_open(&tree->root, PID, &folder), -ESRCH);
    buffer_release(&buffer);
}

/* A tree may hold anything under a known name; reading a FIFO would wait for ever. */
static void what_is_no_regular_file_is_not_waited_for(void **state)
{
    struct tree *tree = *state;
    struct process_folder folder;
    struct buffer buffer;

    buffer_init(&buffer);
    assert_int_equal(mkfifoat(tree->fd, "proc/77/smaps", 0600), 0);
    assert_int_equal(process_folder_open(&tree->root, PID, &folder), 0);
    assert_int_equal(process_folder_read(&folder, "smaps", 4096, &buffer), -EINVAL);
    assert_int_equal(process_folder_open_file(&folder, "smaps"), -EINVAL);
    assert_int_equal(process_folder_read(&folder, ".", 4096, &buffer), -EINVAL);
    process_folder_close(&folder);
    buffer_release(&buffer);
}

static void a_stat_that_is_none_is_refused(void **state)
{
    struct tree *tree = *state;
    struct facts facts;
    struct error error = {0};

    write_text(tree, "proc/77/stat", "77 server S 1\n");
    assert_int_equal(
        facts_collect(&tree->root, "77", COLLECT_STATUS, &facts, &error), -EINVAL);
    assert_true(error.text[0] != '\0');
}

static void a_process_in_many_groups_is_read(void **state)
{
    struct tree *tree = *state;
    struct facts facts;
    struct error error = {0};
    struct buffer status;

    buffer_init(&status);
    buffer_append_text(&status, "Tgid:\t77\nGroups:\t");
    for (unsigned i = 0; i < GROUPS; i++) {
        buffer_printf(&status, "%u ", 4000000000u + i);
    }
    buffer_append_text(&status, "\nVmRSS:\t    12 kB\n");
    write_text(tree, "proc/77/status", buffer_text(&status));
    buffer_release(&status);
    assert_int_equal(facts_collect(&tree->root, "77", COLLECT_STATUS, &facts, &error), 0);
    assert_int_equal(facts.processes[0].values[PROCESS_FACT_VM_RSS].value, 12 << 10);
    region_release(&facts.region);
}

int main(void)
{
#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, make_tree, drop_tree)
    const struct CMUnitTest tests[] = {
        TREE_TEST(a_reused_pid_is_another_process),
        TREE_TEST(another_stack_is_another_program),
        TREE_TEST(a_missing_file_is_told_from_a_missing_process),
        TREE_TEST(what_is_no_regular_file_is_not_waited_for),
        TREE_TEST(a_stat_that_is_none_is_refused),
        TREE_TEST(a_process_in_many_groups_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
