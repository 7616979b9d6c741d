/* test_cgroup_path.c - every shape of path that is known, and what must not be taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/cgroup_path.h"

#define ID "3f4e1c0a9b7d2e5f6a8c1d0b4e7f9a2c5d8e1b3f6a9c2d5e8f1b4a7c0d3e6f92"
#define OTHER "9d8c7b6a5f4e3d2c1b0a99887766554433221100ffeeddccbbaa0123456789ab"
#define UID "0c6a7f10-6c3e-4b8f-9a57-0e3f5d1c2b4a"
#define UID_ "0c6a7f10_6c3e_4b8f_9a57_0e3f5d1c2b4a"
#define STATIC_UID "0c6a7f106c3e4b8f9a570e3f5d1c2b4a"

struct shape {
    const char *path;
    const char *runtime;
    const char *container;
    const char *unit;
    const char *pod;
};

static const struct shape shapes[] = {
    {"/", NULL, NULL, NULL, NULL},
    {"", NULL, NULL, NULL, NULL},
    {"/docker/" ID, "docker", ID, NULL, NULL},
    {"/docker/" ID "/docker/" OTHER, "docker", OTHER, NULL, NULL},
    {"/docker/" ID "/system.slice/cron.service", "docker", ID, "cron.service", NULL},
    {"/system.slice/docker-" ID ".scope", "docker", ID, "docker-" ID ".scope", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope",
        "docker", ID, "docker-" ID ".scope", NULL},
    {"/my-parent/" ID, "container", ID, NULL, NULL},
    {"/system.slice/other-" ID ".scope", "container", ID, "other-" ID ".scope", NULL},

    {"/kubepods/burstable/pod" UID "/" ID, "kubernetes", ID, NULL, UID},
    {"/kubepods/besteffort/pod" UID "/" ID, "kubernetes", ID, NULL, UID},
    {"/kubepods/pod" UID "/" ID, "kubernetes", ID, NULL, UID},
    {"/kubepods/pod" STATIC_UID "/" ID, "kubernetes", ID, NULL, STATIC_UID},
    {"/kubepods/pod" UID "/crio-" ID, "crio", ID, NULL, UID},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
     ".slice/cri-containerd-" ID ".scope",
        "containerd", ID, "cri-containerd-" ID ".scope", UID},
    {"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", "crio", ID,
        "crio-" ID ".scope", UID},
    {"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container", "crio", ID,
        "crio-" ID ".scope", UID},
    {"/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" ID ".scope", "docker", ID,
        "docker-" ID ".scope", UID},
    {"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", NULL, NULL,
        "crio-conmon-" ID ".scope", UID},
    {"/system.slice/containerd.service/kubepods-besteffort-pod" UID_
     ".slice:cri-containerd:" ID,
        "containerd", ID, "containerd.service", UID},
    {"/kubelet/kubepods/besteffort/pod" UID "/" ID, "kubernetes", ID, NULL, UID},
    {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
     ".slice/cri-containerd-" ID ".scope",
        "containerd", ID, "cri-containerd-" ID ".scope", UID},

    {"/machine.slice/libpod-" ID ".scope", "podman", ID, "libpod-" ID ".scope", NULL},
    {"/machine.slice/libpod-" ID ".scope/container", "podman", ID, "libpod-" ID ".scope",
        NULL},
    {"/machine.slice/libpod-" ID ".scope/container/init.scope", "podman", ID,
        "libpod-" ID ".scope", NULL},
    {"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL,
        "libpod-conmon-" ID ".scope", NULL},
    {"/libpod_parent/libpod-" ID, "podman", ID, NULL, NULL},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
     ".scope/container",
        "podman", ID, "libpod-" ID ".scope", NULL},

    {"/default/" ID, "containerd", ID, NULL, NULL},
    {"/default/redis", "containerd", "redis", NULL, NULL},
    {"/k8s.io/" ID, "containerd", ID, NULL, NULL},
    {"/system.slice/nerdctl-" ID ".scope", "containerd", ID, "nerdctl-" ID ".scope",
        NULL},
    {"/ecs/0123456789abcdef0123456789abcdef/" ID, "ecs", ID, NULL, NULL},
    {"/ecs/cluster/0123456789abcdef0123456789abcdef/" ID, "ecs", ID, NULL, NULL},
    {"/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-12345",
        "ecs", "0123456789abcdef0123456789abcdef-12345", NULL, NULL},
    {"/garden/" ID, "garden", ID, NULL, NULL},

    {"/lxc.payload.web1", "lxc", "web1", NULL, NULL},
    {"/lxc.payload.web1/init.scope", "lxc", "web1", "init.scope", NULL},
    {"/lxc.payload/web1/system.slice/ssh.service", "lxc", "web1", "ssh.service", NULL},
    {"/lxc/web1", "lxc", "web1", NULL, NULL},
    {"/lxc.monitor.web1", NULL, NULL, NULL, NULL},
    {"/machine.slice/systemd-nspawn@deb.service/payload", "nspawn", "deb",
        "systemd-nspawn@deb.service", NULL},
    {"/machine.slice/machine-deb.scope", "nspawn", "deb", "machine-deb.scope", NULL},
    {"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "libvirt",
        "qemu\\x2d1\\x2dvm", "machine-qemu\\x2d1\\x2dvm.scope", NULL},

    {"/system.slice/php8.2-fpm.service", NULL, NULL, "php8.2-fpm.service", NULL},
    {"/system.slice/system-getty.slice/getty@tty1.service", NULL, NULL,
        "getty@tty1.service", NULL},
    {"/system.slice/_cpu.service", NULL, NULL, "cpu.service", NULL},
    {"/system.slice/gitlab.service/puma/worker.service", NULL, NULL, "gitlab.service",
        NULL},
    {"/user.slice/user-1000.slice/session-3.scope", NULL, NULL, "session-3.scope", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/redis.service", NULL, NULL,
        "redis.service", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/init.scope", NULL, NULL, "init.scope",
        NULL},
    {"/user.slice/user-1000.slice/user@1000.service", NULL, NULL, "user@1000.service",
        NULL},
    {"/init.scope", NULL, NULL, "init.scope", NULL},
    {"/system.slice", NULL, NULL, "system.slice", NULL},
    {"/system.slice/dev-hugepages.mount", NULL, NULL, "dev-hugepages.mount", NULL},

    /* Not what they look like. */
    {"/process_api/56ad19271b76d7ed641bd60fce256bf8", NULL, NULL, NULL, NULL},
    {"/docker/" ID "0", NULL, NULL, NULL, NULL},
    {"/docker/3F4E1C0A9B7D2E5F6A8C1D0B4E7F9A2C5D8E1B3F6A9C2D5E8F1B4A7C0D3E6F92", NULL,
        NULL, NULL, NULL},
    {"/podrick/" UID, NULL, NULL, NULL, NULL},
    {"/kubepods/pod-of-mine", NULL, NULL, NULL, NULL},
    {"/kubepods/pod0c6a7f10-6c3e-4b8f-9a57+0e3f5d1c2b4a", NULL, NULL, NULL, NULL},
    {"/srv/default/redis", NULL, NULL, NULL, NULL},
    {"/srv/lxc/web1", NULL, NULL, NULL, NULL},
    {"/lxc.payload.", NULL, NULL, NULL, NULL},
    {"/machine.slice/machine-.scope", NULL, NULL, "machine-.scope", NULL},
    {"/.service", NULL, NULL, NULL, NULL},
    {"/a:b:c", NULL, NULL, NULL, NULL},
    {"/:::", NULL, NULL, NULL, NULL},
    {"/-" ID, NULL, NULL, NULL, NULL},
    {"//docker//" ID "//", "docker", ID, NULL, NULL},
    {"/../docker/" ID, "docker", ID, NULL, NULL},
};

