/*
 * judged_server.c - sets up the server that most rules are asked about.
 *
 * What it has is added by the test, so that all of its memory is that test's topic.
 */
#include "judged_server.h"

#include <stdlib.h>

int judged_server_setup(void **state)
{
    struct judged_server *server = calloc(1, sizeof(*server));

    builder_init(&server->judged.facts);
    server->process = builder_process(&server->judged.facts, 812, "server");
    *state = server;
    return 0;
}

struct mapping *judged_server_add_data(struct judged_server *server, uint64_t rss)
{
    struct mapping *mapping = builder_mapping(&server->judged.facts, server->process,
        UINT64_C(0x600000000000), 8 * GIB, "rw-p", "[anon:x]");

    builder_set_rss(mapping, rss);
    return mapping;
}

void judged_server_set_rss(struct judged_server *server, uint64_t rss)
{
    if (server->process->mapping_count == 0) {
        judged_server_add_data(server, rss);
    } else {
        builder_set_rss(&server->process->mappings[0], rss);
    }
}

void judged_server_add_arenas(
    struct judged_server *server, size_t count, uint64_t retained)
{
    builder_arena(&server->judged.facts, server->process, true, MIB);
    for (size_t i = 0; i < count; i++) {
        builder_arena(&server->judged.facts, server->process, false, 64 * MIB)
            ->free_resident_bytes = retained;
    }
}

void judged_server_set_cgroup(struct judged_server *server, uint64_t limit,
    uint64_t usage, uint64_t file, uint64_t shmem)
{
    static char container[] = "0123";
    struct cgroup_facts *cgroup = server->cgroup;

    if (cgroup == NULL) {
        cgroup = server->cgroup = builder_cgroup(&server->judged.facts, 2);
        cgroup->container_id = container;
    }
    cgroup->values[CGROUP_FACT_LIMIT] = fact_ok(limit);
    cgroup->values[CGROUP_FACT_USAGE] = fact_ok(usage);
    cgroup->values[CGROUP_FACT_FILE] = fact_ok(file);
    cgroup->values[CGROUP_FACT_SHMEM] = fact_ok(shmem);
}
