/* test_host.c - the machine of a captured tree, and this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/host.h"
#include "fixture.h"

enum { REGION_BYTES = 1 << 20 };

static struct region region;
static struct host_facts host;

static void read_fixture(const char *name)
{
    struct facts_root root;

    region_release(&region);
    region_init(&region, REGION_BYTES);
    fixture_open(&root, name);
    assert_int_equal(host_read(&root, &region, &host), 0);
    assert_int_equal(host_read_page_counts(&root, &host), 0);
    facts_root_close(&root);
}

static void expect(enum host_fact fact, uint64_t value)
{
    assert_int_equal(host.values[fact].state, FACT_OK);
    assert_true(host.values[fact].value == value);
}

static void a_server_on_bare_metal(void **state)
{
    (void)state;
    read_fixture("host-bare-metal");
    assert_string_equal(host.kernel, "6.1.0-31-amd64");
    assert_string_equal(host.machine, "x86_64");
    assert_null(host.hypervisor);
    assert_string_equal(host.thp_enabled, "always");
    assert_string_equal(host.thp_defrag, "madvise");
    assert_int_equal(host.boot_unix_seconds, 1764500000);
    assert_int_equal(host.page_counts_state, FACT_OK);
    assert_false(host.page_counts_estimated);
    expect(HOST_FACT_MEM_TOTAL, 32768000ULL * 1024);
    expect(HOST_FACT_SLAB_RECLAIMABLE, 123456ULL * 1024);
    expect(HOST_FACT_CPUS_ONLINE, 13);
    expect(HOST_FACT_PRESSURE_SOME, 5150);
    expect(HOST_FACT_PRESSURE_FULL, 4242);
    /* This meminfo has no such line. */
    assert_int_equal(host.values[HOST_FACT_HUGETLB].state, FACT_ABSENT);
}

static void a_guest_whose_kernel_estimates_page_counts(void **state)
{
    (void)state;
    read_fixture("host-guest");
    assert_string_equal(host.hypervisor, "QEMU Standard PC (Q35 + ICH9, 2009)");
    assert_int_equal(host.page_counts_state, FACT_OK);
    assert_true(host.page_counts_estimated);
    /* No file of the architecture before Linux 6.1, and the tree has none. */
    assert_null(host.machine);
    /* Pressure is off: the kernel refuses to open the file; here it is not there. */
    assert_int_equal(host.values[HOST_FACT_PRESSURE_SOME].state, FACT_ABSENT);
    assert_int_equal(host.values[HOST_FACT_CPUS_ONLINE].state, FACT_MALFORMED);
    assert_int_equal(host.values[HOST_FACT_MEM_TOTAL].state, FACT_MALFORMED);
}

static void a_kernel_that_does_not_tell_how_it_was_built(void **state)
{
    (void)state;
    read_fixture("c42-virtual-machine");
    assert_string_equal(host.hypervisor, "OrbStack");
    assert_int_equal(host.page_counts_state, FACT_ABSENT);
    assert_null(host.thp_enabled);
}

static void a_guest_is_told_by_any_of_its_marks(void **state)
{
    (void)state;
    read_fixture("host-cpu-flag");
    assert_string_equal(host.hypervisor, "not named: the CPU's flag says so");
    read_fixture("host-arm-guest");
    assert_string_equal(host.hypervisor, "Amazon EC2 m7g.large");
    assert_string_equal(host.machine, "aarch64");
    read_fixture("host-arm-metal");
    assert_null(host.hypervisor);
}

static void this_machine(void **state)
{
    struct facts_root root;
    struct utsname name;
    struct timespec now;
    struct timespec since_boot;

    (void)state;
    region_release(&region);
    region_init(&region, REGION_BYTES);
    assert_int_equal(facts_root_open(&root, NULL, NULL), 0);
    assert_int_equal(host_read(&root, &region, &host), 0);
    assert_int_equal(host_read_page_counts(&root, &host), 0);
    facts_root_close(&root);
    assert_int_equal(uname(&name), 0);
    assert_string_equal(host.kernel, name.release);
    if (host.machine != NULL) {
        assert_string_equal(host.machine, name.machine);
    }
    assert_int_equal(host.page_bytes, sysconf(_SC_PAGESIZE));
    expect(HOST_FACT_CPUS_ONLINE, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &since_boot), 0);
    uint64_t boot = (uint64_t)(now.tv_sec - since_boot.tv_sec);
    assert_in_range(host.boot_unix_seconds, boot - 2, boot + 2);
    assert_in_range(host.values[HOST_FACT_MEM_TOTAL].value, 1 << 20, UINT64_MAX);
}

static int release_region(void **state)
{
    (void)state;
    region_release(&region);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_on_bare_metal),
        cmocka_unit_test(a_guest_whose_kernel_estimates_page_counts),
        cmocka_unit_test(a_kernel_that_does_not_tell_how_it_was_built),
        cmocka_unit_test(a_guest_is_told_by_any_of_its_marks),
        cmocka_unit_test(this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, release_region);
}
