/*
 * mysql.c - from a server process to its answers.
 *
 * The conversation runs in a child process: the client library then cannot take our memory or time
 * or be our end, whatever a server sends, and the password of an option file never comes into the
 * process that writes captures. The child is forked, not started anew: it needs nothing
 * but what it inherits. It gets a bound of memory, and the parent ends it when time is up.
 */
#include "facts/mysql.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/number.h"
#include "facts/gap.h"
#include "facts/mysql_answer.h"
#include "facts/mysql_client.h"
#include "facts/mysql_endpoint.h"
#include "facts/process_folder.h"

enum {
    SYSTEM_USERS = 1000, /* below: accounts of services (SYS_UID_MAX of login.defs) */
    CHILD_CPU_SECONDS = 5,
    STATM_BYTES = 256,
};

static const rlim_t child_extra_bytes = (rlim_t)128 << 20;

bool mysql_is_server(const struct process_facts *process)
{
    static const char *const names[] = {"mysqld", "mariadbd"};
    const char *slash =
        process->executable != NULL ? strrchr(process->executable, '/') : NULL;
    const char *program = slash != NULL ? slash + 1 : "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(process->name, names[i]) == 0 || strcmp(program, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Our own address space; a bound that is below it would stop the child at once. */
static rlim_t own_address_space(void)
{
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[STATM_BYTES] = "";
    const char *at = text;
    uint64_t pages = 0;

    if (fd >= 0) {
        (void)descriptor_read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    (void)number_read(&at, 10, &pages);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void bind_child(pid_t parent)
{
    const rlim_t most = own_address_space() + child_extra_bytes;
    const struct rlimit address = {most, most};
    const struct rlimit cpu = {CHILD_CPU_SECONDS, CHILD_CPU_SECONDS};
    const struct rlimit core = {0, 0};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_AS, &address);
    (void)setrlimit(RLIMIT_CPU, &cpu);
    (void)setrlimit(RLIMIT_CORE, &core);
    if (getppid() != parent) {
        _exit(1); /* it ended before prctl() */
    }
}

static bool is_whole(const struct buffer *stream)
{
    const size_t bytes = sizeof(MYSQL_STREAM_END) - 1;

    return stream->length_bytes >= bytes &&
           memcmp(stream->data + stream->length_bytes - bytes, MYSQL_STREAM_END, bytes) ==
               0;
}

/* The child's answers up to their end or the deadline. *finished: it ended by itself. */
static int receive(int fd, int64_t deadline_ms, struct buffer *stream, bool *finished)
{
    enum { PIECE_BYTES = 64 << 10 };

    *finished = false;
    while (stream->length_bytes < MYSQL_STREAM_BYTES_MAX) {
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        const int64_t left = deadline_ms - now_ms();
        if (left <= 0) {
            return 0;
        }
        if (poll(&wanted, 1, (int)left) <= 0) {
            continue;
        }
        char *place = buffer_reserve(stream, PIECE_BYTES);
        const ssize_t got =
            place == NULL ? -ENOMEM : descriptor_read(fd, place, PIECE_BYTES);
        if (got <= 0) {
            *finished = got == 0;
            return got == -ENOMEM ? -ENOMEM : 0;
        }
        buffer_commit(stream, (size_t)got);
        if (is_whole(stream)) {
            *finished = true;
            return 0;
        }
    }
    return 0;
}

/* Runs the conversation and gives its stream. 0, or -errno of pipe, fork or memory. */
static int converse(const struct mysql_request *request, int64_t deadline_ms,
    struct buffer *stream, bool *finished)
{
    const pid_t parent = getpid();
    int ends[2];
    int rc;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -errno;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        bind_child(parent);
        mysql_client_run(request, ends[1]);
        _exit(0);
    }
    rc = child < 0 ? -errno : 0;
    close(ends[1]);
    if (rc == 0) {
        rc = receive(ends[0], deadline_ms, stream, finished);
        (void)kill(child, SIGKILL); /* not reaped yet, so the pid is still the child's */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return rc;
}

/* A password is only shown to who could ask for it anyway, or runs a service of this host. */
static bool is_trusted(const struct process_facts *process)
{
    return process->user_id < SYSTEM_USERS || process->user_id == geteuid();
}

static int store_failure(struct region *region, struct mysql_facts *mysql, int rc)
{
    const char *why;

    mysql->state = facts_state_of(rc);
    switch (-rc) {
    case ENOENT:
        why = "the server has no socket and no port that it listens at, or the socket's "
              "file is gone";
        break;
    case EREMOTE:
        why = "its port belongs to another network namespace, and it has no unix socket";
        break;
    case EPERM:
        mysql->state = FACT_DENIED;
        why = "not asked: the file at its socket's path belongs to another user";
        break;
    case EACCES:
        why = "its descriptors may not be looked at: run with sudo";
        break;
    case ESRCH:
        why = "the server ended while it was read";
        break;
    default:
        why = strerrordesc_np(-rc);
        break;
    }
    mysql->why = region_copy_text(region, why != NULL ? why : "it could not be asked");
    return mysql->why == NULL ? -ENOMEM : 0;
}

static int ask(struct facts_root *root, struct region *region,
    struct process_folder *folder, const struct process_facts *process, int64_t left_ms)
{
    struct mysql_facts *mysql = process->mysql;
    struct mysql_endpoint endpoint;
    struct mysql_request request = {.folder = folder,
        .endpoint = &endpoint,
        .defaults_file = root->defaults_file,
        .may_send_password = is_trusted(process)};
    struct buffer stream;
    bool finished = false;
    int rc = mysql_endpoint_find(folder, process->user_id, &endpoint);

    if (rc != 0) {
        return rc == -ENOMEM ? rc : store_failure(region, mysql, rc);
    }
    mysql->address = endpoint.local
                         ? region_copy_text(region, endpoint.path)
                         : region_printf(region, "%s:%u", endpoint.host, endpoint.port);
    buffer_init(&stream);
    rc = converse(&request, now_ms() + left_ms, &stream, &finished);
    if (rc == 0) {
        root->bytes_read += stream.length_bytes;
        rc = mysql_answer_read(
            buffer_text(&stream), stream.length_bytes, finished, region, mysql);
    } else if (rc != -ENOMEM) {
        rc = store_failure(region, mysql, rc);
    }
    buffer_release(&stream);
    mysql_endpoint_close(&endpoint);
    return rc;
}

static void add_gaps(struct facts *facts, const struct process_facts *process)
{
    const struct mysql_facts *mysql = process->mysql;

    if (mysql->state != FACT_OK) {
        gap_add(facts, "mysql", process->pid, mysql->state,
            mysql->why != NULL ? mysql->why : "it could not be asked");
    } else if (mysql->memory_state != FACT_OK &&
               (mysql->memory_state != FACT_ABSENT ||
                   mysql->values[MYSQL_FACT_MEMORY_USED].state != FACT_OK)) {
        /* MariaDB without Performance Schema counts all the same: nothing is missed. */
        gap_add(facts, "mysql memory", process->pid, mysql->memory_state,
            mysql->memory_why != NULL ? mysql->memory_why : "it could not be read");
    }
}

static int read_server(struct facts_root *root, struct facts *facts,
    struct process_facts *process, int64_t left_ms)
{
    struct process_folder folder;
    int rc;

    process->mysql = region_alloc(&facts->region, sizeof(*process->mysql));
    if (process->mysql == NULL) {
        return -ENOMEM;
    }
    process->mysql_count = 1;
    if (root->ask_nobody || left_ms <= 0) {
        process->mysql->why = region_copy_text(&facts->region,
            root->ask_nobody
                ? facts_not_asked
                : "not asked: the servers before it took too long to answer");
        return 0;
    }
    rc = process_folder_open(root, process->pid, &folder);
    if (rc == 0 && folder.stat.start_time_ticks != process->start_time_ticks) {
        process_folder_close(&folder);
        rc = -ESRCH;
    }
    if (rc != 0) {
        return store_failure(&facts->region, process->mysql, rc);
    }
    rc = ask(root, &facts->region, &folder, process,
        left_ms < MYSQL_SERVER_MS ? left_ms : MYSQL_SERVER_MS);
    process_folder_close(&folder);
    return rc;
}

int mysql_read(struct facts_root *root, struct facts *facts)
{
    const int64_t deadline_ms = now_ms() + MYSQL_TOTAL_MS;
    int rc = 0;

    /* A captured tree has no server that could be asked. */
    if (root->prefix[0] != '\0') {
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < facts->process_count; i++) {
        struct process_facts *process = &facts->processes[i];
        if (mysql_is_server(process)) {
            rc = read_server(root, facts, process, deadline_ms - now_ms());
            if (rc == 0) {
                add_gaps(facts, process);
            }
        }
    }
    return rc;
}
