/*
 * old_kernel.c - runs a command as a kernel of 4.14 would: later system calls do not exist.
 *
 *   old_kernel PROGRAM [ARGUMENT...]
 *
 * statx (332) was the last number of x86-64 in 4.11, io_pgetevents (333) came with 4.18. Later
 * calls fail with ENOSYS, as does the ioctl PAGEMAP_SCAN of 6.7 with ENOTTY.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FIRST_LATER_CALL = 333,
    PAGEMAP_SCAN_REQUEST = (int)0xc0606610, /* _IOWR('f', 16, struct pm_scan_arg) */
};

#define REFUSE(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define LOAD(member)                                                                     \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, member))

static int forbid_later_calls(void)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_LATER_CALL, 0, 1),
        REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)PAGEMAP_SCAN_REQUEST, 0, 1),
        REFUSE(ENOTTY),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {
        .len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0
               ? -errno
               : 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: old_kernel PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    if (forbid_later_calls() != 0) {
        fprintf(stderr, "old_kernel: cannot set the filter: %s\n", strerror(errno));
        return 1;
    }
    execv(argv[1], argv + 1);
    fprintf(stderr, "old_kernel: cannot run '%s': %s\n", argv[1], strerror(errno));
    return 1;
}
