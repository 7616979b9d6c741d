/*
 * fix_text.c - the exact lines to paste.
 *
 * Names of units, containers and processes come from the target and are not trusted: a text
 * which people paste into a root shell must not carry a name with blanks, quotes or
 * control characters. A name that is not plain is replaced by a placeholder.
 */
#include "findings/fix_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "findings/finding_writer.h"
#include "model/host_group.h"

enum { NAME_MAX_BYTES = 200 };

enum run_kind { RUN_PLAIN, RUN_UNIT, RUN_CONTAINER, RUN_POD };

static bool is_plain_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("._:@/-", c) != NULL;
}

/* A name that is one word for every shell and no option. */
static bool is_plain_name(const char *name)
{
    size_t length = 0;

    if (name == NULL || name[0] == '\0' || name[0] == '-') {
        return false;
    }
    for (const char *c = name; *c != '\0'; c++, length++) {
        if (!is_plain_char(*c) || length >= NAME_MAX_BYTES) {
            return false;
        }
    }
    return true;
}

/* The cgroup that tells how the target is run. */
static const struct cgroup_facts *cgroup_of(const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;
    int32_t index = facts->target_cgroup;

    if (index < 0 && snapshot->member_count > 0) {
        index = snapshot->members[0].facts->cgroup_index;
    }
    return index >= 0 && (size_t)index < facts->cgroup_count ? &facts->cgroups[index]
                                                             : NULL;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);

    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* A login session or a user's manager is not what runs the server. */
static bool is_service(const char *unit)
{
    return unit != NULL && ends_with(unit, ".service") &&
           strncmp(unit, "user@", strlen("user@")) != 0;
}

static enum run_kind run_kind_of(const struct cgroup_facts *cgroup)
{
    if (cgroup == NULL) {
        return RUN_PLAIN;
    }
    if (cgroup->pod_uid != NULL) {
        return RUN_POD;
    }
    if (cgroup->container_id != NULL || cgroup->runtime != NULL) {
        return RUN_CONTAINER;
    }
    return is_service(cgroup->unit) ? RUN_UNIT : RUN_PLAIN;
}

static const char *unit_name(const struct cgroup_facts *cgroup)
{
    return is_plain_name(cgroup->unit) ? cgroup->unit : "UNIT";
}

static const char *finish(struct finding_list *list, struct buffer *buffer)
{
    const char *text = NULL;

    if (buffer_error(buffer) != 0) {
        list->failed = true;
    } else {
        text = finding_printf(list, "%s", buffer_text(buffer));
    }
    buffer_release(buffer);
    return text;
}

static void append_variable(
    struct buffer *buffer, enum run_kind kind, const struct fix_variable *variable)
{
    switch (kind) {
    case RUN_UNIT:
        buffer_printf(buffer, "Environment=%s=%s\n", variable->name, variable->value);
        break;
    case RUN_CONTAINER:
        buffer_printf(buffer, "  %s: \"%s\"\n", variable->name, variable->value);
        break;
    case RUN_POD:
        buffer_printf(
            buffer, "  - {name: %s, value: \"%s\"}\n", variable->name, variable->value);
        break;
    case RUN_PLAIN:
        buffer_printf(buffer, "export %s=%s\n", variable->name, variable->value);
        break;
    }
}

/* How the change takes effect. */
static void append_restart(
    struct buffer *buffer, enum run_kind kind, const struct cgroup_facts *cgroup)
{
    if (kind == RUN_UNIT) {
        buffer_printf(buffer, "# systemctl restart %s", unit_name(cgroup));
    } else if (kind == RUN_CONTAINER) {
        buffer_append_text(buffer, "# docker compose up -d");
    } else if (kind == RUN_POD) {
        buffer_append_text(buffer, "# kubectl apply -f FILE: the pod is replaced");
    } else {
        buffer_append_text(buffer, "# and start it again");
    }
}

const char *fix_environment(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_variable *variables, size_t count)
{
    const struct cgroup_facts *cgroup = cgroup_of(snapshot);
    const enum run_kind kind = run_kind_of(cgroup);
    struct buffer buffer;

    buffer_init(&buffer);
    if (kind == RUN_UNIT) {
        buffer_printf(&buffer, "# systemctl edit %s\n[Service]\n", unit_name(cgroup));
    } else if (kind == RUN_CONTAINER) {
        buffer_append_text(&buffer, "# compose file, in the service\nenvironment:\n");
    } else if (kind == RUN_POD) {
        buffer_append_text(&buffer, "# pod template, in the container\nenv:\n");
    } else {
        buffer_append_text(&buffer, "# before the command, in its environment\n");
    }
    for (size_t i = 0; i < count; i++) {
        append_variable(&buffer, kind, &variables[i]);
    }
    append_restart(&buffer, kind, cgroup);
    return finish(list, &buffer);
}

/* A list of words, one a line, so that changes which come together can be merged. */
static void append_options(struct buffer *buffer, enum run_kind kind,
    const struct fix_variable *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (kind == RUN_CONTAINER || kind == RUN_POD) {
            buffer_printf(buffer, "\n  - \"--%s=%s\"", options[i].name, options[i].value);
        } else {
            buffer_printf(buffer, "\n%s = %s", options[i].name, options[i].value);
        }
    }
}

