/*
 * cmd_rules.c - `strata rules [ID]`: the table of findings in words.
 *
 * An unknown id ends like an unknown target: the command line is right, the thing is not
 * there.
 */
#include "cmd/cmd_rules.h"

#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/terminal.h"
#include "findings/finding.h"
#include "present/rules.h"

static void one_rule(
    const struct options *options, const struct rule *rule, struct buffer *buffer)
{
    struct present_style style = terminal_style(options);

    if (options->json) {
        present_rule_json(rule, buffer);
    } else {
        present_rule_text(rule, &style, buffer);
    }
}

static void all_rules(const struct options *options, struct buffer *buffer)
{
    struct present_style style = terminal_style(options);

    if (options->json) {
        present_rules_json(rule_table, buffer);
    } else {
        present_rules_text(rule_table, &style, buffer);
    }
}

int cmd_rules(const struct options *options)
{
    struct buffer buffer;

    buffer_init(&buffer);
    if (options->argument_count == 0) {
        all_rules(options, &buffer);
    } else {
        const struct rule *rule = rule_find(options->arguments[0]);
        if (rule == NULL) {
            complain("no rule '%s'; 'strata rules' lists them", options->arguments[0]);
            return EXIT_NO_TARGET;
        }
        one_rule(options, rule, &buffer);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}
