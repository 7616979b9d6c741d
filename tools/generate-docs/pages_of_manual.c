/*
 * pages_of_manual.c - one manual page for each command, in the format of scdoc(5).
 *
 * The text of a command is the one that `strata help` prints: paragraphs, and lines that
 * begin with two blanks, which stay as they are.
 */
#include "pages.h"

#include <stdbool.h>
#include <string.h>

#include "cmd/cmd_help.h"
#include "cmd/options.h"

/* A line as running text: what scdoc takes for markup is escaped. */
static void write_plain(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr("_*\\`", text[i]) != NULL ||
            (i == 0 && strchr("#[]|.-", text[i]) != NULL)) {
            fputc('\\', out);
        }
        fputc(text[i], out);
    }
    fputc('\n', out);
}

static void write_word(FILE *out, const char *word)
{
    for (; *word != '\0'; word++) {
        if (strchr("_*\\", *word) != NULL) {
            fputc('\\', out);
        }
        fputc(*word, out);
    }
}

static bool stays_as_it_is(const char *line)
{
    return strncmp(line, "  ", 2) == 0;
}

static void write_text(FILE *out, const char *text)
{
    bool literal = false;

    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (stays_as_it_is(text) != literal && (literal || length > 0)) {
            literal = !literal;
            fputs("```\n", out);
        }
        if (literal) {
            fprintf(out, "%.*s\n", (int)length, text);
        } else {
            write_plain(out, text, length);
        }
        text += length + (text[length] == '\n' ? 1 : 0);
    }
    if (literal) {
        fputs("```\n", out);
    }
    fputc('\n', out);
}

static void write_options(FILE *out, const struct command *command)
{
    fputs("# OPTIONS\n\n", out);
    for (const struct option_row *row = option_table; row->name != NULL; row++) {
        if (!command_takes(command, row)) {
            continue;
        }
        if (option_letter(row) != '\0') {
            fprintf(out, "*-%c*, ", option_letter(row));
        }
        fprintf(out, "*--%s*%s%s\n\t", row->name, row->argument != NULL ? " " : "",
            row->argument != NULL ? row->argument : "");
        write_plain(out, row->help, strlen(row->help));
        fputc('\n', out);
    }
}

static void write_subject(FILE *out, const char *name, const char *heading)
{
    for (const struct help_subject *subject = help_subjects; subject->name != NULL;
         subject++) {
        if (strcmp(subject->name, name) == 0) {
            fprintf(out, "# %s\n\n", heading);
            write_text(out, subject->text);
        }
    }
}

static void write_commands(FILE *out)
{
    fputs("# COMMANDS\n\n", out);
    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (*command->name != '\0') {
            fprintf(out, "*strata-%s*(1)\n\t", command->name);
            write_plain(out, command->summary, strlen(command->summary));
            fputc('\n', out);
        }
    }
}

static void write_head(FILE *out, const struct command *command)
{
    const char *dash = *command->name != '\0' ? "-" : "";

    fprintf(out, "strata%s%s(1)\n\n", dash, command->name);
    fprintf(out, "; written by tools/generate-docs out of src/cmd/table.c\n\n");
    fprintf(out, "# NAME\n\nstrata%s%s - %s\n\n", dash, command->name, command->summary);
    fprintf(out, "# SYNOPSIS\n\n*strata%s%s*%s", *dash != '\0' ? " " : "", command->name,
        command->options != 0 ? " \\[OPTION...\\]" : "");
    if (*command->arguments != '\0') {
        fputc(' ', out);
        write_word(out, command->arguments);
    }
    fputs("\n\n", out);
}

void write_manual(FILE *out, const struct command *command)
{
    write_head(out, command);
    fputs("# DESCRIPTION\n\n", out);
    write_text(out, *command->text != '\0' ? command->text : command->summary);
    if (*command->name == '\0') {
        write_commands(out);
    }
    write_options(out, command);
    if (strstr(command->arguments, "TARGET") != NULL) {
        write_subject(out, "targets", "TARGETS");
    }
    write_subject(out, "exit-codes", "EXIT STATUS");
    if (*command->name == '\0') {
        fputs("# FILES\n"
              "\n"
              "*share/doc/strata/\\*.md*, *share/strata*\n"
              "\tbelow the prefix that strata is installed in (/usr, /usr/local): texts "
              "that help and manual\n"
              "\tpages name; recipes, alert rules, a dashboard\n"
              "\n",
            out);
    }
    fprintf(out, "# SEE ALSO\n\n%s\n",
        *command->name != '\0' ? "*strata*(1)" : "*malloc*(3), *proc*(5), *cgroups*(7)");
}
