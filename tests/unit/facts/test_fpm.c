/* test_fpm.c - pool sections, sizes, the status page, FastCGI records. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "facts/fastcgi.h"
#include "facts/fpm_config.h"
#include "facts/fpm_status.h"

static struct facts facts;

static int open_region(void **state)
{
    (void)state;
    region_init(&facts.region, 64 << 20);
    return 0;
}

static int close_region(void **state)
{
    (void)state;
    region_release(&facts.region);
    return 0;
}

static size_t parse(const char *text, struct fpm_pool_facts **pools)
{
    char *copy = region_copy_text(&facts.region, text);

    facts.fpm_pools = NULL;
    facts.fpm_pool_count = 0;
    assert_int_equal(fpm_config_parse(copy, "php-fpm.conf", &facts), 0);
    *pools = facts.fpm_pools;
    return facts.fpm_pool_count;
}

/* A name of 300 KB, 3,400 times in a value: no path, and no gigabyte. */
static void a_value_longer_than_any_path_is_none(void **state)
{
    enum { NAME_BYTES = 300000, TIMES = 3400 };
    struct fpm_pool_facts *pools;
    char *text = malloc(NAME_BYTES + TIMES * 5 + 100);
    char *at = text;

    (void)state;
    assert_non_null(text);
    *at++ = '[';
    memset(at, 'a', NAME_BYTES);
    at = stpcpy(at + NAME_BYTES, "]\nlisten = ");
    for (int i = 0; i < TIMES; i++) {
        at = stpcpy(at, "$pool");
    }
    (void)stpcpy(at, "\npm.max_children = 3\n");
    assert_int_equal(parse(text, &pools), 1);
    assert_string_equal(pools[0].listen, "");
    assert_int_equal(pools[0].max_children.value, 3);
    free(text);
}

static void pool_sections_become_pools_and_global_does_not(void **state)
{
    struct fpm_pool_facts *pools;

    (void)state;
    assert_int_equal(parse("; comment\n"
                           "[global]\n"
                           "pid = /run/php/php-fpm.pid\n"
                           "pm.max_children = 7\n"
                           "[www]\n"
                           "listen = /run/php/$pool.sock ; the socket\n"
                           "pm = dynamic\n"
                           "pm.max_children = 20\n"
                           "pm.process_idle_timeout = 2m\n"
                           "pm.status_path = \"/status;$pool\"\n"
                           "php_admin_value[memory_limit] = 192M\n"
                           "php_value[memory_limit] = 64M\n"
                           "[the 'shop']\n"
                           "pm = ondemand\n"
                           "pm.max_children = many\n"
                           "php_value[memory_limit] = -1\n"
                           "php_admin_value[opcache.memory_consumption] = 64\n",
                         &pools),
        2);
    assert_string_equal(pools[0].name, "www");
    assert_string_equal(pools[0].listen, "/run/php/www.sock");
    assert_string_equal(pools[0].status_path, "/status;www");
    assert_int_equal(pools[0].manager, FPM_DYNAMIC);
    assert_int_equal(pools[0].max_children.value, 20);
    assert_int_equal(pools[0].idle_timeout_seconds.value, 120);
    assert_int_equal(pools[0].memory_limit_bytes.value, 192 << 20);
    assert_true(pools[0].memory_limit_admin);
    assert_false(pools[0].opcache_size_in_pool);
    assert_string_equal(pools[1].name, "the 'shop'");
    assert_int_equal(pools[1].max_children.state, FACT_MALFORMED);
    assert_int_equal(pools[1].memory_limit_bytes.state, FACT_ABSENT);
    assert_int_equal(pools[1].max_requests.state, FACT_ABSENT);
    assert_true(pools[1].opcache_size_in_pool);
}

static void a_continued_section_is_one_pool(void **state)
{
    struct fpm_pool_facts *pools;

    (void)state;
    assert_int_equal(parse("[a]\npm=static\n[b]\n[a]\npm.max_children=3\n[", &pools), 2);
    assert_int_equal(pools[0].manager, FPM_STATIC);
    assert_int_equal(pools[0].max_children.value, 3);
}

