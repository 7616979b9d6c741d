/*
 * sample.c - four targets with round numbers.
 *
 * The database follows a measured MariaDB 10.11 after connection churn: most of what it
 * holds is free, half of that in tops that malloc_trim never gives back. The model is not
 * used: a renderer shows what it is handed.
 */
#include "sample.h"

#include <string.h>

#define KIB(n) ((uint64_t)(n)*1024)
#define MIB(n) KIB((n)*1024)

enum { ARENA_COUNT = 35, POOL_COUNT = 12 };

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct fact ok(uint64_t value)
{
    return (struct fact){.value = value, .state = FACT_OK};
}

static struct layer known(enum layer_id id, uint64_t bytes, const char *source)
{
    return (struct layer){
        .id = id, .state = FACT_OK, .bytes = (int64_t)bytes, .source = source};
}

static struct layer missing(enum layer_id id, enum fact_state state, const char *why)
{
    return (struct layer){.id = id, .state = state, .source = why};
}

static void no_layers(struct layer *layers)
{
    for (int i = 0; i < LAYER_COUNT; i++) {
        layers[i] = missing((enum layer_id)i, FACT_ABSENT, "not part of this sample");
    }
}

static void finish(struct sample *sample)
{
    sample->facts.schema = FACTS_SCHEMA;
    sample->facts.taken_at_unix_ns = INT64_C(1790000000123456789);
    sample->facts.cost_wall_us = 12345;
    sample->facts.cost_bytes_read = MIB(3) + 77;
    sample->snapshot.facts = &sample->facts;
}

/* ---- the database */

static struct glibc_arena database_arenas[ARENA_COUNT];

static void fill_arenas(void)
{
    for (size_t i = 0; i < ARENA_COUNT; i++) {
        uint64_t held = i == 0 ? MIB(97) : MIB(24) - KIB(i * 100);
        database_arenas[i] = (struct glibc_arena){
            .address = i == 0 ? 0x7f12a0c1ac60 : 0x7f1200000030 + i * (64 << 20),
            .main = i == 0,
            .state = FACT_OK,
            .held_bytes = held,
            .in_use_bytes = held / 3,
            .in_use_chunks = 1000,
            .free_bytes = held / 3,
            .free_chunks = 100,
            .top_bytes = held - 2 * (held / 3) - KIB(2),
            .overhead_bytes = KIB(2),
            .heap_count = 1,
            .attached_threads = i % 3,
            .cached_bytes = KIB(4),
            .resident_state = FACT_OK,
            .resident_bytes = held - KIB(512),
            .free_resident_bytes = held / 4,
            .trim_gain_bytes = held / 5 + (i == 0 ? held / 5 : 0),
            .top_resident_bytes = held / 5,
            .top_trimmable_bytes = i == 0 ? held / 5 : 0,
            .free_shared_bytes = {.value = held / 16, .state = FACT_OK},
        };
    }
    database_arenas[7].state = FACT_MALFORMED;
    database_arenas[7].why = (char *)"a size in the heap is not a multiple of 16";
}

static const struct rule retained_rule = {.id = "glibc-retained", .title = "free memory"};
static const struct rule headroom_rule = {.id = "cgroup-headroom", .title = "limit"};
static const struct rule stacks_rule = {.id = "thread-stacks", .title = "stacks"};

