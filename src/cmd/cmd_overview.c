/*
 * cmd_overview.c - plain `strata`: every process of the host, put together as services.
 *
 * One look, printed as text or JSON. The rows themselves are made in host_account.c, which the
 * commands that watch a host use as well.
 */
#include "cmd/cmd_overview.h"

#include <string.h>

#include "cmd/account.h"
#include "cmd/host_account.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/terminal.h"
#include "facts/collect.h"
#include "present/overview_json.h"
#include "present/overview_text.h"

static int read_account(
    const struct options *options, struct host_account *account, struct error *error)
{
    struct facts_root root;
    int rc = facts_root_open(&root, options->root, error);

    if (rc == 0) {
        rc = host_account_read(&root, COLLECT_OVERVIEW, account, error);
        facts_root_close(&root);
    }
    return rc;
}

static enum exit_code exit_code_of_rows(
    const struct options *options, const struct overview *overview)
{
    const struct finding_list none = {.count = 0};

    for (size_t i = 0; i < overview->count; i++) {
        if (account_has_finding(&overview->rows[i].list, options->fail_on)) {
            return EXIT_FINDING;
        }
    }
    return account_exit_code(overview->host, &none, options->fail_on);
}

static enum exit_code show(const struct options *options, const struct overview *overview)
{
    struct present_style style = terminal_style(options);
    struct buffer buffer;

    buffer_init(&buffer);
    if (options->json) {
        present_overview_json(overview, &buffer);
    } else {
        present_overview_text(overview, &style, &buffer);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? exit_code_of_rows(options, overview) : EXIT_FAILED;
}

int cmd_overview(const struct options *options)
{
    enum exit_code code = EXIT_FAILED;
    struct host_account account;
    struct error error;

    error_reset(&error);
    int rc = read_account(options, &account, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        return exit_code_of(rc);
    }
    rc = host_account_judge(&account);
    if (rc == 0) {
        code = show(options, &account.overview);
    } else {
        complain("cannot finish the overview: %s", strerror(-rc));
    }
    host_account_release(&account);
    return code;
}
