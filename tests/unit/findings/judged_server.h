/* judged_server.h - one server process, and the bill of its cgroup, for tests of rules. */
#ifndef STRATA_TESTS_JUDGED_SERVER_H
#define STRATA_TESTS_JUDGED_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "facts_builder.h"
#include "judged.h"

struct judged_server {
    struct judged judged; /* first, for judged_teardown() */
    struct process_facts *process;
    struct cgroup_facts *cgroup; /* NULL until it has a bill */
};

/* cmocka's setup: a process with no memory yet. */
int judged_server_setup(void **state);

/* A mapping that is a bss, with so much resident: explained, and nobody's topic. */
struct mapping *judged_server_add_data(struct judged_server *server, uint64_t rss);

/* The first mapping, made if need be, is resident with so much. */
void judged_server_set_rss(struct judged_server *server, uint64_t rss);

/* Arenas beside a main one that is empty; each keeps `retained` bytes. */
void judged_server_add_arenas(
    struct judged_server *server, size_t count, uint64_t retained);

/* The bill of a container. */
void judged_server_set_cgroup(struct judged_server *server, uint64_t limit,
    uint64_t usage, uint64_t file, uint64_t shmem);

#endif
