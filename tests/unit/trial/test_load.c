/* test_load.c - the outputs of wrk and ab, and answers of servers, whole and cut short. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trial/load.h"

static const char wrk_text[] =
    "Running 10s test @ http://127.0.0.1:1/query\n"
    "Requests/sec:    386.50\n"
    "STRATA 3870 10010000 1 2 3 129000 128000 140000 155000 190000\n";

/* ab 2.4.71 against 20 FPM workers, cut to what is read */
static const char ab_text[] =
    "Time taken for tests:   3.003 seconds\n"
    "Complete requests:      1141\n"
    "Failed requests:        5\n"
    "   (Connect: 0, Receive: 0, Length: 3, Exceptions: 2)\n"
    "Non-2xx responses:      2\n"
    "Requests per second:    379.96 [#/sec] (mean)\n"
    "Percentage of the requests served within a certain time (ms)\n"
    "  50%    128\n  66%    130\n  75%    131\n  80%    132\n  90%    140\n"
    "  95%    150\n  98%    152\n  99%    155\n 100%    190 (longest request)\n";

static void wrk_by_its_script(void **state)
{
    struct load_result result = {.tool = LOAD_WRK};

    (void)state;
    load_parse_wrk(wrk_text, &result);
    assert_true(result.complete);
    assert_int_equal(result.requests, 3867);
    assert_int_equal(result.bad_status, 1);
    assert_int_equal(result.bad_body, 2);
    assert_int_equal(result.failed, 3);
    assert_true(result.seconds > 10.009 && result.seconds < 10.011);
    assert_int_equal((int)result.p99_us, 155000);
    assert_int_equal((int)result.most_us, 190000);
}

static void wrk_cut_short_is_no_result(void **state)
{
    char text[sizeof(wrk_text)];

    (void)state;
    for (size_t bytes = 0; bytes + 8 < sizeof(wrk_text); bytes++) {
        struct load_result result = {.tool = LOAD_WRK};
        memcpy(text, wrk_text, bytes);
        text[bytes] = '\0';
        load_parse_wrk(text, &result);
        assert_false(result.complete);
        assert_true(result.why[0] != '\0');
    }
}

static void ab_by_its_table(void **state)
{
    struct load_result result = {.tool = LOAD_AB};

    (void)state;
    load_parse_ab(ab_text, &result);
    assert_true(result.complete);
    assert_int_equal(result.requests, 1141 - 5 - 2);
    assert_int_equal(result.bad_body, 3);
    assert_int_equal(result.failed, 2);
    assert_int_equal(result.bad_status, 2);
    assert_int_equal((int)result.p50_us, 128000);
    assert_int_equal((int)result.p99_us, 155000);
    assert_int_equal((int)result.most_us, 190000);
}

static void ab_that_failed_is_no_result(void **state)
{
    struct load_result result = {.tool = LOAD_AB};

    (void)state;
    load_parse_ab("apr_socket_recv: Connection refused (111)\n", &result);
    assert_false(result.complete);
    assert_true(result.why[0] != '\0');
}

/* A server for one connection, in a child: reads a request, sends answer and fill bytes more. */
static pid_t serve_once(const char *answer, size_t fill, char url[64])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(address);
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char request[1024];

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &bytes), 0);
    (void)snprintf(url, 64, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(30);
        const int client = accept(listening, NULL, NULL);
        (void)recv(client, request, sizeof(request), 0);
        (void)send(client, answer, strlen(answer), MSG_NOSIGNAL);
        memset(request, 'x', sizeof(request));
        for (size_t sent = 0; sent < fill; sent += sizeof(request)) {
            (void)send(client, request, sizeof(request), MSG_NOSIGNAL);
        }
        _exit(0);
    }
    (void)close(listening);
    return child;
}

static int probe_of(const char *answer, size_t fill)
{
    static const struct load_expected any = {.prefix = ""};
    char url[64];
    const pid_t child = serve_once(answer, fill, url);
    const int rc = load_probe(url, &any);

    assert_int_equal(waitpid(child, NULL, 0), child);
    return rc;
}

/* Debian's FPM listens on a Unix socket. */
static void a_unix_socket_is_loaded(void **state)
{
    static const struct load_expected hello = {.prefix = "hello"};
    static const char text[] = "Content-type: text/html\r\n\r\nhello";
    const char head[8] = {1, 6, 0, 1, 0, sizeof(text) - 1, 0, 0};
    const char end[16] = {1, 3, 0, 1, 0, 8, 0, 0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char request[4096];
    char url[256];

    (void)state;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/strata-load-%d.sock",
        (int)getpid());
    (void)snprintf(url, sizeof(url), "fastcgi://unix:%s:/page.php?q", address.sun_path);
    assert_int_equal(load_probe(url, &hello), -ENOENT);
    const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(
        bind(listening, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listening, 1), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int client = accept(listening, NULL, NULL);
        (void)recv(client, request, sizeof(request), 0);
        (void)send(client, head, sizeof(head), MSG_NOSIGNAL);
        (void)send(client, text, sizeof(text) - 1, MSG_NOSIGNAL);
        (void)send(client, end, sizeof(end), MSG_NOSIGNAL);
        _exit(0);
    }
    (void)close(listening);
    const int rc = load_probe(url, &hello);
    (void)unlink(address.sun_path);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rc, 0);
}

static void an_answer_that_was_cut_off_is_none(void **state)
{
    (void)state;
    assert_int_equal(probe_of("HTTP/1.1 200 OK\r\n\r\nhello", 0), 0);
    assert_int_equal(probe_of("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", 0), 0);
    assert_int_equal(
        probe_of("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", 0), -EPROTO);
    assert_int_equal(
        probe_of("HTTP/1.1 200 OK\r\nContent-Length:-5\r\n\r\nhello", 0), -EPROTO);
    assert_int_equal(
        probe_of(
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello", 0),
        -EPROTO);
    assert_int_equal(probe_of("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", 0), -EPROTO);
}

static void an_answer_without_end_is_told(void **state)
{
    (void)state;
    assert_int_equal(probe_of("HTTP/1.1 200 OK\r\n\r\n", 8 << 20), -EFBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrk_by_its_script),
        cmocka_unit_test(wrk_cut_short_is_no_result),
        cmocka_unit_test(ab_by_its_table),
        cmocka_unit_test(ab_that_failed_is_no_result),
        cmocka_unit_test(an_answer_that_was_cut_off_is_none),
        cmocka_unit_test(a_unix_socket_is_loaded),
        cmocka_unit_test(an_answer_without_end_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