static void same_or_null(
    const char *path, const char *what, const char *is, const char *should)
{
    if ((is == NULL) != (should == NULL) || (is != NULL && strcmp(is, should) != 0)) {
        fail_msg("%s: %s is %s instead of %s", path, what, is == NULL ? "none" : is,
            should == NULL ? "none" : should);
    }
}

static void every_shape_is_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const struct shape *shape = &shapes[i];
        struct cgroup_identity identity;
        struct region region;

        region_init(&region, 4096);
        assert_int_equal(cgroup_path_identify(shape->path, &region, &identity), 0);
        same_or_null(shape->path, "runtime", identity.runtime, shape->runtime);
        same_or_null(shape->path, "container", identity.container_id, shape->container);
        same_or_null(shape->path, "unit", identity.unit, shape->unit);
        same_or_null(shape->path, "pod", identity.pod_uid, shape->pod);
        region_release(&region);
    }
}

static void parents_end_at_the_root(void **state)
{
    char path[] = "/a/b c/d";
    char outside[] = "/../../x";

    (void)state;
    assert_true(cgroup_path_to_parent(path));
    assert_string_equal(path, "/a/b c");
    assert_true(cgroup_path_to_parent(path));
    assert_true(cgroup_path_to_parent(path));
    assert_string_equal(path, "/");
    assert_false(cgroup_path_to_parent(path));
    assert_string_equal(path, "/");
    assert_true(cgroup_path_to_parent(outside));
    assert_string_equal(outside, "/../..");
    assert_false(cgroup_path_to_parent(outside));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_recognised),
        cmocka_unit_test(parents_end_at_the_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
