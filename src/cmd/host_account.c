/*
 * host_account.c - one look at a host, from /proc to rows.
 *
 * The host is read once; each group is then judged by the same model and rules as a
 * single target, so a row never disagrees with `explain` on the same facts.
 */
#include "cmd/host_account.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/collect.h"
#include "model/host_group.h"

#define GROUPS_MAX_BYTES ((size_t)1 << 31)

int host_account_read(struct facts_root *root, unsigned what,
    struct host_account *account, struct error *error)
{
    *account = (struct host_account){.group_count = 0};
    int rc = facts_collect_host(root, what, &account->host, error);

    if (rc != 0) {
        return rc;
    }
    region_init(&account->region, GROUPS_MAX_BYTES);
    account->overview.host = &account->host;
    rc = host_groups_build(
        &account->host, &account->region, &account->groups, &account->group_count);
    if (rc != 0) {
        host_account_release(account);
    }
    return rc;
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

int host_account_judge(struct host_account *account)
{
    struct overview *overview = &account->overview;

    overview->rows = calloc(account->group_count + 1, sizeof(*overview->rows));
    if (overview->rows == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < account->group_count; i++) {
        int rc = judge_row(&account->groups[i], &overview->rows[i]);
        if (rc != 0) {
            return rc;
        }
        overview->count++;
    }
    overview_sort(overview);
    return 0;
}

void host_account_release(struct host_account *account)
{
    struct overview *overview = &account->overview;

    for (size_t i = 0; i < overview->count; i++) {
        finding_list_release(&overview->rows[i].list);
        snapshot_release(&overview->rows[i].snapshot);
    }
    free(overview->rows);
    region_release(&account->region);
    region_release(&account->host.region);
    *account = (struct host_account){.group_count = 0};
}
