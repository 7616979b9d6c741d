/*
 * cmd_overview.c - plain `strata`: every process of the host, put together as services.
 *
 * The host is read once; each group is then judged by the same model and rules as a
 * single target, so a row never disagrees with `explain` on the same facts.
 */
#include "cmd/cmd_overview.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/terminal.h"
#include "facts/collect.h"
#include "facts/root.h"
#include "model/host_group.h"
#include "present/overview_json.h"
#include "present/overview_text.h"

#define GROUPS_MAX_BYTES ((size_t)1 << 31)

static int read_host(
    const struct options *options, struct facts *facts, struct error *error)
{
    struct facts_root root;
    int rc = facts_root_open(&root, options->root, error);

    if (rc == 0) {
        rc = facts_collect_host(&root, COLLECT_OVERVIEW, facts, error);
        facts_root_close(&root);
    }
    return rc;
}

static void release_rows(struct overview *overview)
{
    for (size_t i = 0; i < overview->count; i++) {
        finding_list_release(&overview->rows[i].list);
        snapshot_release(&overview->rows[i].snapshot);
    }
    free(overview->rows);
}

static int judge_row(const struct facts *group, struct overview_row *row)
{
    int rc = snapshot_build(group, &row->snapshot);

    if (rc == 0) {
        rc = findings_run(&row->snapshot, &row->list);
        if (rc != 0) {
            snapshot_release(&row->snapshot);
        }
    }
    return rc;
}

/* On failure there is nothing to release. */
static int judge(const struct facts *groups, size_t count, struct overview *overview)
{
    overview->rows = calloc(count + 1, sizeof(*overview->rows));
    if (overview->rows == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int rc = judge_row(&groups[i], &overview->rows[i]);
        if (rc != 0) {
            release_rows(overview);
            return rc;
        }
        overview->count++;
    }
    overview_sort(overview);
    return 0;
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

static enum exit_code judge_and_show(
    const struct options *options, const struct facts *host)
{
    struct overview overview = {.host = host};
    enum exit_code code = EXIT_FAILED;
    struct region region;
    struct facts *groups;
    size_t count;

    region_init(&region, GROUPS_MAX_BYTES);
    int rc = host_groups_build(host, &region, &groups, &count);
    if (rc == 0) {
        rc = judge(groups, count, &overview);
    }
    if (rc == 0) {
        code = show(options, &overview);
        release_rows(&overview);
    } else {
        complain("cannot finish the overview: %s", strerror(-rc));
    }
    region_release(&region);
    return code;
}

int cmd_overview(const struct options *options)
{
    struct facts host;
    struct error error;

    error_reset(&error);
    int rc = read_host(options, &host, &error);
    if (rc != 0) {
        complain("%s", error.code != 0 ? error.text : strerror(-rc));
        return exit_code_of(rc);
    }
    enum exit_code code = judge_and_show(options, &host);
    region_release(&host.region);
    return code;
}
