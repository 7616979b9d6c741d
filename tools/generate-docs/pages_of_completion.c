/*
 * pages_of_completion.c - completion for bash, zsh and fish, out of the same tables.
 *
 * Commands, options, rules, labs, recipes and subjects of help are written down, so that nothing
 * is run to propose them; targets are what runs.
 */
#include "pages.h"

#include <stdbool.h>
#include <string.h>

#include "base/region.h"
#include "cmd/cmd_bench.h"
#include "cmd/cmd_help.h"
#include "cmd/cmd_lab.h"
#include "cmd/cmd_rules.h"
#include "cmd/options.h"
#include "findings/finding.h"
#include "trial/recipe.h"

enum { WORDS_BYTES = 8192 };

static const char names_line[] = "printf '%s\\n'";
static const char targets_line[] =
    "ps -e -o comm= 2>/dev/null | grep -x '[A-Za-z0-9._@+-]*' | sort -u";

static void add_name(char *line, const char *name)
{
    const size_t used = strlen(line);

    (void)snprintf(line + used, WORDS_BYTES - used, " %s", name);
}

static void add_recipes(char *line)
{
    const char *names[RECIPES_MOST];
    struct region region;

    region_init(&region, WORDS_BYTES);
    const size_t count = recipe_names(&region, STRATA_RECIPES_FOLDER, names);
    for (size_t i = 0; i < count; i++) {
        add_name(line, names[i]);
    }
    region_release(&region);
}

static void add_help_subjects(char *line)
{
    for (const struct command *command = command_table; command->run != NULL; command++) {
        add_name(line, *command->name != '\0' ? command->name : help_overview);
    }
    for (const struct help_subject *one = help_subjects; one->name != NULL; one++) {
        add_name(line, one->name);
    }
}

static void add_rules(char *line)
{
    for (const struct rule *rule = rule_table; rule->id != NULL; rule++) {
        add_name(line, rule->id);
    }
}

static void add_labs(char *line)
{
    for (const struct lab_row *lab = lab_table; lab->name != NULL; lab++) {
        add_name(line, lab->name);
    }
}

/* Commands whose arguments are names that the program knows; with files: or others. */
static const struct word_list {
    int (*run)(const struct options *options);
    void (*add)(char *line);
    bool files;
} word_lists[] = {
    {cmd_rules, add_rules, false},
    {cmd_lab, add_labs, false},
    {cmd_help, add_help_subjects, false},
    {cmd_bench, add_recipes, true},
};

static const struct word_list *list_of(const struct command *command)
{
    for (size_t i = 0; i < sizeof(word_lists) / sizeof(word_lists[0]); i++) {
        if (word_lists[i].run == command->run) {
            return &word_lists[i];
        }
    }
    return NULL;
}

static bool takes_files(const struct command *command)
{
    const struct word_list *list = list_of(command);

    return list == NULL || list->files;
}

/* The shell's line that prints what may stand as an argument; NULL: files only. */
static const char *words_line(const struct command *command)
{
    static char line[WORDS_BYTES];
    const struct word_list *list = list_of(command);

    if (list != NULL) {
        (void)snprintf(line, sizeof(line), "%s", names_line);
        list->add(line);
        return line;
    }
    return strncmp(command->arguments, "TARGET", strlen("TARGET")) == 0 ? targets_line
                                                                        : NULL;
}

/* The values of an option's argument, with a blank between; NULL: free, or a file. */
static const char *values_of(const struct option_row *row, char *text, size_t bytes)
{
    if (row->argument == NULL) {
        return NULL;
    }
    if (strcmp(row->argument, "WHEN") == 0) {
        return "auto always never";
    }
    if (strcmp(row->argument, "LEVEL") != 0) {
        return NULL;
    }
    *text = '\0';
    for (int i = 0; i < SEVERITY_COUNT; i++) {
        size_t used = strlen(text);
        (void)snprintf(
            text + used, bytes - used, "%s%s", used > 0 ? " " : "", severity_names[i]);
    }
    return text;
}

static int is_path(const struct option_row *row)
{
    return row->argument != NULL &&
           (strncmp(row->argument, "FILE", 4) == 0 || strcmp(row->argument, "DIR") == 0);
}

static void write_command_names(FILE *out)
{
    const char *blank = "";

    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (*command->name != '\0') {
            fprintf(out, "%s%s", blank, command->name);
            blank = " ";
        }
    }
}

static void write_bash_options(FILE *out, const struct command *command)
{
    fprintf(out, "    %s) options='", *command->name != '\0' ? command->name : "''");
    for (const struct option_row *row = option_table; row->name != NULL; row++) {
        if (command_takes(command, row)) {
            fprintf(out, "--%s ", row->name);
        }
    }
    fputc('\'', out);
    if (*command->name == '\0') {
        fputs(" words='", out);
        write_command_names(out);
        fputs("' files=no", out);
    } else if (words_line(command) != NULL) {
        fprintf(out, " words=$(%s)%s", words_line(command),
            takes_files(command) ? "" : " files=no");
    }
    fputs(" ;;\n", out);
}

static void write_bash_values(FILE *out)
{
    char text[128];

    for (const struct option_row *row = option_table; row->name != NULL; row++) {
        const char *values = values_of(row, text, sizeof(text));
        if (values != NULL) {
            fprintf(
                out, "    --%s) options= words='%s' files=no ;;\n", row->name, values);
        } else if (is_path(row)) {
            fprintf(out, "    --%s) options= words= ;;\n", row->name);
        }
    }
}