static struct finding database_findings[] = {
    {
        .rule = &headroom_rule,
        .severity = SEVERITY_CRITICAL,
        .summary = "The container is 52.0 MiB below its limit of 1.0 GiB and was at the "
                   "limit 14 times.",
        .evidence = {{"headroom", EVIDENCE_BYTES, 54525952, NULL},
            {"limit", EVIDENCE_BYTES, 1073741824, NULL},
            {"events_max", EVIDENCE_COUNT_OF, 14, NULL}},
        .evidence_count = 3,
        .fix = "docker update --memory 1536m 3f2a1bcd9e01",
        .verify = "strata explain mariadbd shows more than 256 MiB left",
    },
    {
        .rule = &retained_rule,
        .severity = SEVERITY_WARN,
        .pid = 812,
        .summary = "35 arenas keep 343.9 MiB of freed memory resident, 49 % of the "
                   "resident set.",
        .reasoning = "malloc_trim(0) gives back whole free pages of every arena, but the "
                     "unused ends of the 34 other arenas stay; with two arenas the "
                     "threads share them.",
        .evidence = {{"free_resident", EVIDENCE_BYTES, 360607744, NULL},
            {"arenas", EVIDENCE_COUNT_OF, 35, NULL},
            {"share", EVIDENCE_PERCENT, 49, NULL},
            {"setting", EVIDENCE_TEXT, 0, "MALLOC_ARENA_MAX is not set"}},
        .evidence_count = 4,
        .predicts = true,
        .predicted_low_bytes = MIB(330),
        .predicted_high_bytes = MIB(370),
        .confidence = CONFIDENCE_LIKELY,
        .fix = "# systemctl edit mariadb.service\n[Service]\n"
               "Environment=MALLOC_ARENA_MAX=2\n",
        .verify = "after a restart and an hour of load, strata explain mariadbd shows at "
                  "most 2 arenas and less than 60 MiB free",
    },
    {
        .rule = &stacks_rule,
        .severity = SEVERITY_INFO,
        .summary = "12 stacks of ended threads are kept for the next thread.",
        .predicts = true,
        .predicted_low_bytes = KIB(600),
        .predicted_high_bytes = KIB(600),
        .confidence = CONFIDENCE_MEASURED,
        .fix = "not shown for info",
        .verify = "not shown for info",
    },
};

static struct part resident_parts[] = {
    {"glibc-in-use", "malloc: blocks in use", MIB(300), false},
    {"glibc-free", "malloc: free, malloc_trim would give it back", MIB(244), false},
    {"glibc-arena-tops", "malloc: unused ends of other arenas, never given back", MIB(99),
        false},
    {"program-code", "program and libraries: code", MIB(26), false},
    {"thread-stacks", "stacks of threads", MIB(16), true},
    {"anon-mapped", "mapped by the program itself, not by malloc", MIB(10), true},
    {"program-data", "program and libraries: variables, own copies", MIB(3), false},
    {"main-stack", "main stack", KIB(132), false},
    {"unexplained", "not explained", KIB(100), false},
    {"kernel-pages", "pages of the kernel: vdso, vvar", KIB(8), false},
};

static struct part charged_parts[] = {
    {"charged-anon", "anonymous memory", MIB(680), false},
    {"charged-file", "page cache", MIB(250), false},
    {"charged-slab-reclaimable", "kernel objects that can be dropped", MIB(30), false},
    {"charged-page-tables", "page tables", MIB(8), false},
    {"charged-kernel-stack", "kernel stacks of threads", MIB(3), false},
    {"charged-sock", "network buffers", KIB(700), false},
    {"charged-percpu", "per-CPU kernel memory", KIB(324), false},
};

static struct process_facts database_process;
static struct process_view database_member;
static struct cgroup_facts database_cgroup;
static struct environment_facts database_environment[] = {
    {(char *)"GLIBC_TUNABLES", (char *)"glibc.malloc.tcache_count=4"}};
static struct allocator_facts database_allocators[] = {
    {.kind = ALLOCATOR_GLIBC, .active = true, .version = (char *)"2.36"},
    {.kind = ALLOCATOR_JEMALLOC, .active = false, .version = (char *)"5.3.0"},
};

static void fill_database_process(void)
{
    struct process_facts *process = &database_process;

    *process = (struct process_facts){
        .pid = 812,
        .parent_pid = 1,
        .start_time_ticks = 123456,
        .start_unix_seconds = 1790000000 - 4 * 86400 - 3 * 3600,
        .name = (char *)"mariadbd",
        .executable = (char *)"/usr/sbin/mariadbd",
        .executable_deleted = true,
        .environment = database_environment,
        .environment_count = COUNT_OF(database_environment),
        .environment_state = FACT_OK,
        .allocators = database_allocators,
        .allocator_count = COUNT_OF(database_allocators),
    };
    process->values[PROCESS_FACT_THREADS] = ok(41);
    process->values[PROCESS_FACT_VM_RSS] = ok(MIB(698) + KIB(140));
    process->glibc = (struct glibc_facts){
        .state = FACT_OK,
        .version = (char *)"2.36",
        .arenas = database_arenas,
        .arena_count = ARENA_COUNT,
        .tcaches = ok(41),
        .tcache_bytes = ok(KIB(1234)),
    };
    process->glibc.parameters = (struct glibc_parameters){
        .state = FACT_OK, .mmapped_blocks = 12, .mmapped_bytes = MIB(150)};
}

