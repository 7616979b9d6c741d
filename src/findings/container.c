/*
 * container.c - why the figure of docker stats is not the memory of the processes.
 *
 * A cgroup is billed for page cache, kernel objects and tmpfs that its processes caused, and
 * the tools subtract different pieces of that (model/container.h). The first to touch a
 * page pays for it, even when others use it later.
 */
#include "findings/container.h"

#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/mysql.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum {
    CACHE_MIN_PERCENT = 10,
    SLAB_MIN_PERCENT = 10,
    SLAB_WARN_PERCENT = 40,
    SHMEM_MIN_PERCENT = 10,
    SHMEM_WARN_PERCENT = 40, /* of the limit */
};

static const uint64_t cache_min_bytes = 16 * FINDING_MIB;
static const uint64_t slab_min_bytes = 16 * FINDING_MIB;
static const uint64_t shmem_min_bytes = 16 * FINDING_MIB;

/*
 * The bill is that of the target alone: a container, a unit, or a cgroup that was asked
 * for. A process in a login session shares its cgroup with whatever runs there.
 */
static bool bills_the_target(const struct snapshot *snapshot)
{
    const struct cgroup_facts *cgroup = snapshot->container.facts;
    const uint32_t kind = snapshot->facts->target_kind;
    const char session[] = "session-";

    if (cgroup != NULL && cgroup->unit != NULL &&
        strncmp(cgroup->unit, session, sizeof(session) - 1) == 0) {
        return kind == TARGET_CGROUP || kind == TARGET_UNIT;
    }
    return cgroup != NULL && (cgroup->container_id != NULL || cgroup->runtime != NULL ||
                                 cgroup->pod_uid != NULL || cgroup->unit != NULL ||
                                 kind == TARGET_CGROUP || kind == TARGET_UNIT);
}

