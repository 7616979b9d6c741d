/*
 * A seccomp filter for one call.
 *
 * Zend MM grows a huge block by mremap(address, old, new, 0) and moves it when that fails
 * (Zend/zend_alloc.c, zend_mm_chunk_extend, PHP 8.2). Whether it fails depends on what
 * lies behind the block, which is the kernel's choice and differs between two processes;
 * a move costs a second block for a moment, so the peaks would differ by chance. With the
 * filter it fails always, on both sides. glibc's own mremap() calls carry MREMAP_MAYMOVE
 * and pass.
 */
#include "mremap_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Flags are the fourth argument; their low half on a little-endian machine. */
enum { FLAGS_OFFSET = offsetof(struct seccomp_data, args) + 3 * sizeof(__u64) };
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#    error "the filter reads the low half of an argument"
#endif

int mremap_filter_install(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS_OFFSET),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {
        .len = sizeof(program) / sizeof(program[0]), .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        return -errno;
    }
    return 0;
}
