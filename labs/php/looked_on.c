/*
 * Starts PHP between two pipes and looks at it from outside whenever it waits.
 *
 * The script says "stop" and then waits for a line; its figures hold once it sleeps in
 * that read. PHP ends by itself when its input is closed with ours.
 */
#include "looked_on.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 256,
    OPTION_BYTES = 64,
    SLEEP_TRIES = 5000,
    SLEEP_PAUSE_NS = 1000000,
};

void outside_print_head(const char *what)
{
    static const char *const titles[OUTSIDE_COLUMNS] = {[OUTSIDE_PUBLISHED] = "published",
        [OUTSIDE_PHP] = "php's own",
        [OUTSIDE_READ] = "from outside"};
    lab_print_titles(what, titles, OUTSIDE_COLUMNS);
}

void outside_print_row(const char *label, const struct outside_row *row)
{
    lab_print_figures(label, row->figure, OUTSIDE_COLUMNS);
}

static int spawn_php(struct looked_on *php, char *const *arguments, const int input[2],
    const int output[2])
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    }
    if (error == 0) {
        error = posix_spawnp(&php->pid, arguments[0], &actions, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* 0 or a positive error number. */
static int connect_php(struct looked_on *php, char *const *arguments)
{
    int input[2];
    int output[2];
    if (pipe2(input, O_CLOEXEC) != 0) {
        return errno;
    }
    if (pipe2(output, O_CLOEXEC) != 0) {
        int error = errno;
        close(input[0]);
        close(input[1]);
        return error;
    }
    int error = spawn_php(php, arguments, input, output);
    close(input[0]);
    close(output[1]);
    php->input = input[1];
    php->output = fdopen(output[0], "r");
    if (php->output == NULL) {
        lab_die("no memory for a stream");
    }
    return error;
}

static void go_on(const struct looked_on *php)
{
    if (write(php->input, "\n", 1) != 1) {
        lab_die("PHP does not wait for its line");
    }
}

/* Adds a line to the lab's text, of which lab_php_figure() reads. */
static void keep_line(struct lab *lab, const char *line)
{
    size_t used = strlen(lab->php_text);
    if (used + strlen(line) >= sizeof(lab->php_text)) {
        lab_die("PHP prints more than expected");
    }
    snprintf(lab->php_text + used, sizeof(lab->php_text) - used, "%s", line);
}

/* Reads up to the next stop; false when PHP ended before. */
static bool read_to_stop(struct lab *lab, struct looked_on *php)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof(line), php->output) != NULL) {
        if (strcmp(line, "stop\n") == 0) {
            return true;
        }
        keep_line(lab, line);
    }
    return false;
}

static bool sleeps(pid_t pid)
{
    char path[LINE_BYTES];
    char text[LINE_BYTES] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof(text) - 1) <= 0) {
        lab_die("PHP has gone away");
    }
    close(file);
    const char *behind_name = strrchr(text, ')');
    return behind_name != NULL && strncmp(behind_name, ") S", 3) == 0;
}

static void wait_until_asleep(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = SLEEP_PAUSE_NS};
    for (int tries = 0; tries < SLEEP_TRIES && !sleeps(pid); tries++) {
        nanosleep(&pause, NULL);
    }
}

bool looked_on_start(struct lab *lab, struct looked_on *php, const char *script,
    const char *memory_limit, const char *argument)
{
    char no_ini[] = "-n";
    char define[] = "-d";
    char limit[OPTION_BYTES];
    snprintf(limit, sizeof(limit), "memory_limit=%s", memory_limit);
    *php = (struct looked_on){.pid = -1};
    if (lab_write_script(script, php->script) != 0) {
        lab_die("cannot write the script to the temporary directory");
    }
    char *arguments[] = {(char *)lab_php_program(), no_ini, define, limit, php->script,
        (char *)argument, NULL};
    setenv("LAB_STOPS", "1", 1);
    lab->php_text[0] = '\0';
    int error = connect_php(php, arguments);
    if (error == ENOENT) {
        unlink(php->script);
        lab_note_php_missing(lab);
        php->pid = -1;
        looked_on_end(lab, php);
        return false;
    }
    if (error != 0) {
        lab_die(strerror(error));
    }
    go_on(php);
    bool stopped = read_to_stop(lab, php);
    unlink(php->script); /* it is compiled, and a lab that dies leaves no file */
    if (!stopped) {
        lab_die("PHP ended before its first point");
    }
    return true;
}

static void expect_agreement(
    struct lab *lab, const char *point, const struct outside *outside)
{
    const struct {
        const char *figure;
        int64_t read;
    } pairs[] = {
        {"used", outside->used},
        {"real", outside->real},
        {"peak_used", outside->peak_used},
        {"peak_real", outside->peak_real},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        char what[LINE_BYTES];
        int64_t own = lab_php_point(lab, point, pairs[i].figure);
        snprintf(what, sizeof(what), "%s of '%s', from outside", pairs[i].figure, point);
        if (own == LAB_UNKNOWN) {
            lab_die("PHP did not print the figures of its point");
        }
        lab_expect_equal(lab, what, pairs[i].read, own);
    }
}

void looked_on_read(
    struct lab *lab, struct looked_on *php, const char *point, struct outside *outside)
{
    go_on(php);
    if (!read_to_stop(lab, php)) {
        lab_die("PHP ended before its next point");
    }
    wait_until_asleep(php->pid);
    outside_read(php->pid, outside);
    expect_agreement(lab, point, outside);
}

void looked_on_end(struct lab *lab, struct looked_on *php)
{
    if (php->pid > 0) {
        go_on(php);
        if (read_to_stop(lab, php)) {
            lab_die("PHP stops once more than expected");
        }
    }
    close(php->input);
    fclose(php->output);
    if (php->pid > 0) {
        waitpid(php->pid, NULL, 0);
    }
}
