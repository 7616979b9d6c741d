/*
 * cmd_plan.c - `strata plan`: a pool, a capture or a result of a bench in, a plan out.
 *
 * All sources end in one struct plan_input; what follows is the same for them.
 */
#include "cmd/cmd_plan.h"

#include <errno.h>
#include <string.h>

#include "base/duration.h"
#include "base/number.h"
#include "cmd/account.h"
#include "cmd/bench_plan.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/plan_fleet.h"
#include "cmd/plan_json.h"
#include "cmd/plan_recording.h"
#include "cmd/plan_savings.h"
#include "cmd/plan_text.h"
#include "cmd/recording_source.h"
#include "cmd/terminal.h"
#include "facts/fpm_config.h"
#include "plan/pool_plan.h"
#include "trial/result_read.h"

enum {
    RESERVE_MOST_PERCENT = 90,
    REGION_BYTES = 64 << 20,
    FLEET_REGION_BYTES = 512 << 20
};

struct plan_request {
    struct plan_wishes wishes;
    enum plan_case_id planned;
    int server; /* enum plan_server, -1: as found */
};

static int take_size(const struct options *options, enum option_text which,
    const char *name, uint64_t *bytes)
{
    const char *text = options->texts[which];

    if (text != NULL &&
        ((fpm_config_size(text, bytes) != 0 && size_parse(text, bytes) != 0) ||
            *bytes == 0 || *bytes > INT64_MAX)) {
        complain("%s takes a size such as 512M or 2G, not '%s'", name, text);
        return EXIT_USAGE;
    }
    return 0;
}

