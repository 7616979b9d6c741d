/*
 * fpm.c - from a worker or a master to its configuration and status.
 *
 * The master's title names the file: "php-fpm: master process (/etc/php/8.2/fpm/php-fpm.conf)".
 * Paths and sockets are the master's own, so they are reached below its root directory. A
 * status request takes a worker for a moment unless pm.status_listen is set; it is made only
 * when a worker is seen waiting in accept(2), so that a full pool is never asked.
 * A title proves nothing: what is asked, and that no forged master makes us ask the
 * pool of another, is decided in fastcgi.c.
 */
#include "facts/fpm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/fpm_config.h"
#include "facts/fpm_status.h"
#include "facts/gap.h"
#include "facts/process_folder.h"
#include "facts/process_name.h"

enum {
    MAX_MASTERS = 256,
    SYSCALL_BYTES = 4096,
    PREFIX_BYTES = 64,
    CONFIG_BYTES = 64 << 20,
};

static bool starts_with(const char *text, const char *start)
{
    return text != NULL && strncmp(text, start, strlen(start)) == 0;
}

/* One reading of all masters. */
struct fpm_reader {
    struct facts_root *root;
    struct facts *facts;
    int64_t left_ms; /* for asking pools */
};

/* The pids of masters, each once. */
struct masters {
    int32_t pids[MAX_MASTERS];
    size_t count;
};

static void add_master(struct masters *masters, int32_t pid)
{
    for (size_t i = 0; i < masters->count; i++) {
        if (masters->pids[i] == pid) {
            return;
        }
    }
    if (masters->count < MAX_MASTERS) {
        masters->pids[masters->count++] = pid;
    }
}

static void find_masters(const struct facts *facts, struct masters *masters)
{
    masters->count = 0;
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        if (starts_with(process->title, FPM_MASTER_TITLE)) {
            add_master(masters, process->pid);
        } else if (starts_with(process->title, FPM_POOL_TITLE)) {
            add_master(masters, process->parent_pid);
        }
    }
}

/* The path in "php-fpm: master process (PATH)", or NULL. */
static char *config_path(struct region *region, const char *title)
{
    const char *open = strchr(title, '(');
    const char *close = strrchr(title, ')');

    return open == NULL || close == NULL || close <= open + 1
               ? NULL
               : region_copy(region, open + 1, (size_t)(close - open - 1));
}

/* As the master found it: `php-fpm -y fpm.conf` counts from where it was started. */
static char *from_working_folder(
    struct region *region, const struct process_folder *folder, char *file)
{
    char place[PATH_MAX];

    if (file == NULL || file[0] == '/') {
        return file;
    }
    const ssize_t length = readlinkat(folder->fd, "cwd", place, sizeof(place));
    return length <= 0 || (size_t)length >= sizeof(place) || place[0] != '/'
               ? file
               : region_printf(region, "%.*s/%s", (int)length, place, file);
}

/* Is the process waiting for a connection? Without permission to look: not known, so no. */
static bool waits_in_accept(struct facts_root *root, int32_t pid)
{
    struct process_folder folder;
    struct buffer text;
    uint64_t number = 0;
    const char *at;
    int rc = process_folder_open(root, pid, &folder);

    if (rc != 0) {
        return false;
    }
    buffer_init(&text);
    rc = process_folder_read(&folder, "syscall", SYSCALL_BYTES, &text);
    at = buffer_text(&text);
    rc = rc != 0 ? rc : number_read(&at, 10, &number);
    buffer_release(&text);
    process_folder_close(&folder);
#ifdef SYS_accept
    return rc == 0 && (number == SYS_accept || number == SYS_accept4);
#else
    return rc == 0 && number == SYS_accept4;
#endif
}

/* The workers of pool in facts: how many, and whether one is waiting for work. */
static size_t count_workers(struct facts_root *root, const struct facts *facts,
    const struct fpm_pool_facts *pool, int32_t master, bool *one_waits)
{
    size_t count = 0;

    *one_waits = false;
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        if (process->parent_pid == master &&
            starts_with(process->title, FPM_POOL_TITLE) &&
            strcmp(process->title + strlen(FPM_POOL_TITLE), pool->name) == 0) {
            count++;
            *one_waits = *one_waits || waits_in_accept(root, process->pid);
        }
    }
    return count;
}

