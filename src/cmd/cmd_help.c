/*
 * cmd_help.c - `strata help`, from the table of commands, and two subjects of their own.
 *
 * Help that was asked for goes to standard output and ends with 0.
 */
#include "cmd/cmd_help.h"

#include <string.h>

#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/options.h"

enum { SUMMARY_COLUMN = 9 };

static const char introduction[] =
    "Shows where the memory of a process goes, and what gives it back:\n"
    "\n"
    "  sudo strata explain mariadbd\n"
    "\n";

static const char targets_text[] =
    "TARGET is tried in this order:\n"
    "\n"
    "  -                   a capture on standard input\n"
    "  *.strata, *.json    a capture, also when there is no such file\n"
    "  *.db                a recording: what `strata record` wrote\n"
    "  DIR/FILE            a capture or recording, when it begins like one, or the\n"
    "                      pipe of <(COMMAND); so a file of this folder can be\n"
    "                      given as ./FILE\n"
    "  812                 a process by its pid\n"
    "  pool:www            a pool of php-fpm: its master and workers\n"
    "  pool:http, pool:812 RoadRunner's workers of that mode; a process and what\n"
    "                      descends from it\n"
    "  mariadbd            a program by its name or path; a master and its workers\n"
    "                      are one target\n"
    "  nginx.service       a systemd unit\n"
    "  3f2a1b              a container by the first 6 or more digits of its id\n"
    "  /system.slice/x     a cgroup by its path\n"
    "\n"
    "When several match that do not belong together, they are listed and none is\n"
    "explained.\n";

static const char exit_codes_text[] =
    "Exit codes, the same for text and --json:\n"
    "\n"
    "  0  fine\n"
    "  1  a finding is at or above --fail-on LEVEL; this goes before 3 and 5\n"
    "  2  the command line is wrong\n"
    "  3  not permitted: the mappings of no process of the target may be read;\n"
    "     what can be read without is still printed\n"
    "  4  no such target, several that match, a target that ended while it was\n"
    "     read or has no memory, or a capture that cannot be read\n"
    "  5  partial: the account is printed, and facts which exist are missing from\n"
    "     it (denied, gone, stale or malformed); how many, and why, is said at the\n"
    "     end; explain --all lists them under Missing, and the JSON in its gaps;\n"
    "     what this kernel or program does not have is no reason for 5\n"
    "  6  the output could not be written, or memory ran short\n";

const struct help_subject help_subjects[] = {
    {"targets", targets_text}, {"exit-codes", exit_codes_text}, {.name = NULL}};

static void describe_all(struct buffer *buffer)
{
    buffer_append_text(buffer, introduction);
    for (const struct command *command = command_table; command->run != NULL; command++) {
        buffer_printf(
            buffer, "  strata %-*s%s\n", SUMMARY_COLUMN, command->name, command->summary);
    }
    buffer_append_text(buffer,
        "\n"
        "More: strata help COMMAND, strata help overview, strata help targets,\n"
        "strata help exit-codes\n"
        "\n"
        "Texts named as share/doc/strata/NAME.md are below the prefix of the\n"
        "installation, /usr or /usr/local\n");
}

static void describe(const struct command *command, struct buffer *buffer)
{
    const char *name = command->name;

    buffer_printf(buffer, "usage: strata%s%s%s%s%s\n\n%s\n", *name != '\0' ? " " : "",
        name, command->options != 0 ? " [OPTION...]" : "",
        *command->arguments != '\0' ? " " : "", command->arguments, command->summary);
    if (*command->text != '\0') {
        buffer_printf(buffer, "\n%s\n", command->text);
    }
    buffer_append_char(buffer, '\n');
    options_describe(command, buffer);
}

const char help_overview[] = "overview";

static int describe_subject(const char *name, struct buffer *buffer)
{
    const struct command *command =
        strcmp(name, help_overview) == 0 ? &command_table[0] : command_find(name);

    for (const struct help_subject *subject = help_subjects; subject->name != NULL;
         subject++) {
        if (strcmp(subject->name, name) == 0) {
            buffer_append_text(buffer, subject->text);
            return EXIT_FINE;
        }
    }
    if (command == NULL || *name == '\0') {
        complain("no help on '%s'; 'strata help' lists what there is", name);
        return EXIT_USAGE;
    }
    describe(command, buffer);
    return EXIT_FINE;
}

int cmd_help(const struct options *options)
{
    struct buffer buffer;
    int code = EXIT_FINE;

    buffer_init(&buffer);
    if (options->help && *options->command->name != '\0') {
        describe(options->command, &buffer);
    } else if (options->argument_count > 0) {
        code = describe_subject(options->arguments[0], &buffer);
    } else {
        describe_all(&buffer);
        if (options->help) {
            buffer_append_text(&buffer, "\nplain strata, ");
            describe(options->command, &buffer);
        }
    }
    if (code == EXIT_FINE && print_buffer(&buffer) != 0) {
        code = EXIT_FAILED;
    }
    buffer_release(&buffer);
    return code;
}