static void fill_database_container(struct sample *sample)
{
    struct cgroup_facts *cgroup = &database_cgroup;

    *cgroup = (struct cgroup_facts){
        .version = 2,
        .path = (char *)"/system.slice/docker-3f2a1bcd9e017766554433221100aabb.scope",
        .runtime = (char *)"docker",
        .container_id = (char *)"3f2a1bcd9e017766554433221100aabb",
        .state = FACT_OK,
    };
    cgroup->values[CGROUP_FACT_USAGE] = ok(MIB(972));
    cgroup->values[CGROUP_FACT_LIMIT] = ok(MIB(1024));
    sample->facts.cgroups = cgroup;
    sample->facts.cgroup_count = 1;
    sample->snapshot.container = (struct container_view){
        .facts = cgroup,
        .docker = ok(MIB(772)),
        .docker_19 = ok(MIB(722)),
        .kubelet = ok(MIB(772)),
        .podman = ok(MIB(972)),
        .non_reclaimable = ok(MIB(691)),
        .limit = ok(MIB(1024)),
        .headroom = ok(MIB(52)),
    };
}

void sample_database(struct sample *sample)
{
    struct layer *layers = sample->snapshot.layers;

    *sample = (struct sample){0};
    fill_arenas();
    fill_database_process();
    fill_database_container(sample);
    no_layers(layers);
    layers[LAYER_TRACKED] = missing(LAYER_TRACKED, FACT_DENIED,
        "no login to the server: give --mysql-defaults a file with user and password");
    layers[LAYER_IN_USE] = known(LAYER_IN_USE, MIB(451), "glibc: arenas and mmapped");
    layers[LAYER_HELD] = known(LAYER_HELD, MIB(1003), "glibc: arenas and mmapped");
    layers[LAYER_HELD].state = FACT_STALE;
    layers[LAYER_HELD].plus_minus_bytes = KIB(384);
    layers[LAYER_FREE_RESIDENT] = known(LAYER_FREE_RESIDENT, MIB(343), "pagemap");
    layers[LAYER_NEVER_TOUCHED] = known(LAYER_NEVER_TOUCHED, MIB(360), "pagemap");
    layers[LAYER_RESIDENT] = known(LAYER_RESIDENT, MIB(698) + KIB(140), "smaps");
    layers[LAYER_RESIDENT].parts = resident_parts;
    layers[LAYER_RESIDENT].part_count = COUNT_OF(resident_parts);
    layers[LAYER_PSS] = known(LAYER_PSS, MIB(690), "smaps_rollup");
    layers[LAYER_CHARGED] = known(LAYER_CHARGED, MIB(972), "memory.current");
    layers[LAYER_CHARGED].parts = charged_parts;
    layers[LAYER_CHARGED].part_count = COUNT_OF(charged_parts);
    layers[LAYER_RESIDUAL] = known(LAYER_RESIDUAL, 0, "resident - parts");
    layers[LAYER_RESIDUAL].bytes = -(int64_t)KIB(412);
    database_member.facts = &database_process;
    memcpy(database_member.layers, layers, sizeof(database_member.layers));
    sample->snapshot.members = &database_member;
    sample->snapshot.member_count = 1;
    sample->snapshot.rss_sum_bytes = MIB(698) + KIB(140);
    sample->facts.processes = &database_process;
    sample->facts.process_count = 1;
    sample->facts.target_name = (char *)"mariadbd";
    sample->list.items = database_findings;
    sample->list.count = COUNT_OF(database_findings);
    finish(sample);
}

/* ---- another user's process */