void write_bash_completion(FILE *out)
{
    /* compgen -W would expand what it is given, and names of processes are anybody's. */
    fputs("# bash completion for strata; written by tools/generate-docs\n"
          "# shellcheck shell=bash\n\n"
          "_strata() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} "
          "previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command= options= words= files=yes word i IFS=$' \\t\\n'\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }\n"
          "    done\n"
          "    case $command in\n",
        out);
    for (const struct command *command = command_table; command->run != NULL; command++) {
        write_bash_options(out, command);
    }
    fputs("    esac\n    case $previous in\n", out);
    write_bash_values(out);
    fputs("    esac\n"
          "    [[ $current != -* ]] || words=$options files=no\n"
          "    COMPREPLY=()\n"
          "    while read -r word; do\n"
          "        [[ -z $word || $word != \"$current\"* ]] || COMPREPLY+=(\"$word\")\n"
          "    done <<<\"${words// /$'\\n'}\"\n"
          "    [[ $files == no ]] ||\n"
          "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
          "\"$current\")\n"
          "}\n"
          "complete -o filenames -F _strata strata\n",
        out);
}

/* Within single quotes of zsh and fish, and within brackets of _arguments. */
static void write_quoted(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else if (strchr("[]:\\", *text) != NULL) {
            fprintf(out, "\\%c", *text);
        } else {
            fputc(*text, out);
        }
    }
}

static void write_fish_quoted(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        fprintf(out, strchr("'\\", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

/* Within double quotes of fish, which expand nothing but variables. */
static void write_fish_command(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        fprintf(out, strchr("\"\\$", *text) != NULL ? "\\%c" : "%c", *text);
    }
}

static void write_zsh_option(FILE *out, const struct option_row *row)
{
    char text[128];
    const char *values = values_of(row, text, sizeof(text));

    fprintf(out, " \\\n            '--%s[", row->name);
    write_quoted(out, row->help);
    fputc(']', out);
    if (row->argument != NULL) {
        fprintf(out, ":%s:", row->argument);
        if (values != NULL) {
            fprintf(out, "(%s)", values);
        } else if (is_path(row)) {
            fputs("_files", out);
        }
    }
    fputc('\'', out);
}

/* Functions of zsh, so that no line of shell stands inside of a quoted word. */
static void write_zsh_words(FILE *out)
{
    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (words_line(command) != NULL) {
            fprintf(out,
                "_strata_words_%s() {\n"
                "    local -a names\n"
                "    names=(${(f)\"$(%s)\"})\n"
                "    _describe 'argument' names\n"
                "%s"
                "}\n\n",
                command->name, words_line(command),
                takes_files(command) ? "    _files\n" : "");
        }
    }
}

static void write_zsh_command(FILE *out, const struct command *command)
{
    fprintf(out, "    %s)\n        _arguments",
        *command->name != '\0' ? command->name : "''");
    for (const struct option_row *row = option_table; row->name != NULL; row++) {
        if (command_takes(command, row)) {
            write_zsh_option(out, row);
        }
    }
    if (*command->name == '\0') {
        fputs(" \\\n            '1:command:(", out);
        write_command_names(out);
        fputs(")'", out);
    } else if (words_line(command) != NULL) {
        fprintf(out, " \\\n            '*:argument:_strata_words_%s'", command->name);
    } else {
        fputs(" \\\n            '*:file:_files'", out);
    }
    fputs("\n        ;;\n", out);
}

void write_zsh_completion(FILE *out)
{
    fputs("#compdef strata\n# zsh completion for strata; written by "
          "tools/generate-docs\n\n",
        out);
    write_zsh_words(out);
    fputs("_strata() {\n"
          "    local command=\n"
          "    if (( CURRENT > 2 )) && [[ ${words[2]} != -* ]]; then\n"
          "        command=${words[2]}\n"
          "        shift words\n"
          "        (( CURRENT-- ))\n"
          "    fi\n"
          "    case $command in\n",
        out);
    for (const struct command *command = command_table; command->run != NULL; command++) {
        write_zsh_command(out, command);
    }
    fputs("    esac\n}\n\n_strata \"$@\"\n", out);
}

static void write_fish_option(
    FILE *out, const struct command *command, const struct option_row *row)
{
    char text[128];
    const char *values = values_of(row, text, sizeof(text));

    fprintf(out, "complete -c strata -n '%s%s' -l %s",
        *command->name != '\0' ? "__fish_seen_subcommand_from " : "__fish_use_subcommand",
        command->name, row->name);
    if (option_letter(row) != '\0') {
        fprintf(out, " -s %c", option_letter(row));
    }
    if (values != NULL) {
        fprintf(out, " -x -a '%s'", values);
    } else if (row->argument != NULL) {
        fputs(is_path(row) ? " -r -F" : " -x", out);
    }
    fputs(" -d '", out);
    write_fish_quoted(out, row->help);
    fputs("'\n", out);
}

void write_fish_completion(FILE *out)
{
    fputs("# fish completion for strata; written by tools/generate-docs\n", out);
    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (*command->name != '\0') {
            fprintf(out, "complete -c strata -n __fish_use_subcommand -f -a %s -d '",
                command->name);
            write_fish_quoted(out, command->summary);
            fputs("'\n", out);
        }
        if (words_line(command) != NULL) {
            fprintf(out,
                "complete -c strata -n '__fish_seen_subcommand_from %s'%s -a \"(",
                command->name, takes_files(command) ? "" : " -f");
            write_fish_command(out, words_line(command));
            fputs(")\"\n", out);
        }
        for (const struct option_row *row = option_table; row->name != NULL; row++) {
            if (command_takes(command, row)) {
                write_fish_option(out, command, row);
            }
        }
    }
}