static int read_statuses(
    struct fpm_reader *reader, const struct process_folder *folder, size_t first_pool)
{
    struct facts *facts = reader->facts;
    char prefix[PREFIX_BYTES];
    const struct fpm_master master = {.path_prefix = prefix,
        .pid = folder->pid,
        .same_network = process_folder_shares_network(folder),
        .ask_nobody = reader->root->ask_nobody,
        .left_ms = &reader->left_ms};
    int rc = 0;

    (void)snprintf(prefix, sizeof(prefix), "/proc/%d/root", folder->pid);
    for (size_t i = first_pool; rc == 0 && i < facts->fpm_pool_count; i++) {
        struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        bool one_waits;
        if (count_workers(reader->root, facts, pool, folder->pid, &one_waits) > 0) {
            rc = fpm_status_read(&master, one_waits, &facts->region, pool);
        }
    }
    return rc;
}

static void add_config_gap(struct facts *facts, int32_t pid, int rc, const char *why)
{
    const uint32_t state = facts_state_of(rc);

    gap_add(facts, "php-fpm.conf", pid, state == FACT_OK ? FACT_ABSENT : state, why);
}

static int read_config(
    struct fpm_reader *reader, struct process_folder *folder, const char *file)
{
    struct facts *facts = reader->facts;
    struct error error = {0};
    int root_fd = openat(folder->fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (root_fd < 0) {
        const int rc = -errno;
        add_config_gap(facts, folder->pid, rc,
            "the master's root directory may not be entered: run with sudo");
        return 0;
    }
    int rc = fpm_config_read(reader->root, root_fd, file, facts, &error);
    close(root_fd);
    if (rc != 0 && rc != -ENOMEM) {
        add_config_gap(facts, folder->pid, rc, error.text);
    }
    return rc == -ENOMEM ? rc : 0;
}

/* *file: of the master in folder, NULL when it is none. */
static int find_config(
    const struct fpm_reader *reader, struct process_folder *folder, char **file)
{
    struct region *region = &reader->facts->region;
    char *title = NULL;
    int rc = process_title_read(folder, region, &title);

    *file = rc == 0 && starts_with(title, FPM_MASTER_TITLE)
                ? from_working_folder(region, folder, config_path(region, title))
                : NULL;
    return rc;
}

static int read_master(struct fpm_reader *reader, int32_t pid)
{
    struct facts_root *root = reader->root;
    const size_t first_pool = reader->facts->fpm_pool_count;
    struct process_folder folder;
    char *file;
    int rc = process_folder_open(root, pid, &folder);

    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0; /* it ended: so did its pools */
    }
    rc = find_config(reader, &folder, &file);
    if (rc == 0 && file != NULL) {
        rc = read_config(reader, &folder, file);
        /* A captured tree has no server that could be asked. */
        if (rc == 0 && root->prefix[0] == '\0') {
            rc = read_statuses(reader, &folder, first_pool);
        }
    }
    process_folder_close(&folder);
    return rc == -ENOMEM ? rc : 0;
}

int fpm_read(struct facts_root *root, struct facts *facts)
{
    struct fpm_reader reader = {
        .root = root, .facts = facts, .left_ms = FPM_STATUS_TOTAL_MS};
    struct masters masters;
    int rc = 0;

    find_masters(facts, &masters);
    for (size_t i = 0; rc == 0 && i < masters.count; i++) {
        rc = read_master(&reader, masters.pids[i]);
    }
    return rc;
}

int fpm_master_lists(struct facts_root *root, int32_t pid, const char *pool, bool *lists)
{
    struct facts facts = {0};
    struct fpm_reader reader = {.root = root, .facts = &facts};
    struct process_folder folder;
    char *file;
    int rc = process_folder_open(root, pid, &folder);

    *lists = false;
    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    region_init(&facts.region, CONFIG_BYTES);
    rc = find_config(&reader, &folder, &file);
    if (rc == 0 && file != NULL) {
        (void)read_config(&reader, &folder, file);
    }
    for (size_t i = 0; i < facts.fpm_pool_count; i++) {
        *lists = *lists || strcmp(facts.fpm_pools[i].name, pool) == 0;
    }
    region_release(&facts.region);
    process_folder_close(&folder);
    return 0; /* one that takes more room than there is lists no more than was read of it */
}