static struct process_facts denied_process;
static struct process_view denied_member;
static struct gap denied_gaps[] = {
    {(char *)"smaps", 4711, FACT_DENIED, (char *)"the process belongs to user 33: sudo"},
    {(char *)"pagemap", 4711, FACT_DENIED, (char *)"needs CAP_SYS_PTRACE: sudo"},
    {(char *)"environ", 4711, FACT_DENIED,
        (char *)"the process belongs to user 33: sudo"},
    {(char *)"memory.stat", 0, FACT_GONE, NULL},
};

static struct mysql_event asked_events[] = {
    {(char *)"memory/innodb/buf_buf_pool", MIB(128), MIB(128), 1},
    {(char *)"memory/performance_schema/table_shares", MIB(93), MIB(93), 1},
    {(char *)"memory/innodb/trx0trx", MIB(5), MIB(6), 40},
    {(char *)"memory/sql/\033[31mTHD", MIB(3), MIB(9), 700},
    {(char *)"memory/sql/sql_acl_mem", -20840, 0, -12},
};
static struct mysql_owner asked_threads[] = {
    {(char *)"thread/sql/one_connection", 15, MIB(2)}};
static struct mysql_owner asked_accounts[] = {{(char *)"shop@localhost", 0, MIB(4)}};
static struct mysql_facts asked_server;

static void fill_asked_server(void)
{
    static const struct {
        enum mysql_fact id;
        uint64_t value;
    } values[] = {
        {MYSQL_FACT_MEMORY_USED, MIB(372)},
        {MYSQL_FACT_CONNECTIONS, 454107},
        {MYSQL_FACT_THREADS_CREATED, 10},
        {MYSQL_FACT_MAX_USED_CONNECTIONS, 10},
        {MYSQL_FACT_THREAD_CACHE_SIZE, 32},
        {MYSQL_FACT_POOL_PAGES_TOTAL, 8192},
        {MYSQL_FACT_POOL_PAGES_FREE, 1024},
        {MYSQL_FACT_POOL_BYTES, MIB(128)},
        {MYSQL_FACT_PERFORMANCE_SCHEMA, 1},
        {MYSQL_FACT_INSTRUMENTS, 268},
        {MYSQL_FACT_INSTRUMENTS_ON, 268},
        {MYSQL_FACT_INSTRUMENTED, MIB(229) - 20840},
        {MYSQL_FACT_INSTRUMENTED_NEGATIVE, 20840},
        {MYSQL_FACT_NEGATIVE_ROWS, 1},
        {MYSQL_FACT_SCHEMA_OWN, MIB(93)},
        {MYSQL_FACT_BLOCKS, 65536},
    };

    asked_server = (struct mysql_facts){
        .state = FACT_OK,
        .family = MYSQL_MARIADB,
        .version = (char *)"10.11.19-MariaDB",
        .address = (char *)"/run/mysqld/mysqld.sock",
        .malloc_library = (char *)"system",
        .flush_method = (char *)"O_DIRECT",
        .thread_handling = (char *)"one-thread-per-connection",
        .memory_state = FACT_OK,
        .since = MYSQL_SINCE_LATER,
        .events = asked_events,
        .event_count = COUNT_OF(asked_events),
        .threads = asked_threads,
        .thread_count = COUNT_OF(asked_threads),
        .accounts = asked_accounts,
        .account_count = COUNT_OF(asked_accounts),
    };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        asked_server.values[values[i].id] = ok(values[i].value);
    }
}

void sample_database_asked(struct sample *sample)
{
    static struct part parts[] = {
        {"mysql-other", "connections, tables, and the rest of the server", MIB(244),
            false},
        {"mysql-buffer-pool", "InnoDB: buffer pool, at its full size", MIB(128), false},
        {"mysql-performance-schema", "Performance Schema itself", MIB(93), false},
        {"mysql-innodb", "InnoDB: the rest", MIB(5), false},
    };
    struct layer *tracked = &sample->snapshot.layers[LAYER_TRACKED];

    sample_database(sample);
    fill_asked_server();
    database_process.mysql = &asked_server;
    database_process.mysql_count = 1;
    *tracked = known(LAYER_TRACKED, MIB(470),
        "MariaDB 10.11.19-MariaDB: Memory_used, and Performance Schema for itself and "
        "for InnoDB");
    tracked->state = FACT_STALE;
    tracked->plus_minus_bytes = 20840;
    tracked->parts = parts;
    tracked->part_count = COUNT_OF(parts);
    database_member.layers[LAYER_TRACKED] = *tracked;
}