/* The index of text among names, or -1. */
static int index_of(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static int take_names(const struct options *options, struct plan_request *request)
{
    const char *name = options->texts[TEXT_CASE];

    if (name != NULL) {
        int index = index_of(name, plan_case_names, PLAN_CASE_COUNT);
        if (index < 0) {
            complain("--case takes expected, p95 or worst, not '%s'", name);
            return EXIT_USAGE;
        }
        request->planned = (enum plan_case_id)index;
    }
    name = options->texts[TEXT_SERVER];
    if (name != NULL) {
        request->server = index_of(name, plan_server_names, PLAN_SERVER_COUNT);
        if (request->server < 0) {
            complain("--server does not know '%s'; see 'strata help plan'", name);
            return EXIT_USAGE;
        }
    }
    return 0;
}

static int take_request(const struct options *options, struct plan_request *request)
{
    const char *reserve = options->texts[TEXT_RESERVE];
    uint64_t percent = PLAN_RESERVE_PERCENT;

    *request = (struct plan_request){.planned = PLAN_P95, .server = -1};
    if (reserve != NULL &&
        (number_parse(reserve, &percent) != 0 || percent > RESERVE_MOST_PERCENT)) {
        complain("--reserve takes a percentage from 0 to 90, not '%s'", reserve);
        return EXIT_USAGE;
    }
    request->wishes.reserve_percent = (unsigned)percent;
    request->wishes.others_given = options->texts[TEXT_OTHERS] != NULL;
    int rc = take_size(options, TEXT_LIMIT, "--limit", &request->wishes.limit_bytes);
    if (rc == 0) {
        rc = take_size(options, TEXT_MEMORY_LIMIT, "--memory-limit",
            &request->wishes.memory_limit_bytes);
    }
    if (rc == 0) {
        rc = take_size(options, TEXT_OTHERS, "--others", &request->wishes.others_bytes);
    }
    return rc == 0 ? take_names(options, request) : rc;
}

static enum exit_code show(const struct options *options,
    const struct plan_request *request, struct plan_input *input)
{
    struct present_style style = terminal_style(options);
    struct buffer buffer;
    struct plan plan;

    if (request->server >= 0) {
        input->server = (enum plan_server)request->server;
    }
    plan_make(input, request->planned, &plan);
    buffer_init(&buffer);
    if (options->json) {
        plan_json(input, &plan, request->planned, &buffer);
    } else {
        plan_text(input, &plan, request->planned, &style, &buffer);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

/* A database has no workers to count, whatever one process of it takes. */
static bool is_single(const struct plan_request *request, const struct account *account)
{
    const struct process_facts *single = pool_plan_single(&account->snapshot);

    if (single == NULL || request->server >= 0) {
        return false;
    }
    complain("cannot plan '%s': it is the single process %d and no pool of workers; "
             "strata explain tells where its memory is, --server says what it is a "
             "worker of",
        account->facts.target_name, single->pid);
    return true;
}

static enum exit_code plan_account(const struct options *options,
    const struct plan_request *request, const struct account *account)
{
    struct region region;
    struct plan_input input;
    struct error error;
    enum exit_code code;

    if (is_single(request, account)) {
        return EXIT_NO_TARGET;
    }
    error_reset(&error);
    region_init(&region, REGION_BYTES);
    int rc = pool_plan_input(&region, &account->snapshot, &request->wishes, &input);
    if (rc == 0 && options->argument_count > 0 &&
        recording_is_meant(options->arguments[0])) {
        rc = plan_recording_samples(&region, options->arguments[0],
            options->argument_count > 1 ? options->arguments[1] : NULL, &account->facts,
            &input, &error);
    }
    if (rc == 0) {
        plan_savings(&account->list, &input);
        code = show(options, request, &input);
    } else if (rc == -ENODATA) {
        complain(
            "cannot plan '%s': the private memory of no worker could be read; root or "
            "CAP_SYS_PTRACE gives it",
            account->facts.target_name);
        code = EXIT_DENIED;
    } else {
        complain(
            "cannot plan '%s': %s", account->facts.target_name, error_text(&error, rc));
        code = EXIT_FAILED;
    }
    region_release(&region);
    return code;
}

/* The result of a bench: *found is false when the file is something else. */
static enum exit_code plan_result(const struct options *options,
    const struct plan_request *request, const char *path, bool *found)
{
    struct region region;
    struct result_plan kept;
    struct plan_input input;
    struct error error;
    const char *name = NULL;
    enum exit_code code = EXIT_NO_TARGET;

    error_reset(&error);
    region_init(&region, REGION_BYTES);
    const char *recipe =
        options->argument_count > 1 ? options->arguments[1] : options->texts[TEXT_POOL];
    const int rc = result_read_plan(&region, path, recipe, &kept, &name, &error);
    const bool absent = rc == -ENOENT && error.code == 0 && options->argument_count > 1 &&
                        !recording_is_meant(path);
    *found = rc == 0 || error.code != 0 || absent;
    if (absent) {
        complain("cannot read '%s': %s", path, strerror(-rc));
    } else if (rc != 0 && error.code != 0) {
        complain("%s", error.text);
    } else if (rc == 0 && request->wishes.limit_bytes == 0) {
        complain(
            "--limit must say how much memory the server will have: a bench does not");
        code = EXIT_USAGE;
    } else if (rc == 0) {
        bench_plan_input(&kept, name, &request->wishes, &input);
        code = show(options, request, &input);
    }
    region_release(&region);
    return code;
}

static enum exit_code plan_prometheus(
    const struct options *options, const struct plan_request *request)
{
    struct region region;
    struct plan_input input;
    struct fleet fleet;
    struct error error;
    enum exit_code code = EXIT_NO_TARGET;

    if (request->wishes.limit_bytes == 0) {
        complain("--prometheus needs --limit: how much memory a host will have");
        return EXIT_USAGE;
    }
    error_reset(&error);
    region_init(&region, FLEET_REGION_BYTES);
    int rc = plan_fleet_read(&region, options, &fleet, &error);
    if (rc == 0) {
        rc = fleet_plan_input(&region, &fleet, &request->wishes, &input);
    }
    if (rc == 0) {
        code = show(options, request, &input);
    } else {
        complain("%s", error.code != 0  ? error.text
                       : rc == -ENODATA ? "Prometheus has no moment with processes and "
                                          "their private memory"
                                        : strerror(-rc));
        code = rc == -EINVAL ? EXIT_USAGE : code;
    }
    region_release(&region);
    return code;
}

int cmd_plan(const struct options *options)
{
    bool found = false;

    struct plan_request request;
    struct account account;

    int rc = take_request(options, &request);
    if (rc != 0) {
        return rc;
    }
    if (options->texts[TEXT_PROMETHEUS] != NULL) {
        if (options->argument_count > 0) {
            complain("a target and --prometheus exclude each other");
            return EXIT_USAGE;
        }
        return plan_prometheus(options, &request);
    }
    if (options->argument_count == 0) {
        complain("an argument is missing: strata plan TARGET, or --prometheus URL");
        return EXIT_USAGE;
    }
    enum exit_code code = plan_result(options, &request, options->arguments[0], &found);
    if (found) {
        return code;
    }
    code = account_read(options, options->arguments[0], &account.facts);
    if (code != EXIT_FINE) {
        return code;
    }
    code = account_judge(&account);
    if (code == EXIT_FINE) {
        code = plan_account(options, &request, &account);
        account_release(&account);
    }
    return code;
}