static void append_option_file(struct buffer *buffer, enum run_kind kind)
{
    if (kind == RUN_CONTAINER) {
        buffer_append_text(buffer, "# compose file, in the service; words of a command "
                                   "that is there stay in the list\n"
                                   "command:");
    } else if (kind == RUN_POD) {
        buffer_append_text(buffer, "# pod template, in the container; args that are "
                                   "there stay in the list\n"
                                   "args:");
    } else {
        buffer_append_text(buffer, "# my.cnf, or a file of its own in conf.d\n[mysqld]");
    }
}

const char *fix_server_options(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_variable *options, size_t count)
{
    const struct cgroup_facts *cgroup = cgroup_of(snapshot);
    const enum run_kind kind = run_kind_of(cgroup);
    struct buffer buffer;

    buffer_init(&buffer);
    append_option_file(&buffer, kind);
    append_options(&buffer, kind, options, count);
    buffer_append_char(&buffer, '\n');
    append_restart(&buffer, kind, cgroup);
    return finish(list, &buffer);
}

const char *fix_option_place(const struct snapshot *snapshot)
{
    switch (run_kind_of(cgroup_of(snapshot))) {
    case RUN_CONTAINER:
        return "the command of the compose file";
    case RUN_POD:
        return "the args of the pod template";
    case RUN_PLAIN:
    case RUN_UNIT:
        break;
    }
    return "my.cnf";
}

const char *fix_server_variable(struct finding_list *list,
    const struct snapshot *snapshot, const struct fix_variable *variable)
{
    const enum run_kind kind = run_kind_of(cgroup_of(snapshot));
    struct buffer buffer;

    buffer_init(&buffer);
    buffer_printf(&buffer,
        "-- now, in a client of the server: no restart\n"
        "SET GLOBAL %s = %s;\n\n",
        variable->name, variable->value);
    buffer_append_text(&buffer, "# and for the next start\n");
    append_option_file(&buffer, kind);
    append_options(&buffer, kind, variable, 1);
    return finish(list, &buffer);
}

const char *fix_property(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_setting *setting)
{
    const struct cgroup_facts *cgroup = cgroup_of(snapshot);
    const enum run_kind kind = run_kind_of(cgroup);
    struct buffer buffer;

    if (kind == RUN_PLAIN) {
        return finding_printf(list, "# in the unit that starts it\n[Service]\n%s=%s",
            setting->property, setting->value);
    }
    buffer_init(&buffer);
    if (kind == RUN_UNIT) {
        buffer_printf(&buffer, "# systemctl edit %s\n[Service]\n%s=%s\n",
            unit_name(cgroup), setting->property, setting->value);
    } else if (kind == RUN_CONTAINER) {
        buffer_printf(&buffer, "# compose file, in the service\n%s\n", setting->compose);
    } else {
        buffer_printf(&buffer, "# pod template, in the container\n%s\n", setting->pod);
    }
    append_restart(&buffer, kind, cgroup);
    return finish(list, &buffer);
}

const char *fix_memory_bound(struct finding_list *list, const struct snapshot *snapshot,
    const char *property, uint64_t mib)
{
    const struct fix_setting setting = {
        .property = property,
        .value = finding_printf(list, "%" PRIu64 "M", mib),
        .compose = finding_printf(list, "mem_limit: %" PRIu64 "m", mib),
        /* There is no field for memory.high: the kubelet derives it from the limit. */
        .pod =
            finding_printf(list, "resources:\n  limits:\n    memory: %" PRIu64 "Mi", mib),
    };

    if (setting.value == NULL || setting.compose == NULL || setting.pod == NULL) {
        return NULL;
    }
    return fix_property(list, snapshot, &setting);
}

const char *fix_limit_above(
    struct finding_list *list, const struct snapshot *snapshot, uint64_t mib)
{
    if (run_kind_of(cgroup_of(snapshot)) == RUN_POD) {
        return finding_printf(list,
            "# the limit is that of a cgroup above (limit_is_of): of the pod, the sum of "
            "resources.limits.memory of its containers, or of the node: there, %" PRIu64
            "Mi",
            mib);
    }
    return finding_printf(list,
        "# the limit is that of a cgroup above (limit_is_of): there, MemoryMax=%" PRIu64
        "M",
        mib);
}

/* True where explain finds it only as pool:NAME: a pool's own name, or a pid with its descendants. */
static bool is_name_of_pool(const struct snapshot *snapshot, const char *name)
{
    uint64_t pid;

    if (snapshot->facts->target_kind != TARGET_POOL) {
        return false;
    }
    for (size_t i = 0; i < snapshot->member_count; i++) {
        const char *pool = process_pool_name(snapshot->members[i].facts);
        if (pool != NULL && strcmp(pool, name) == 0) {
            return true;
        }
    }
    return number_parse(name, &pid) == 0;
}

const char *fix_target(struct finding_list *list, const struct snapshot *snapshot)
{
    const char *name = snapshot->facts->target_name;

    if (is_plain_name(name)) {
        return finding_printf(
            list, "%s%s", is_name_of_pool(snapshot, name) ? "pool:" : "", name);
    }
    if (snapshot->member_count > 0) {
        return finding_printf(list, "%" PRId32, snapshot->members[0].facts->pid);
    }
    return "TARGET";
}