void sample_denied(struct sample *sample)
{
    struct layer *layers = sample->snapshot.layers;

    *sample = (struct sample){0};
    no_layers(layers);
    layers[LAYER_IN_USE] =
        missing(LAYER_IN_USE, FACT_DENIED, "heaps need CAP_SYS_PTRACE: sudo");
    layers[LAYER_HELD] =
        missing(LAYER_HELD, FACT_DENIED, "heaps need CAP_SYS_PTRACE: sudo");
    layers[LAYER_RESIDENT] = known(LAYER_RESIDENT, MIB(20), "status");
    layers[LAYER_RESIDUAL] =
        missing(LAYER_RESIDUAL, FACT_DENIED, "no part of the resident set is known");
    denied_process = (struct process_facts){
        .pid = 4711,
        .name =
            (char *)"\033]0;owned\007 \xff\xfe\xe6\x97\xa5\xe6\x9c\xac \xe2\x80\xae x",
        .cgroup_index = -1,
    };
    denied_member.facts = &denied_process;
    memcpy(denied_member.layers, layers, sizeof(denied_member.layers));
    sample->snapshot.members = &denied_member;
    sample->snapshot.member_count = 1;
    sample->facts.processes = &denied_process;
    sample->facts.process_count = 1;
    sample->facts.target_cgroup = -1;
    sample->facts.gaps = denied_gaps;
    sample->facts.gap_count = COUNT_OF(denied_gaps);
    finish(sample);
}

/* ---- a pool */

static struct process_facts pool_processes[POOL_COUNT];
static struct process_view pool_members[POOL_COUNT];
static struct gap pool_gaps[] = {
    {(char *)"smaps", 110, FACT_GONE, (char *)"the process ended while it was read"},
    {(char *)"smaps", 111, FACT_GONE, (char *)"the process ended while it was read"},
    {(char *)"maps", 112, FACT_STALE, (char *)"the process ended while it was read"},
    {(char *)"kpagecount", 0, FACT_DENIED, (char *)"needs CAP_SYS_ADMIN: sudo"},
};
static struct glibc_arena pool_arenas[POOL_COUNT];
static struct zend_bin pool_bins[] = {{8, 1, 1, 512, 500}, {16, 0, 0, 0, 0}};
static struct zend_heap_facts pool_heaps[] = {
    {.address = 0x7f0000200040,
        .state = FACT_OK,
        .used_bytes = 391234,
        .real_bytes = MIB(2),
        .limit_bytes = {.value = MIB(128), .state = FACT_OK},
        .chunks = 1,
        .free_pages = 400,
        .resident_state = FACT_DENIED,
        .deep_state = FACT_OK,
        .gc_bytes = KIB(8),
        .bins = pool_bins,
        .bin_count = COUNT_OF(pool_bins)},
    {.address = 0x7f0000400040,
        .state = FACT_ABSENT,
        .custom = true,
        .why = (char *)"the heap has handlers of its own",
        .deep_why = (char *)"no page map",
        .used_bytes = 1},
};
static struct fpm_worker_facts pool_workers[] = {
    {.pid = 101, .state = (char *)"Idle", .requests = 7}};
static struct fpm_pool_facts pool_settings[] = {{.name = (char *)"www",
    .config_state = FACT_OK,
    .max_children = {.value = 12, .state = FACT_OK},
    .status_state = FACT_ABSENT,
    .status_why = (char *)"pm.status_path is not set",
    .workers = pool_workers,
    .worker_count = COUNT_OF(pool_workers)}};

static struct part pool_parts[] = {
    {"program-code", "program and libraries: code", MIB(160), false},
    {"unexplained", "not explained", MIB(5), false},
};

