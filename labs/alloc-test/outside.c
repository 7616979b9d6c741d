/*
 * outside.c - the process outside. It offers itself to the kernel's OOM killer, so that
 * it is the one that goes when memory runs out, and not the process that is looked at.
 *
 * Without a cgroup its share is computed by the lab, and is a limit of its address space.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base.h"
#include "kernel_view.h"
#include "parts.h"
#include "settings.h"

static void offer_to_oom_killer(void)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file >= 0) {
        (void)!write(file, "1000", 4);
        (void)close(file);
    }
}

static void limit_to(int64_t share_mib)
{
    const int64_t bytes =
        kernel_status_bytes(getpid(), "VmSize") + share_mib * (int64_t)LAB_MIB;
    const struct rlimit limit = {.rlim_cur = (rlim_t)bytes, .rlim_max = (rlim_t)bytes};

    (void)setrlimit(RLIMIT_AS, &limit);
}

static char *take(size_t bytes)
{
    char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

int outside_process(int count, char **arguments)
{
    int64_t mib = 1, chunks = 0, share_mib = -1;
    const struct setting settings[] = {
        {"mib", &mib, NULL, 1, 1 << 20, "to take"},
        {"chunks", &chunks, NULL, 0, 1, "of 1 MiB instead of one block"},
        {"share", &share_mib, NULL, 0, 1 << 20, "MiB it may have at most"},
    };

    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), NULL);
    offer_to_oom_killer();
    if (share_mib >= 0) {
        limit_to(share_mib);
    }
    char *block = chunks != 0 ? NULL : take((size_t)(mib * LAB_MIB));
    for (int64_t i = 0; i < mib; i++) {
        char *one = chunks != 0     ? take((size_t)LAB_MIB)
                    : block != NULL ? block + i * LAB_MIB
                                    : NULL;
        if (one == NULL) {
            return LAB_EXIT_DIFFERENT;
        }
        memset(one, 'x', (size_t)LAB_MIB);
        (void)dprintf(STDOUT_FILENO, "%" PRId64 "\n", i + 1);
    }
    return 0;
}
