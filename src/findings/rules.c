/*
 * rules.c - the one table of rules. `strata rules`, docs/findings.md and the findings
 * themselves come from it.
 *
 * An id is part of the contract: scripts look for it. The numbers in threshold are those of
 * the constants at the head of each family's file; tests/unit/findings/test_rules.c asks
 * each rule for its edges.
 */
#include <stddef.h>

#include "findings/allocator.h"
#include "findings/arenas.h"
#include "findings/cgroup.h"
#include "findings/container.h"
#include "findings/finding.h"
#include "findings/fpm.h"
#include "findings/fragmentation.h"
#include "findings/glibc.h"
#include "findings/group.h"
#include "findings/growth.h"
#include "findings/mysql.h"
#include "findings/mysql_schema.h"
#include "findings/php.h"
#include "findings/reservation.h"
#include "findings/resident.h"
#include "findings/stacks.h"
#include "findings/strata_malloc.h"
#include "findings/swap.h"

const struct rule rule_table[] = {
    {
        .id = "glibc-arenas",
        .title = "many malloc arenas, each with a reserve of its own",
        .needs = "glibc arenas (memory of the process), pagemap, threads",
        .threshold = "info: a cap of 2 would save 16 MiB and 5 % of resident at most; "
                     "warn: at least 64 MiB and 15 %",
        .evidence =
            "arenas: those with free memory; equal_arenas: how many of one size "
            "would be as uneven; retained: resident in them beyond the blocks in use",
        .fix = "MALLOC_ARENA_MAX=2 (or glibc.malloc.arena_max=2 in GLIBC_TUNABLES)",
        .text =
            "glibc gives each new thread an arena until there are 8 for each core of the "
            "host; a container's quota is not looked at. Each arena keeps what its "
            "busiest moment needed. With a thread for each connection this adds up, and "
            "looks like a leak that stops. Two shared arenas keep less, since their "
            "threads are not all busy at once. Programs that do little but malloc and "
            "free "
            "become slower; servers that wait for disks and clients do not notice. It "
            "means nothing for a process that never had a second thread. Another "
            "allocator may help "
            "more "
            "or less: try it under the real load before believing in it. Most of these "
            "bytes "
            "are in glibc-retained too: do not add the two.",
        .bytes = BYTES_OF_GLIBC,
        .run = rule_glibc_arenas,
    },
    {
        .id = "glibc-retained",
        .title = "memory that was freed and stays resident inside malloc",
        .needs = "glibc arenas (memory of the process), pagemap",
        .threshold = "info: 8 MiB and 10 % of resident; warn: 64 MiB and 20 %",
        .evidence = "trim_gain: what malloc_trim(0) gives back now; top_untrimmable: "
                    "unused ends of arenas that it never touches; in_use: handed out",
        .fix = "malloc_trim(0) in the program; fewer arenas, or lower thresholds for one "
               "arena",
        .text =
            "malloc keeps freed memory for the next allocation. It returns memory by "
            "itself "
            "only from the end of a heap, so one block near the end keeps all below it. "
            "malloc_trim(0) also returns whole free pages in the middle, but not the "
            "unused ends of arenas other than the main one. It does not matter when the "
            "load comes back soon: the memory is used again.",
        .bytes = BYTES_OF_GLIBC,
        .once = true,
        .run = rule_glibc_retained,
    },
    {
        .id = "glibc-fragmentation",
        .title = "free memory between blocks in use, which nothing gives back",
        .needs = "glibc arenas (memory of the process)",
        .threshold = "info: 8 MiB and 10 % of resident; warn: 64 MiB and 20 %",
        .evidence =
            "free_shared: free, on pages that blocks in use need too; free_chunks: "
            "in how many holes; each: their mean part of it; in_use: blocks of the "
            "arenas, without those with a mapping each",
        .fix = "fewer arenas where there are many; another malloc, tried under the real "
               "load; a restart",
        .text =
            "After a peak the blocks that stay lie scattered, and each keeps its page. "
            "The holes between them are used again when blocks of their size come "
            "back, so this does not matter for a load that repeats itself. It does "
            "when other sizes follow, or when few blocks live for long: then the "
            "process stays near its peak with little in use. No call of glibc mends "
            "it. What is saved by another malloc depends on the load, so no figure is "
            "given: set a trial beside this one. These bytes are not in "
            "glibc-retained; a part of what glibc-arenas promises comes from them.",
        .run = rule_glibc_fragmentation,
    },
    {
        .id = "strata-limit",
        .title = "strata's malloc is at its limit, or has refused memory",
        .needs = "the statistics region of strata's malloc",
        .threshold = "warn: 90 % of STRATA_LIMIT; critical: a request was refused",
        .evidence =
            "charged: pages that may be resident, descriptors and tables, which the "
            "limit is compared with; refused: requests that got ENOMEM; purges: times "
            "that free memory was given back first",
        .fix = "a larger STRATA_LIMIT, or less load",
        .text =
            "STRATA_LIMIT bounds what strata's malloc takes from the system. Before it "
            "refuses, all free memory goes back, so a limit costs time long before it "
            "fails "
            "a request. Programs that do not expect malloc to fail end at the first "
            "refusal.",
        .run = rule_strata_limit,
    },
    {
        .id = "strata-retained",
        .title = "memory that was freed and stays resident inside strata's malloc",
        .needs = "the statistics region of strata's malloc, pagemap",
        .threshold = "info: 8 MiB and 10 % of resident; warn: 64 MiB and 20 %",
        .evidence =
            "free_spans: may go back; free_in_slabs: free blocks on pages that others "
            "use; cached_by_cpus: kept for the next calls",
        .fix = "malloc_trim(0) when the program is at rest; the background thread on",
        .text = "strata's malloc gives free pages back by itself, also inside of slabs "
                "that are "
                "partly used. What stays is a reserve for the load that was there a "
                "moment ago, "
                "and pages on which at least one block lives: fragmentation. The latter "
                "shows in "
                "the table of strata explain --all, by size.",
        .run = rule_strata_retained,
    },
    {
        .id = "glibc-pinned-heap",
        .title = "a block near the end of the main heap keeps it from shrinking",
        .needs = "the main arena of glibc, pagemap",
        .threshold = "info: 16 MiB of free pages and 10 % of resident below the block; "
                     "warn: 64 MiB and 25 %",
        .evidence = "pinned_free: free below the block; pinned_resident: of these, whole "
                    "pages in memory; pin: size of the block in use",
        .fix = "malloc_trim(0) after work that frees much",
        .text =
            "The main heap is one piece that grows and shrinks at its end. A block that "
            "was allocated late and lives long (a cache entry, a connection) holds "
            "the end where it is. The same bytes are part of glibc-retained.",
        .bytes = BYTES_OF_GLIBC,
        .once = true,
        .run = rule_glibc_pinned_heap,
    },
    {
        .id = "glibc-mmap-threshold",
        .title = "the threshold for own mappings grew, so large blocks stay in the heaps",
        .needs = "malloc parameters (memory of the process), pagemap",
        .threshold =
            "threshold at 1 MiB or more, and 8 MiB and 5 % of resident unused at the "
            "ends of heaps; warn: 64 MiB and 15 %",
        .evidence =
            "mmap_threshold, trim_threshold: as they are now; tops_resident: unused "
            "and resident at the ends of all arenas",
        .fix = "MALLOC_MMAP_THRESHOLD_=131072 and MALLOC_TRIM_THRESHOLD_=131072",
        .text =
            "A large block gets a mapping of its own, which free() returns at once. Each "
            "such free raises the threshold to the size of the block (up to 32 MiB), "
            "so the next one comes from a heap, and twice as much may stay at its "
            "end. Setting the threshold stops the growth; each large block then costs "
            "a system call and fresh pages.",
        .bytes = BYTES_OF_GLIBC,
        .run = rule_glibc_mmap_threshold,
    },
    {
        .id = "allocator-opaque",
        .title = "an allocator whose books cannot be read from outside",
        .needs = "mapped files, memory of the process",
        .threshold = "info: resident from 8 MiB on and no heap that could be read",
        .evidence = "allocator: which one was recognised",
        .fix = "its own statistics, from inside the program",
        .text = "jemalloc, tcmalloc, mimalloc and the heaps of Go and Java export no "
                "counters "
                "to other processes. Their memory is shown as one part, by exclusion. "
                "That is no fault: it only means that free memory inside is not visible.",
        .run = rule_allocator_opaque,
    },
    {
        .id = "preload-not-active",
        .title = "LD_PRELOAD names a library that was not loaded",
        .needs = "environment of the process, maps",
        .threshold = "warn: a library named in LD_PRELOAD is not mapped",
        .evidence = "ld_preload: the value in the environment at the start",
        .fix = "the right path for this image, seen with LD_DEBUG=libs",
        .text =
            "A preloaded allocator that is not there fails silently: the loader prints a "
            "line on standard error and starts the program without it. Paths differ "
            "between images and architectures.",
        .run = rule_preload_not_active,
    },
    {
        .id = "lazy-free",
        .title = "memory given up with MADV_FREE that still counts",
        .needs = "smaps_rollup or smaps: LazyFree",
        .threshold = "info: 8 MiB and 5 % of resident; warn: 40 %",
        .evidence = "lazy_free: pages that the kernel may take at any time",
        .fix = "GODEBUG=madvdontneed=1 (Go before 1.16), muzzy_decay_ms:0 (jemalloc)",
        .text = "With MADV_FREE the kernel takes pages only when it is short of memory. "
                "Until "
                "then they are in Rss, in RssAnon, in docker stats and in the usage that "
                "alarms look at. It is no leak and is dropped before anything is killed.",
        .bytes = BYTES_OF_LAZY_FREE,
        .run = rule_lazy_free,
    },
    {
        .id = "thp-inflation",
        .title = "anonymous memory in huge pages, resident as a whole",
        .needs = "smaps_rollup or smaps: AnonHugePages; the host's setting",
        .threshold = "info: 32 MiB and 10 % of resident; warn: setting 'always', 64 MiB "
                     "and 50 %",
        .evidence = "anon_huge: in huge pages; enabled: the host's setting",
        .fix = "thp:never for jemalloc; madvise instead of always on the host",
        .text =
            "One byte touched makes 2 MiB resident. Sparse heaps and stacks of many "
            "threads grow several times over; large arrays in full use gain speed and "
            "lose nothing. Which of the two it is cannot be seen from outside, so "
            "the prediction is a wide range.",
        .bytes = BYTES_OF_GLIBC,
        .run = rule_thp_inflation,
    },
    {
        .id = "untouched-reservation",
        .title = "large blocks that were asked for and never used",
        .needs = "smaps, mapped blocks of malloc, pagemap",
        .threshold = "info: 64 MiB in blocks with 16 MiB or more untouched, and 25 % of "
                     "resident",
        .evidence = "untouched: address space without memory; largest_block: the largest "
                    "of them and what of it is resident",
        .fix = "none needed; smaller buffers in the configuration",
        .text =
            "Buffer pools and caches are taken at their full size. The program counts "
            "them at once, the kernel page by page. So the program's own figure may "
            "exceed the resident set, and the resident set may grow without a leak.",
        .run = rule_untouched_reservation,
    },
    {
        .id = "thread-stacks",
        .title = "stacks of threads, alive or kept",
        .needs = "stacks (memory of the process), pagemap",
        .threshold = "info: 8 MiB and 5 % of resident; warn: 128 MiB and 15 %",
        .evidence =
            "cached_stacks: of ended threads, kept by glibc; reserved: address space",
        .fix = "fewer threads; glibc.pthread.stack_cache_size for kept stacks",
        .text = "Only the part of a stack that was used is resident, and it stays so "
                "after the "
                "thread ended while glibc keeps the stack for the next one. 8 MiB stacks "
                "are address space; what counts is resident.",
        .run = rule_thread_stacks,
    },
    {
        .id = "limit-nofile",
        .title = "a limit of open files so high that tables are sized by it",
        .needs = "limits, smaps, mapped blocks of malloc",
        .threshold =
            "info: limit of 16777216 or more; warn: one block is large enough for "
            "8 bytes for each; critical: 256 MiB of it are resident",
        .evidence =
            "limit_open_files: the soft limit; largest_block: the largest anonymous "
            "block",
        .fix = "LimitNOFILE=65536, or ulimits in the compose file",
        .text =
            "With LimitNOFILE=infinity a container may get a limit of 1073741816. "
            "Programs "
            "that allocate a slot for each possible descriptor, such as mysqld 5.7, take "
            "many GiB at the start and are killed.",
        .run = rule_limit_nofile,
    },
    {
        .id = "mysql-thread-cache",
        .title = "a thread made for nearly each connection",
        .needs = "status and variables of the server, glibc arenas, pagemap",
        .threshold =
            "info: 50 connections, 10 threads made for each 100 of them and more than "
            "twice as many as were open at one time, and a cache below those; "
            "warn: 50 for each 100, and 64 MiB retained in arenas",
        .evidence =
            "threads_created, connections: since the start; max_used_connections: "
            "at one time; retained: resident in arenas beyond the blocks in use",
        .fix = "thread_cache_size at the connections at one time, 32 at least",
        .text =
            "Clients that connect for each request make the server start a thread for "
            "each. With a cache that is large enough Threads_created stands still. The "
            "effect on memory is small beside an arena cap (glibc-arenas): arenas are "
            "reused either way. It saves the time of making threads in any case.",
        .bytes = BYTES_OF_GLIBC,
        .run = rule_mysql_thread_cache,
    },
    {
        .id = "mysql-connection-buffers",
        .title = "buffers of connections by formula, and as measured",
        .needs =
            "status and variables of the server, resident, limit or memory of the host",
        .threshold =
            "info: the formula gives more than there is and twice what is resident, "
            "or less than what is resident",
        .evidence =
            "formula: caches and max_connections times sort, join, read, read_rnd, "
            "binlog buffers and stack; formula_for_used: for those seen at one time",
        .fix = "none for memory's sake",
        .text = "Tuning scripts multiply all buffers of a connection with "
                "max_connections and "
                "warn. A statement takes the buffers it needs, some several times, most "
                "none; and what malloc keeps is in no formula. So the sum is neither "
                "what is used nor a bound.",
        .run = rule_mysql_connection_buffers,
    },
    {
        .id = "mysql-configuration",
        .title = "the memory is what the server was configured to take",
        .needs = "what the server tracks, glibc arenas, pagemap",
        .threshold =
            "info: 256 MiB resident, 60 % of it tracked and touched, less than 15 % "
            "free in malloc; warn: 90 % of the limit cannot be reclaimed",
        .evidence = "tracked_and_touched: the pool as far as it is filled, and what the "
                    "server counts inside malloc",
        .fix = "a smaller buffer pool, when memory is short",
        .text =
            "When tracked is near resident, another allocator or an arena cap changes "
            "little. The buffer pool is there to be filled: a full pool is no fault.",
        .run = rule_mysql_configuration,
    },
    {
        .id = "mysql-pool-emptied",
        .title = "the buffer pool was emptied under memory pressure",
        .needs = "status of the server, LazyFree of smaps_rollup",
        .threshold =
            "warn: MariaDB, 64 MiB freed with MADV_FREE and a quarter of the pool blank",
        .evidence = "lazy_free: given up, and resident until the kernel takes it",
        .fix = "MariaDB 10.11.12 or later; no MemoryHigh",
        .text =
            "Some versions of MariaDB drop the clean pages of the pool when the kernel "
            "reports memory pressure, several times an hour under MemoryHigh. The cache "
            "is lost, and the resident set does not show it.",
        .bytes = BYTES_OF_LAZY_FREE,
        .run = rule_mysql_pool_emptied,
    },
    {
        .id = "mysql-coverage",
        .title = "the server cannot say what it uses, or not all of it",
        .needs = "setup_instruments and the memory tables of performance_schema",
        .threshold =
            "info: Performance Schema off or not readable, fewer than 75 % of the "
            "memory instruments on, switched on after the start (rows below zero), "
            "or less than 50 % of malloc's blocks covered",
        .evidence =
            "instruments_on: memory instruments that count; negative: what rows below "
            "zero take off the sum; coverage_percent: of what malloc has in use",
        .fix = "performance-schema-instrument='memory/%=ON' from the start on",
        .text =
            "sys.memory_global_total is a sum over the instruments that are on, since "
            "they are on. MariaDB has only those of Performance Schema itself on, and "
            "counts in Memory_used besides; MySQL 8 has most on. The views of sys leave "
            "rows below zero out, the total does not.",
        .run = rule_mysql_coverage,
    },
    {
        .id = "mysql-schema-memory",
        .title = "Performance Schema's own memory",
        .needs = "the memory tables of performance_schema",
        .threshold = "info: 64 MiB and 20 % of resident; warn: 256 MiB and 40 %",
        .evidence =
            "own: sum of its own instruments; max_sql_text_length, max_digest_length: "
            "bytes that each kept text takes",
        .fix = "performance_schema=OFF, or shorter texts",
        .text =
            "Its tables are made at the start and stay. Long texts of statements "
            "multiply "
            "by sessions and digests, and make it grow to GiB. On a server that nobody "
            "looks into, it can go.",
        .run = rule_mysql_schema_memory,
    },
    {
        .id = "file-pages-look-alarming",
        .title = "a large resident set that is mostly pages of files",
        .needs = "smaps, or RssFile of status",
        .threshold = "info: 16 MiB and 30 % of resident",
        .evidence = "file_pages: code, constants and mapped files; other: all the rest",
        .fix = "none needed; watch RssAnon",
        .text =
            "Mapped files count in the Rss of every process that touched them. The "
            "kernel "
            "drops such pages when memory is short and reads them again. Databases that "
            "map their files show a large Rss and are fine.",
        .run = rule_file_pages_look_alarming,
    },
    {
        .id = "unexplained-residual",
        .title = "resident memory without an owner",
        .needs = "smaps, allocators, stacks",
        .threshold = "info: 2 MiB and 2 % of resident; warn: 64 MiB and 10 %",
        .evidence = "missing_facts: how many could not be read",
        .fix = "more rights (sudo), or another look while the process is quiet",
        .text = "What no part of the resident set claims is shown instead of being "
                "spread over "
                "the others. The usual reason is that the heaps could not be read.",
        .run = rule_unexplained_residual,
    },
    {
        .id = "swap",
        .title = "memory of the target in swap",
        .needs = "status: VmSwap",
        .threshold = "info: 16 MiB and 5 % of resident and swapped; warn: 25 %",
        .evidence = "swapped: VmSwap, without shared memory",
        .fix = "a higher limit, or no swap for the unit",
        .text =
            "Swapped memory is missing from every resident figure. A program that looks "
            "small may need more than the machine has.",
        .run = rule_swap,
    },
    {
        .id = "hugetlb",
        .title = "hugetlbfs pages, which no resident set counts",
        .needs = "status: HugetlbPages",
        .threshold = "info: 2 MiB",
        .evidence = "set_aside: reserved on the host, used or not",
        .fix = "none needed; vm.nr_hugepages for what is set aside in vain",
        .text = "Pages of hugetlbfs are outside Rss, Pss and RssAnon. Databases with "
                "large_pages and some runtimes use them.",
        .run = rule_hugetlb,
    },
    {
        .id = "cgroup-near-limit",
        .title = "the limit is near, counted without what can be reclaimed",
        .needs = "memory.current, memory.max, memory.stat, memory.events; oom_score",
        .threshold =
            "info: usage at 90 % of the limit; warn: 75 % cannot be reclaimed, or "
            "a process was killed; critical: 90 % cannot be reclaimed",
        .evidence =
            "non_reclaimable: usage less page cache and reclaimable kernel objects, "
            "with shared memory and dirty pages; lazily_freed: of it, given up with "
            "MADV_FREE; first_to_be_killed: highest oom_score",
        .fix = "MemoryMax or mem_limit with a quarter above what cannot be reclaimed",
        .text =
            "Usage at the limit is normal for a cgroup that reads files. What matters is "
            "how "
            "much of it the kernel cannot take back. The process with the highest "
            "oom_score of the cgroup is killed first, and it need not be the one that "
            "took the memory.",
        .run = rule_cgroup_near_limit,
    },
    {
        .id = "cgroup-stalls",
        .title = "tasks wait for memory at memory.high or at the limit",
        .needs = "memory.current, memory.high, memory.max, memory.pressure (PSI)",
        .threshold =
            "info: usage at 95 % of the bound and waiting in 1 % of the last minute; "
            "warn: in 10 %",
        .evidence = "share_of_minute: some avg60 of memory.pressure; events_high: times "
                    "that the kernel throttled for it",
        .fix = "MemoryHigh, or MemoryMax, a quarter above usage and swap; or a smaller "
               "service",
        .text =
            "memory.high is a soft bound: above it tasks are made to reclaim and to "
            "wait, "
            "and nothing is killed. A service that needs more than it all the time looks "
            "slow for no reason that its own figures show. The same happens at the hard "
            "limit while page cache can still be dropped.",
        .run = rule_cgroup_stalls,
    },
    {
        .id = "page-cache-in-container",
        .title = "page cache inside the figure of docker stats and kubelet",
        .needs = "memory.current, memory.stat",
        .threshold = "info: 16 MiB and 10 % of usage is page cache that can be reclaimed",
        .evidence =
            "docker, kubelet, podman, docker_19: the same cgroup as each shows it",
        .fix = "none needed; alert on what cannot be reclaimed",
        .text =
            "A cgroup is billed for the files its processes read. docker and kubelet "
            "leave "
            "out the inactive part only, podman nothing, docker up to 19.03 all of it. "
            "So one container has three figures, and none is its processes' memory.",
        .run = rule_page_cache_in_container,
    },
    {
        .id = "slab-in-container",
        .title = "kernel objects inside the bill",
        .needs = "memory.stat: slab_reclaimable (version 2)",
        .threshold = "info: 16 MiB and 10 % of usage; warn: 40 %",
        .evidence = "slab_reclaimable: names and inodes of files, mostly",
        .fix = "drop_caches once, to see; fewer look-ups of files that do not exist",
        .text = "Each file name that is looked up, found or not, leaves a dentry that "
                "the cgroup "
                "is billed for. Scanners and package managers make millions. The kernel "
                "reclaims them before it kills.",
        .once = true,
        .run = rule_slab_in_container,
    },
    {
        .id = "shmem-charged",
        .title = "shared memory and tmpfs inside the bill",
        .needs = "memory.stat: shmem",
        .threshold = "info: 16 MiB and 10 % of usage; warn: 40 % of the limit",
        .evidence = "cache: what it is counted in by tools that do not tell",
        .fix = "a size for tmpfs and shm_size; files removed",
        .text = "tmpfs is memory. It is part of 'file' and 'cache', so it looks as if it "
                "could be "
                "reclaimed; without swap it cannot, and it may get the container killed.",
        .run = rule_shmem_charged,
    },
    {
        .id = "rss-sum-overstates",
        .title = "the sum of Rss over several processes counts shared pages repeatedly",
        .needs = "smaps or smaps_rollup; page frames when permitted",
        .threshold = "info: 8 MiB and 10 % too much; warn: twice what is there",
        .evidence =
            "rss_sum: what ps and top add up to; resident: each frame once, else Pss; "
            "exclusive: what nobody else maps",
        .fix = "none needed; size pools by private memory",
        .text = "Workers of a pool share code, opcode caches and copy-on-write pages of "
                "their "
                "master. Dividing the machine's memory by the RES of a worker gives a "
                "number of workers that is far too small.",
        .run = rule_rss_sum_overstates,
    },
    {
        .id = "measured-inside-vm",
        .title = "container and host are both inside a virtual machine",
        .needs = "DMI or the CPU's hypervisor flag; the cgroup",
        .threshold = "info: a container, and a hypervisor was recognised",
        .evidence = "memory_of_the_vm: what this kernel believes the machine has",
        .fix = "none needed",
        .text = "On desktops, containers run in one virtual machine. The system around "
                "it shows "
                "one process for all of them, and memory freed inside may stay taken "
                "outside.",
        .run = rule_measured_inside_vm,
    },
    {
        .id = "php-near-limit",
        .title = "a PHP heap whose next chunk is near or beyond memory_limit",
        .needs = "Zend heaps (memory of the process)",
        .threshold =
            "warn: real at 80 % of the limit, or its peak at 90 %; critical: less "
            "than one chunk of 2 MiB is left",
        .evidence =
            "headroom_used: what memory_get_usage() suggests; headroom_real: what "
            "is really left; next_chunk: what the next purchase needs",
        .fix = "a memory_limit by the peak of real, or less data at a time",
        .text =
            "memory_limit is compared with real, the sum of whole 2 MiB chunks and huge "
            "blocks, and not with used. A request can end with half of its limit "
            "unused by its own count. Builds since October 2026 grant a little beyond "
            "the limit and end the request at the next safe point, up to a hard limit.",
        .run = rule_php_near_limit,
    },
    {
        .id = "php-chunk-cliff",
        .title = "blocks just too large to share a chunk of PHP's heap",
        .needs = "Zend heaps (memory of the process)",
        .threshold = "warn: a heap with 4 such chunks and 25 % of real in free pages",
        .evidence = "half_chunks: one run of 256 pages or more; third_chunks, "
                    "quarter_chunks: runs of 171 and of 128 pages and more",
        .fix = "values below 255 pages or above 2,093,056 bytes; else a limit by real",
        .text =
            "1 MiB is the worst size to ask PHP for: a chunk has 511 pages to give, so a "
            "second block of 256 pages never fits. real counts twice what the data "
            "weighs. The unused half was never written, so it costs memory_limit and "
            "no RAM; size the machine by resident memory all the same.",
        .run = rule_php_chunk_cliff,
    },
    {
        .id = "php-idle-cache",
        .title = "idle PHP workers that keep the chunks of earlier requests",
        .needs = "Zend heaps (memory of the process), pagemap",
        .threshold = "info: 8 MiB and 10 % of resident; warn: 64 MiB and 30 %",
        .evidence =
            "cached_chunks: kept by all idle workers; cached_resident: what of them "
            "is in RAM",
        .fix = "workers that end when idle, or after a number of requests",
        .text = "At the end of a request PHP keeps as many chunks as its average request "
                "needed lately; the average moves half the way with each request. Time "
                "does not count: a worker that goes idle after one large request keeps "
                "its chunks until it has served a few small ones. memory_get_usage() "
                "cannot show this to an idle worker.",
        .bytes = BYTES_OF_ZEND,
        .run = rule_php_idle_cache,
    },
    {
        .id = "php-collectable",
        .title = "free small blocks of PHP that only a collection gives back",
        .needs = "Zend heaps at rest (memory of the process), pagemap",
        .threshold =
            "info: 8 MiB and 10 % of resident; warn: 64 MiB leave the process and "
            "30 %",
        .evidence = "gc_gain: what gc_mem_caches() returns; gc_real, gc_resident: by how "
                    "much real and the resident set fall",
        .fix = "gc_mem_caches() after dropping a large structure",
        .text =
            "Pages that held small blocks stay with their size when the blocks are "
            "freed. One survivor in a chunk keeps the whole chunk: then the collection "
            "returns much and the process shrinks little. In a web request it does not "
            "matter, since its end drops everything.",
        .bytes = BYTES_OF_ZEND,
        .run = rule_php_collectable,
    },
    {
        .id = "php-native-memory",
        .title = "extensions hold more through malloc than PHP counts",
        .needs = "Zend heaps and glibc arenas (memory of the process)",
        .threshold = "info: 32 MiB in use by malloc, and half as much as real or more",
        .evidence = "native_in_use: blocks in use in malloc's arenas",
        .fix = "find the extension; until then let workers end after some requests",
        .text =
            "Database drivers, curl, image and XML libraries and the cycle collector's "
            "root buffer allocate from malloc. Neither memory_get_usage() nor "
            "memory_limit sees it. When it grows while real is flat, an extension or "
            "its use leaks.",
        .run = rule_php_native_memory,
    },
    {
        .id = "fpm-worst-case",
        .title = "FPM workers at their memory_limit do not fit",
        .needs = "FPM's configuration, Zend heaps, memory of the machine or its cgroup",
        .threshold = "info: children x memory_limit over all pools is 100 % of memory",
        .evidence = "worst_case: the sum over all pools; memory: what there is",
        .fix = "fewer children, or a lower memory_limit",
        .text =
            "A bound, not a forecast: few workers are ever at their limit together. It "
            "says whether load or one bad page alone can make the kernel kill "
            "something. A limit that pages really need is better than a high one for "
            "all.",
        .run = rule_fpm_worst_case,
    },
    {
        .id = "fpm-children-overcommit",
        .title = "FPM may start more workers than memory carries",
        .needs =
            "FPM's configuration, private pages of the workers, memory of the machine",
        .threshold =
            "warn: max_children of all pools x private pages of a worker is 80 % "
            "of memory; critical: 100 %",
        .evidence = "private_each: mean over the workers; expected: for all children",
        .fix = "pm.max_children over all pools by private memory",
        .text =
            "Many pools with generous spare workers add up, each pool being fine by "
            "itself. Sizing by RES instead errs the other way, since shared pages are "
            "counted once for each worker.",
        .run = rule_fpm_children_overcommit,
    },
    {
        .id = "fpm-opcache-in-pool",
        .title = "an opcache size set for a pool has no effect",
        .needs = "FPM's configuration",
        .threshold = "info: whenever it is set",
        .evidence = "pool, file: where it is set",
        .fix = "set it in php.ini",
        .text =
            "The master maps opcache's shared memory before it forks, with php.ini's "
            "size. A php_admin_value in a pool changes only what opcache's statistics "
            "compute with.",
        .run = rule_fpm_opcache_in_pool,
    },
    {
        .id = "fpm-status-memory",
        .title = "FPM's status tells of memory that the last request did not need",
        .needs = "FPM's status page, Zend heaps at rest",
        .threshold = "info: 4 MiB more than the heap uses, with chunks kept from earlier",
        .evidence = "last_request_memory: FPM's figure; used, real: the heap's",
        .fix = "none; size by private memory",
        .text =
            "The page shows the peak of real of the last request, which includes chunks "
            "that were cached before it, and 0 for a worker that is busy.",
        .run = rule_fpm_status_memory,
    },
    {
        .id = "growth-leak",
        .title = "memory grows and does not slow down",
        .needs = "a recording of at least 12 ticks: resident memory, requests served",
        .threshold =
            "warn: 4 MiB and 5 % more than at the start, a robust slope in the second "
            "half that is at least half of the whole's, rising with 99 % confidence, "
            "seen for 10 minutes or 1,000 requests; critical: the limit is met within a "
            "day at this pace, and within ten times of what was seen",
        .evidence =
            "first, last: median of the first and last tenth; per_hour (per_minute "
            "when less than an hour was seen), per_thousand_requests: slope of the "
            "second half",
        .fix =
            "compare the layers of two captures: what grows is in use, or free and kept",
        .text =
            "Larger than at the start is no leak: caches fill, pools warm up, workers "
            "load code. Those grow with the logarithm of the requests and stop; a leak "
            "grows with the requests themselves. So the slope is judged where the first "
            "half is over, by requests when the service counts them, else by time. A "
            "recording that ends while the service still warms up is called unclear, and "
            "growth that was seen for less than 10 minutes too short to tell.",
        .run_course = rule_growth_leak,
    },
    {
        .id = "growth-plateau",
        .title = "memory grew and has stopped, or slows down",
        .needs = "a recording of at least 12 ticks: resident memory, requests served",
        .threshold =
            "info: 4 MiB and 5 % more than at the start, and a slope in the "
            "second half of at most a quarter of the whole's, or a course that is "
            "straight over the logarithm; seen for 10 minutes or 1,000 requests",
        .evidence = "as of growth-leak",
        .fix = "none: plan with the level that was reached",
        .text = "The state after the first load is the one to compare with, not the cold "
                "start. A second load of the same kind that raises the level again by as "
                "much would be a leak.",
        .run_course = rule_growth_plateau,
    },
    {.id = NULL},
};