static void fill_pool_member(size_t i)
{
    struct process_view *view = &pool_members[i];

    pool_arenas[i] = (struct glibc_arena){.main = true,
        .address = 0x7f0000000c60,
        .state = FACT_OK,
        .held_bytes = MIB(4),
        .in_use_bytes = MIB(3),
        .top_bytes = MIB(1),
        .resident_state = FACT_DENIED};
    pool_processes[i] = (struct process_facts){
        .pid = (int32_t)(100 + i),
        .start_unix_seconds = 1790000000 - 600 + i,
        .name = (char *)"php-fpm\xc3\xa9",
        .cgroup_index = -1,
        .glibc = {.state = FACT_OK, .arenas = &pool_arenas[i], .arena_count = 1},
    };
    if (i == 0) {
        pool_processes[i].zend = (struct zend_facts){
            .state = FACT_OK, .heaps = pool_heaps, .heap_count = COUNT_OF(pool_heaps)};
    }
    view->facts = &pool_processes[i];
    no_layers(view->layers);
    view->layers[LAYER_IN_USE] = known(LAYER_IN_USE, MIB(3), "glibc");
    view->layers[LAYER_HELD] = known(LAYER_HELD, MIB(4), "glibc");
    if (i < 10) {
        view->layers[LAYER_RESIDENT] = known(LAYER_RESIDENT, MIB(30 + i), "smaps");
        view->layers[LAYER_PSS] = known(LAYER_PSS, MIB(12 + i), "smaps_rollup");
    }
}

void sample_pool(struct sample *sample)
{
    struct layer *layers = sample->snapshot.layers;

    *sample = (struct sample){0};
    for (size_t i = 0; i < POOL_COUNT; i++) {
        fill_pool_member(i);
    }
    no_layers(layers);
    layers[LAYER_IN_USE] = known(LAYER_IN_USE, MIB(36), "glibc");
    layers[LAYER_HELD] = known(LAYER_HELD, MIB(48), "glibc");
    layers[LAYER_RESIDENT] = known(LAYER_RESIDENT, MIB(165), "sum of pss");
    layers[LAYER_PSS] = known(LAYER_PSS, MIB(165), "smaps_rollup");
    layers[LAYER_UNIQUE] =
        missing(LAYER_UNIQUE, FACT_DENIED, "frames need CAP_SYS_ADMIN: sudo");
    layers[LAYER_RESIDENT].parts = pool_parts;
    layers[LAYER_RESIDENT].part_count = COUNT_OF(pool_parts);
    layers[LAYER_RESIDUAL] = known(LAYER_RESIDUAL, MIB(5), "resident - parts");
    sample->snapshot.members = pool_members;
    sample->snapshot.member_count = POOL_COUNT;
    sample->snapshot.rss_sum_bytes = MIB(345);
    sample->facts.target_kind = TARGET_POOL;
    sample->facts.target_name = (char *)"pool:www";
    sample->facts.fpm_pools = pool_settings;
    sample->facts.fpm_pool_count = COUNT_OF(pool_settings);
    sample->facts.processes = pool_processes;
    sample->facts.process_count = POOL_COUNT;
    sample->facts.target_cgroup = -1;
    sample->facts.gaps = pool_gaps;
    sample->facts.gap_count = COUNT_OF(pool_gaps);
    finish(sample);
}

/* ---- nearly nothing */

static struct process_facts empty_process;
static struct process_view empty_member;

void sample_empty(struct sample *sample)
{
    struct layer *layers = sample->snapshot.layers;

    *sample = (struct sample){0};
    no_layers(layers);
    layers[LAYER_RESIDENT] = known(LAYER_RESIDENT, 0, "smaps");
    layers[LAYER_RESIDUAL] = known(LAYER_RESIDUAL, 0, "resident - parts");
    layers[LAYER_RESIDUAL].bytes = INT64_MIN + 1;
    empty_process = (struct process_facts){.pid = 1};
    empty_member.facts = &empty_process;
    memcpy(empty_member.layers, layers, sizeof(empty_member.layers));
    sample->snapshot.members = &empty_member;
    sample->snapshot.member_count = 1;
    sample->facts.processes = &empty_process;
    sample->facts.process_count = 1;
    sample->facts.target_cgroup = -1;
    finish(sample);
}