static void sizes_are_read_as_php_reads_them(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t bytes;
    } cases[] = {
        {"128M", 0, 128 << 20},
        {"1g", 0, 1 << 30},
        {"512K", 0, 512 << 10},
        {"1048576", 0, 1 << 20},
        {"-1", -ENOENT, 0},
        {"", -EINVAL, 0},
        {"12X", -EINVAL, 0},
        {"1MB", -EINVAL, 0},
        {"99999999999G", -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = 0;
        assert_int_equal(fpm_config_size(cases[i].text, &bytes), cases[i].rc);
        if (cases[i].rc == 0) {
            assert_int_equal(bytes, cases[i].bytes);
        }
    }
}

static void read_fixture(const char *name, struct buffer *answer)
{
    char path[512];
    int length = snprintf(path, sizeof(path), "%s/fpm/%s", STRATA_FIXTURES, name);
    FILE *file;
    size_t got;

    assert_true(length > 0 && (size_t)length < sizeof(path));
    file = fopen(path, "rb");
    assert_non_null(file);
    char *place = buffer_reserve(answer, 1 << 16);
    assert_non_null(place);
    got = fread(place, 1, 1 << 16, file);
    buffer_commit(answer, got);
    fclose(file);
}

static void the_status_page_of_a_real_pool_is_read(void **state)
{
    struct fpm_pool_facts pool = {.name = region_copy_text(&facts.region, "www")};
    struct buffer answer;

    (void)state;
    buffer_init(&answer);
    read_fixture("status.php82.full.json", &answer);
    assert_int_equal(
        fpm_status_parse(answer.data, answer.length_bytes, &facts.region, &pool), 0);
    assert_int_equal(pool.total.state, FACT_OK);
    assert_int_equal(pool.total.value, pool.worker_count);
    assert_int_equal(pool.memory_peak.state, FACT_ABSENT);
    assert_true(pool.worker_count > 0);
    assert_true(pool.workers[0].pid > 0);
    buffer_release(&answer);
}

static int parse_answer(const char *answer)
{
    struct fpm_pool_facts pool = {.name = region_copy_text(&facts.region, "www")};

    return fpm_status_parse(answer, strlen(answer), &facts.region, &pool);
}

static void what_is_not_the_page_is_refused(void **state)
{
    (void)state;
    assert_int_equal(
        parse_answer("Status: 404 Not Found\r\n\r\nFile not found.\n"), -ENOENT);
    assert_int_equal(parse_answer("Content-type: text/html\r\n\r\n<html>"), -EINVAL);
    assert_int_equal(parse_answer("X: y\r\n\r\n{\"pool\":\"other\"}"), -EINVAL);
    assert_int_equal(parse_answer("no headers at all"), -EINVAL);
    assert_int_equal(parse_answer(""), -EINVAL);
    assert_int_equal(
        parse_answer("X: y\r\n\r\n{\"pool\":\"www\",\"processes\":[{\"pid\":-4}]}"),
        -EINVAL);
    assert_int_equal(parse_answer("X: y\r\n\r\n{\"pool\":\"www\",\"processes\":[]}"), 0);
}

static void records_are_taken_apart_wherever_they_are_cut(void **state)
{
    static const uint8_t data[] = {1, 6, 0, 1, 0, 3, 2, 0, 'a', 'b', 'c', 0,
        0,                                               /* stdout */
        1, 7, 0, 1, 0, 1, 0, 0, '!',                     /* stderr */
        1, 6, 0, 1, 0, 0, 0, 0,                          /* empty */
        1, 3, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; /* end */

    (void)state;
    for (size_t bytes = 0; bytes <= sizeof(data); bytes++) {
        struct buffer answer;
        size_t used;
        buffer_init(&answer);
        int rc = fastcgi_decode(data, bytes, &used, &answer);
        assert_int_equal(rc, bytes == sizeof(data) ? 1 : 0);
        assert_true(used <= bytes);
        assert_string_equal(buffer_text(&answer), bytes >= 13 ? "abc" : "");
        buffer_release(&answer);
    }
}

static void a_remote_address_is_never_connected_to(void **state)
{
    static const char *const wrong[] = {"192.0.2.1:9000", "[2001:db8::1]:9000",
        "example.org:9000", "127.0.0.1:0", "127.0.0.1:70000", "127.0.0.1", ":", ""};
    struct buffer answer;

    (void)state;
    buffer_init(&answer);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fastcgi_request request = {.listen = wrong[i],
            .path_prefix = "",
            .script = "/status",
            .query = "",
            .timeout_ms = 50};
        assert_int_equal(fastcgi_get(&request, &answer), -EINVAL);
    }
    buffer_release(&answer);
}

