/* test_container_mounts.c - the files that runtimes mount over /etc tell the container. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/container_mounts.h"

#define ID "3f4e1c0a9b7d2e5f6a8c1d0b4e7f9a2c5d8e1b3f6a9c2d5e8f1b4a7c0d3e6f92"
#define UID "0c6a7f10-6c3e-4b8f-9a57-0e3f5d1c2b4a"
#define FILE_AT(ROOT, POINT) "7 6 8:1 " ROOT " " POINT " rw - ext4 /dev/sda1 rw\n"

enum { REGION_BYTES = 1 << 16 };

static struct region region;

static struct cgroup_identity identify(const char *text)
{
    struct cgroup_identity identity = {0};

    region_release(&region);
    region_init(&region, REGION_BYTES);
    assert_int_equal(container_mounts_identify(text, &region, &identity), 0);
    return identity;
}

static void docker_and_podman_tell_the_id(void **state)
{
    struct cgroup_identity identity =
        identify(FILE_AT("/var/lib/docker/containers/" ID "/hostname", "/etc/hostname"));

    (void)state;
    assert_string_equal(identity.runtime, "docker");
    assert_string_equal(identity.container_id, ID);
    identity = identify(FILE_AT(
        "/containers/storage/overlay-containers/" ID "/userdata/hosts", "/etc/hosts"));
    assert_string_equal(identity.runtime, "podman");
    assert_string_equal(identity.container_id, ID);
    region_release(&region);
}

static void kubernetes_tells_the_pod_only(void **state)
{
    struct cgroup_identity identity = identify(
        FILE_AT("/var/lib/kubelet/pods/" UID "/etc-hosts", "/etc/hosts")
            FILE_AT("/x/overlay-containers/" ID "/userdata/hostname", "/etc/hostname"));

    (void)state;
    assert_string_equal(identity.runtime, "kubernetes");
    assert_string_equal(identity.pod_uid, UID);
    assert_null(identity.container_id);
    region_release(&region);
}

static void other_mounts_tell_nothing(void **state)
{
    struct cgroup_identity identity =
        identify(FILE_AT("/var/lib/docker/containers/" ID "/data", "/data")
                FILE_AT("/var/lib/docker/containers/abc/hostname", "/etc/hostname"));

    (void)state;
    assert_null(identity.runtime);
    assert_null(identity.container_id);
    assert_null(identity.pod_uid);
    region_release(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docker_and_podman_tell_the_id),
        cmocka_unit_test(kubernetes_tells_the_pod_only),
        cmocka_unit_test(other_mounts_tell_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
