/*
 * main.c - from the command line to a command.
 *
 * Standard descriptors that are closed are opened on /dev/null for reading: else the next
 * file would get their number, and the output would be written into it; like this a write
 * fails with EBADF and is told. SIGPIPE and SIGXFSZ are ignored for the same reason: the
 * write fails and what was begun is cleaned up. Only the
 * characters of the locale are used: numbers must look the same everywhere.
 */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd_help.h"
#include "cmd/command.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/version.h"

static void open_standard_descriptors(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) == -1) {
            (void)open("/dev/null", O_RDONLY);
        }
    }
}

static int print_version(void)
{
    struct buffer buffer;

    buffer_init(&buffer);
    buffer_printf(&buffer, "strata %s\n", version_text());
    buffer_append_text(&buffer, "built " STRATA_BUILD_TYPE " by " STRATA_COMPILER);
    if (STRATA_SANITIZE[0] != '\0') {
        buffer_append_text(&buffer, ", sanitizers " STRATA_SANITIZE);
    }
    buffer_append_text(&buffer,
        STRATA_STATIC
            ? "\nstatic: no SQL client (libmariadb), no HTTP (export --textfile only)\n"
            : "\nloaded when wanted: libmicrohttpd.so.12 for HTTP, libmariadb.so.3 for "
              "SQL\n");
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    const struct command *command = &command_table[0];
    struct options options;

    if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        return print_version();
    }
    if (argc > 1 && argv[1][0] != '-') {
        command = command_find(argv[1]);
        if (command == NULL || *argv[1] == '\0') {
            complain(
                "unknown command '%s'; 'strata help' lists them, 'strata explain %s' "
                "explains a target of that name",
                argv[1], argv[1]);
            return EXIT_USAGE;
        }
        argc--;
        argv++;
    }
    int code = options_parse(command, argc, argv, &options);
    if (code != 0) {
        return code;
    }
    return options.help ? cmd_help(&options) : command->run(&options);
}

int main(int argc, char **argv)
{
    open_standard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setlocale(LC_CTYPE, "");

    int code = run(argc, argv);
    if (print_end() != 0 && code == EXIT_FINE) {
        code = EXIT_FAILED;
    }
    return code;
}
