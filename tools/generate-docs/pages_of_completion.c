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
#include "cmd/cmd_run.h"
#include "cmd/options.h"
#include "findings/finding.h"
#include "plan/plan.h"
#include "present/top_text.h"
#include "trial/load.h"
#include "trial/recipe.h"
#include "trial/trial.h"

enum { WORDS_BYTES = 8192, VALUES_BYTES = 256 };

static const char names_line[] = "printf '%s\\n'";
/* Kernel threads have no address space. */
static const char targets_line[] =
    "ps -e -o vsz= -o comm= 2>/dev/null | sed -nE 's/^ *[1-9][0-9]* "
    "([A-Za-z0-9._@+-]+)$/\\1/p' | sort -u";

/* Behind the words that run a lab: `?` is no setting, and so the lab says which there are. */
static const char settings_line[] = "'?' 2>&1 | sed -nE 's/^  ([a-z_-]+=).*/\\1/p'";

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

static const char *color_at(int index)
{
    static const char *const names[] = {"auto", "always", "never"};

    return index < COLOR_NEVER + 1 ? names[index] : NULL;
}

static const char *severity_at(int index)
{
    return index < SEVERITY_COUNT ? severity_names[index] : NULL;
}

static const char *sort_at(int index)
{
    return index < TOP_SORT_COUNT ? top_sort_name(index) : NULL;
}

static const char *case_at(int index)
{
    return index < PLAN_CASE_COUNT ? plan_case_names[index] : NULL;
}

static const char *server_at(int index)
{
    return index < PLAN_SERVER_COUNT ? plan_server_names[index] : NULL;
}

static const char *work_at(int index)
{
    return trial_works[index].name;
}

static const char *load_at(int index)
{
    return index < LOAD_TOOL_COUNT ? load_tool_names[index] : NULL;
}

/* Options of which the tables know all values. */
static const struct value_list {
    const char *option;
    const char *(*at)(int index); /* NULL behind the last */
} value_lists[] = {
    {"color", color_at},
    {"fail-on", severity_at},
    {"sort", sort_at},
    {"case", case_at},
    {"server", server_at},
    {"work", work_at},
    {"load", load_at},
};

/* The values of an option's argument, with a blank between; NULL: free, or a file. A value with a
 * blank in it, as some columns have, is left out: the lists know no quotes. */