/* A folder for files and sockets that a master could name. */
struct place {
    char folder[64];
    char path[96];
    int root_fd;
};

static void open_place(struct place *place, const char *name)
{
    *place = (struct place){.folder = "/tmp/strata-test-fpm-XXXXXX"};
    assert_non_null(mkdtemp(place->folder));
    (void)snprintf(place->path, sizeof(place->path), "%s/%s", place->folder, name);
    place->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(place->root_fd >= 0);
}

static void drop_place(struct place *place)
{
    close(place->root_fd);
    assert_int_equal(unlink(place->path), 0);
    assert_int_equal(rmdir(place->folder), 0);
}

static int read_config(const struct place *place, const char *file, struct error *error)
{
    struct facts_root root;

    facts.fpm_pools = NULL;
    facts.fpm_pool_count = 0;
    error_reset(error);
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    int rc = fpm_config_read(&root, place->root_fd, file, &facts, error);
    facts_root_close(&root);
    return rc;
}

static void only_regular_files_are_opened(void **state)
{
    struct error error;
    struct place place;

    (void)state;
    open_place(&place, "fifo");
    assert_int_equal(mkfifo(place.path, 0600), 0);
    assert_int_equal(read_config(&place, place.path, &error), -EINVAL);
    assert_non_null(strstr(error.text, "not a regular file"));
    assert_int_equal(read_config(&place, "/dev/zero", &error), -EINVAL);
    assert_int_equal(read_config(&place, place.folder, &error), -EINVAL);
    drop_place(&place);
}