int rule_page_cache_in_container(
    const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_view *server;
    const struct container_view *container = &snapshot->container;
    const struct fact *firm = &container->non_reclaimable;
    const struct fact *slab;
    struct finding finding = {.severity = SEVERITY_INFO};
    uint64_t cache;

    if (!bills_the_target(snapshot) || !fact_is_known(&container->podman) ||
        !fact_is_known(&container->docker) || !fact_is_known(firm)) {
        return 0;
    }
    cache = number_subtract(container->podman.value, firm->value);
    slab = &container->facts->values[CGROUP_FACT_SLAB_RECLAIMABLE];
    cache = number_subtract(cache, fact_is_known(slab) ? slab->value : 0);
    if (!finding_reaches(
            cache, cache_min_bytes, container->podman.value, CACHE_MIN_PERCENT)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "the cgroup is billed %s and docker stats shows %s; %s is page cache that can be "
        "reclaimed, and only %s of the bill cannot",
        quantity_bytes(container->podman.value, false).text,
        quantity_bytes(container->docker.value, false).text,
        quantity_bytes(cache, false).text, quantity_bytes(firm->value, false).text);
    finding.reasoning =
        "docker and kubelet subtract the inactive part of the page cache, podman "
        "subtracts nothing, docker up to 19.03 subtracted all of it and tmpfs with it; "
        "the active part stays in their figures although the kernel can drop it";
    finding_add_fact(&finding, "docker", &container->docker);
    finding_add_fact(&finding, "kubelet", &container->kubelet);
    finding_add_fact(&finding, "podman", &container->podman);
    finding_add_fact(&finding, "docker_19", &container->docker_19);
    finding_add_bytes(&finding, "non_reclaimable", firm->value);
    finding_add_bytes(&finding, "page_cache", cache);
    finding_add_fact(
        &finding, "active_file", &container->facts->values[CGROUP_FACT_ACTIVE_FILE]);
    finding_add_fact(
        &finding, "inactive_file", &container->facts->values[CGROUP_FACT_INACTIVE_FILE]);
    finding_add_bytes(&finding, "resident", target_bytes(snapshot, LAYER_RESIDENT));
    finding.fix =
        "# nothing to change: alert on non_reclaimable, not on what docker stats or "
        "kubectl top shows";
    server = mysql_server_of(snapshot);
    if (server != NULL && server->facts->mysql->flush_method != NULL) {
        /* With fsync InnoDB's files go through the page cache, with O_DIRECT they do not. */
        finding_add_text(
            &finding, "innodb_flush_method", server->facts->mysql->flush_method);
    }
    finding.verify =
        finding_printf(list, "strata explain %s: the four figures stand side by side",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}

int rule_slab_in_container(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct cgroup_facts *cgroup = snapshot->container.facts;
    const struct fact *slab;
    const struct fact *usage;
    struct finding finding = {.severity = SEVERITY_INFO};

    if (!bills_the_target(snapshot)) {
        return 0;
    }
    slab = &cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE];
    usage = &cgroup->values[CGROUP_FACT_USAGE];
    if (!fact_is_known(slab) || !fact_is_known(usage) ||
        !finding_reaches(slab->value, slab_min_bytes, usage->value, SLAB_MIN_PERCENT)) {
        return 0;
    }
    if (at_least_percent(slab->value, usage->value, SLAB_WARN_PERCENT)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.summary = finding_printf(list,
        "%s of the bill (%s) is kernel objects such as names of files (dentries): no "
        "process holds it, and it can be reclaimed",
        quantity_bytes(slab->value, false).text,
        quantity_percent(slab->value, usage->value).text);
    finding.reasoning =
        "looking up many files, also ones that do not exist, makes dentries and inodes; "
        "the kernel keeps them until memory is short, and docker and kubelet count them";
    finding_add_bytes(&finding, "slab_reclaimable", slab->value);
    finding_add_fact(
        &finding, "slab_unreclaimable", &cgroup->values[CGROUP_FACT_SLAB_UNRECLAIMABLE]);
    finding_add_bytes(&finding, "usage", usage->value);
    finding_predict(&finding, 0, slab->value, CONFIDENCE_LIKELY);
    finding.fix = "# on the host, once: drops dentries and inodes of all cgroups\n"
                  "echo 2 > /proc/sys/vm/drop_caches";
    finding.verify = finding_printf(list,
        "strata explain %s: kernel objects that can be dropped are less of charged",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

static const char *shmem_fix(struct finding_list *list, const struct snapshot *snapshot)
{
    static const struct fix_setting bound = {
        .property = "TemporaryFileSystem",
        .value = "/dev/shm:mode=1777,size=64m",
        .compose = "tmpfs: [\"/tmp:size=64m\"]\nshm_size: 64m",
        .pod = "volumeMounts:\n"
               "  - {name: shm, mountPath: /dev/shm}\n"
               "# and beside the containers\n"
               "volumes:\n"
               "  - {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Mi}}",
    };
    const char *lines = fix_property(list, snapshot, &bound);

    return lines == NULL ? NULL
                         : finding_printf(list,
                               "# what is in there\n"
                               "df -h -t tmpfs; ipcs -m; ls -lS /dev/shm | head\n"
                               "# and a bound for it\n"
                               "%s",
                               lines);
}

int rule_shmem_charged(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct cgroup_facts *cgroup = snapshot->container.facts;
    const struct fact *shmem;
    const struct fact *usage;
    const struct fact *limit;
    struct finding finding = {.severity = SEVERITY_INFO};

    if (!bills_the_target(snapshot)) {
        return 0;
    }
    shmem = &cgroup->values[CGROUP_FACT_SHMEM];
    usage = &cgroup->values[CGROUP_FACT_USAGE];
    limit = &snapshot->container.limit;
    if (!fact_is_known(shmem) || !fact_is_known(usage) ||
        !finding_reaches(
            shmem->value, shmem_min_bytes, usage->value, SHMEM_MIN_PERCENT)) {
        return 0;
    }
    if (fact_is_known(limit) &&
        at_least_percent(shmem->value, limit->value, SHMEM_WARN_PERCENT)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.summary = finding_printf(list,
        "%s of the bill is shared memory and tmpfs: it looks like page cache, and cannot "
        "be reclaimed without swap",
        quantity_bytes(shmem->value, false).text);
    finding.reasoning =
        "files in /dev/shm, /run and other tmpfs, shared anonymous memory and memfd are "
        "charged to whoever wrote them first, and stay until they are removed; docker up "
        "to 19.03 hid them";
    finding_add_bytes(&finding, "shmem", shmem->value);
    finding_add_bytes(&finding, "usage", usage->value);
    finding_add_fact(&finding, "limit", limit);
    finding_add_fact(&finding, "cache", &cgroup->values[CGROUP_FACT_FILE]);
    finding.fix = shmem_fix(list, snapshot);
    finding.verify =
        finding_printf(list, "strata explain %s: charged-shmem of charged is smaller",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}

int rule_measured_inside_vm(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct facts *facts = snapshot->facts;
    const struct cgroup_facts *cgroup = snapshot->container.facts;
    struct finding finding = {.severity = SEVERITY_INFO};

    /* On a rented server the machine is a VM and everybody knows; a container on a
     * desktop is where the figures of host and guest get confused. */
    if (facts->host.hypervisor == NULL || cgroup == NULL ||
        (cgroup->container_id == NULL && cgroup->runtime == NULL)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "measured inside a virtual machine (%s): the machine around it shows one process "
        "for all containers, and what is freed here may stay taken there",
        facts->host.hypervisor);
    finding_add_text(&finding, "hypervisor", facts->host.hypervisor);
    finding_add_fact(
        &finding, "memory_of_the_vm", &facts->host.values[HOST_FACT_MEM_TOTAL]);
    finding.fix = "# compare figures of containers with each other, not with the host's "
                  "process list";
    finding.verify = "free -m inside the virtual machine";
    return finding_push(list, &finding);
}