static const char *values_of(const struct option_row *row, char text[VALUES_BYTES])
{
    *text = '\0';
    for (size_t i = 0; i < sizeof(value_lists) / sizeof(value_lists[0]); i++) {
        const struct value_list *list = &value_lists[i];
        if (strcmp(list->option, row->name) != 0) {
            continue;
        }
        for (int at = 0; list->at(at) != NULL; at++) {
            if (strchr(list->at(at), ' ') == NULL) {
                const size_t used = strlen(text);
                (void)snprintf(text + used, VALUES_BYTES - used, "%s%s",
                    used > 0 ? " " : "", list->at(at));
            }
        }
    }
    return *text != '\0' ? text : NULL;
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

/* In the case of a command: options with an argument, so that it is not taken for a word. */
static void write_bash_valued(FILE *out, const struct command *command)
{
    fputs("valued='", out);
    for (const struct option_row *row = option_table; row->name != NULL; row++) {
        if (command_takes(command, row) && row->argument != NULL) {
            fprintf(out, "--%s ", row->name);
            if (option_letter(row) != '\0') {
                fprintf(out, "-%c ", option_letter(row));
            }
        }
    }
    fputs("' ", out);
}

static void write_bash_options(FILE *out, const struct command *command)
{
    fprintf(out, "    %s) ", *command->name != '\0' ? command->name : "''");
    if (command->run == cmd_run || command->run == cmd_lab) {
        write_bash_valued(out, command);
    }
    fputs("options='", out);
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
    char text[VALUES_BYTES];

    for (const struct option_row *row = option_table; row->name != NULL; row++) {
        const char *values = values_of(row, text);
        if (values == NULL && !is_path(row)) {
            continue;
        }
        fprintf(out, "    --%s", row->name);
        if (option_letter(row) != '\0') {
            fprintf(out, " | -%c", option_letter(row));
        }
        if (values != NULL) {
            fprintf(out, ") options= words='%s' files=no ;;\n", values);
        } else {
            fputs(") options= words= files=yes ;;\n", out);
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
          "    local command= options= words= valued= first= files=yes word i IFS=$' "
          "\\t\\n'\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }\n"
          "    done\n"
          "    case $command in\n",
        out);
    for (const struct command *command = command_table; command->run != NULL; command++) {
        write_bash_options(out, command);
    }
    fputs("    esac\n"
          "    for ((i++; i < COMP_CWORD; i++)); do\n"
          "        [[ ${COMP_WORDS[i]} == -* || \" $valued \" == *\" ${COMP_WORDS[i-1]} "
          "\"* ]] ||\n"
          "            { first=${COMP_WORDS[i]}; break; }\n"
          "    done\n"
          "    case $command:$first in\n",
        out);
    fprintf(out,
        "    run:) words=$(compgen -c -- \"$current\") ;;\n"
        "    run:*) options= ;;\n"
        "    lab:?*) words=$(\"${COMP_WORDS[0]}\" lab \"$first\" %s) ;;\n"
        "    esac\n    [[ $command:$first == run:?* ]] ||\n    case $previous in\n",
        settings_line);
    write_bash_values(out);
    fputs("    esac\n"
          "    [[ $current != -* || -z $options ]] || words=$options files=no\n"
          "    COMPREPLY=()\n"
          "    while read -r word; do\n"
          "        [[ -z $word || $word != \"$current\"* ]] || COMPREPLY+=(\"$word\")\n"
          "    done <<<\"${words// /$'\\n'}\"\n"
          "    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null\n"
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
    char text[VALUES_BYTES];
    const char *values = values_of(row, text);

    if (option_letter(row) != '\0' && row->argument != NULL) {
        fprintf(out, " \\\n            '(-%c --%s)'{-%c,--%s}'[", option_letter(row),
            row->name, option_letter(row), row->name);
    } else {
        fprintf(out, " \\\n            '--%s[", row->name);
    }
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
    fprintf(out,
        "_strata_settings_lab() {\n"
        "    local -a names\n"
        "    names=(${(f)\"$(strata lab $words[2] %s)\"})\n"
        "    compadd -S '' -a names\n"
        "}\n\n",
        settings_line);
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
    } else if (command->run == cmd_run) {
        fputs(" \\\n            '(-)1:command:_command_names -e'"
              " \\\n            '*::argument:_normal'",
            out);
    } else if (command->run == cmd_lab) {
        fputs(" \\\n            '1:lab:_strata_words_lab'"
              " \\\n            '*:setting:_strata_settings_lab'",
            out);
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
    char text[VALUES_BYTES];
    const char *values = values_of(row, text);

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

static void write_fish_words(FILE *out, const struct command *command)
{
    static const char first[] = "; and test (count (commandline -opc)) -lt 3";

    if (command->run == cmd_run) {
        fputs("complete -c strata -n '__fish_seen_subcommand_from run' -f -a "
              "'(__fish_complete_subcommand --fcs-skip=2)'\n",
            out);
    } else if (words_line(command) != NULL) {
        fprintf(out, "complete -c strata -n '__fish_seen_subcommand_from %s%s'%s -a \"(",
            command->name, command->run == cmd_lab ? first : "",
            takes_files(command) ? "" : " -f");
        write_fish_command(out, words_line(command));
        fputs(")\"\n", out);
    }
    if (command->run == cmd_lab) {
        fputs("complete -c strata -n '__fish_seen_subcommand_from lab; and test (count "
              "(commandline -opc)) -ge 3' -f -a \"(strata lab (commandline -opc)[3] ",
            out);
        write_fish_command(out, settings_line);
        fputs(")\"\n", out);
    }
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
        write_fish_words(out, command);
        for (const struct option_row *row = option_table; row->name != NULL; row++) {
            if (command_takes(command, row)) {
                write_fish_option(out, command, row);
            }
        }
    }
}