/* Thousands of sections are a reason to stop reading, not one to say that memory is short. */
static void pools_beyond_the_bound_are_not_read(void **state)
{
    struct error error;
    struct place place;

    (void)state;
    open_place(&place, "many.conf");
    FILE *file = fopen(place.path, "we");
    assert_non_null(file);
    for (int i = 0; i <= FPM_MAX_POOLS; i++) {
        assert_true(fprintf(file, "[p%d]\n", i) > 0);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(read_config(&place, place.path, &error), -EFBIG);
    assert_non_null(strstr(error.text, "4096 pools"));
    assert_int_equal(facts.fpm_pool_count, FPM_MAX_POOLS);
    drop_place(&place);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(
        bind(fd, (const struct sockaddr *)&address, (socklen_t)sizeof(address)), 0);
    assert_int_equal(listen(fd, 2), 0);
    return fd;
}

/* How many bytes the next connection brings before it ends. */
static ssize_t received_by(int listener)
{
    char data[4096];
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    assert_true(fd >= 0);
    ssize_t got = recv(fd, data, sizeof(data), 0);
    close(fd);
    return got;
}

/* A forged title must not make root run scripts in the pool of another master. */
static void only_the_masters_own_socket_is_asked(void **state)
{
    struct fastcgi_request request = {
        .path_prefix = "", .script = "/status", .query = "", .timeout_ms = 20};
    struct buffer answer;
    struct place place;

    (void)state;
    buffer_init(&answer);
    open_place(&place, "socket");
    int listener = listen_at(place.path);
    request.listen = place.path;
    request.server_pid = getppid();
    assert_int_equal(fastcgi_get(&request, &answer), -EREMOTE);
    assert_int_equal(received_by(listener), 0);
    request.server_pid = getpid();
    assert_int_equal(fastcgi_get(&request, &answer), -ETIMEDOUT);
    assert_true(received_by(listener) > 0);
    close(listener);
    drop_place(&place);
    buffer_release(&answer);
}

/* Loopback of the master's network namespace is not loopback of ours. */
static void a_port_of_another_network_is_not_tried(void **state)
{
    const struct fastcgi_request request = {.listen = "127.0.0.1:9",
        .path_prefix = "",
        .script = "/status",
        .query = "",
        .timeout_ms = 50};
    struct buffer answer;

    (void)state;
    buffer_init(&answer);
    assert_int_equal(fastcgi_get(&request, &answer), -EREMOTE);
    buffer_release(&answer);
}

/* Of one busy worker, which is all that was looked at, nothing follows for the others. */
static void r_a_busy_worker_is_not_the_pool(void **state)
{
    int64_t left_ms = FPM_STATUS_TOTAL_MS;
    const struct fpm_master master = {
        .path_prefix = "", .pid = getpid(), .same_network = true, .left_ms = &left_ms};
    struct fpm_pool_facts pool = {.name = region_copy_text(&facts.region, "www"),
        .status_path = region_copy_text(&facts.region, "/status"),
        .listen = region_copy_text(&facts.region, "127.0.0.1:9")};

    (void)state;
    assert_int_equal(fpm_status_read(&master, false, &facts.region, &pool), 0);
    assert_int_equal(pool.status_state, FACT_ABSENT);
    assert_non_null(strstr(pool.status_why, "every worker that was looked at is busy"));
}

static void no_pool_is_asked_when_the_time_is_over(void **state)
{
    int64_t left_ms = 0;
    const struct fpm_master master = {
        .path_prefix = "", .pid = getpid(), .same_network = true, .left_ms = &left_ms};
    struct fpm_pool_facts pool = {.name = region_copy_text(&facts.region, "www"),
        .status_path = region_copy_text(&facts.region, "/status"),
        .status_listen = region_copy_text(&facts.region, "127.0.0.1:9")};

    (void)state;
    assert_int_equal(fpm_status_read(&master, false, &facts.region, &pool), 0);
    assert_int_equal(pool.status_state, FACT_ABSENT);
    assert_non_null(strstr(pool.status_why, "took too long"));
}

static void no_pool_is_asked_when_nobody_is_to_be(void **state)
{
    int64_t left_ms = FPM_STATUS_TOTAL_MS;
    const struct fpm_master master = {.path_prefix = "",
        .pid = getpid(),
        .same_network = true,
        .ask_nobody = true,
        .left_ms = &left_ms};
    struct fpm_pool_facts pool = {.name = region_copy_text(&facts.region, "www"),
        .status_path = region_copy_text(&facts.region, "/status")};
    struct place place;

    (void)state;
    open_place(&place, "socket");
    int listener = listen_at(place.path);
    pool.listen = region_copy_text(&facts.region, place.path);
    assert_int_equal(fpm_status_read(&master, true, &facts.region, &pool), 0);
    assert_int_equal(poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, 0), 0);
    assert_int_equal(pool.status_state, FACT_ABSENT);
    assert_string_equal(pool.status_why, facts_not_asked);
    close(listener);
    drop_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_sections_become_pools_and_global_does_not),
        cmocka_unit_test(a_value_longer_than_any_path_is_none),
        cmocka_unit_test(a_continued_section_is_one_pool),
        cmocka_unit_test(sizes_are_read_as_php_reads_them),
        cmocka_unit_test(the_status_page_of_a_real_pool_is_read),
        cmocka_unit_test(what_is_not_the_page_is_refused),
        cmocka_unit_test(records_are_taken_apart_wherever_they_are_cut),
        cmocka_unit_test(a_remote_address_is_never_connected_to),
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(pools_beyond_the_bound_are_not_read),
        cmocka_unit_test(only_the_masters_own_socket_is_asked),
        cmocka_unit_test(a_port_of_another_network_is_not_tried),
        cmocka_unit_test(r_a_busy_worker_is_not_the_pool),
        cmocka_unit_test(no_pool_is_asked_when_the_time_is_over),
        cmocka_unit_test(no_pool_is_asked_when_nobody_is_to_be),
    };

    return cmocka_run_group_tests(tests, open_region, close_region);
}
