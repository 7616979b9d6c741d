/*
 * malloc and its family as the C library names them, for LD_PRELOAD or linking; the start
 * of the library. The work is done in front.c.
 *
 * C++: operator new and delete of libstdc++ and libc++ call malloc, aligned_alloc and free,
 * so they come here without being replaced, and keep their exceptions and new handlers.
 *
 * Early calls: everything works before the constructor has run, on the central lists. The
 * constructor of a preloaded library runs before those of the program and of the
 * libraries that were not loaded for the C library; so the fork handlers are registered
 * first, and glibc runs the first one's prepare last and its child first (nptl,
 * __run_fork_handlers): other people's handlers may call malloc.
 *
 * Blocks of the C library's own malloc can arrive here: allocated by a library that was
 * bound to it with RTLD_DEEPBIND, before deepbind.c was there. They are known as not ours
 * by the address map, and go to __libc_free, which glibc exports.
 */
#include "override.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cgroup.h"
#include "decay.h"
#include "deepbind.h"
#include "fork.h"
#include "front.h"
#include "front_figures.h"
#include "hard.h"
#include "launcher.h"
#include "limit.h"
#include "options.h"
#include "os.h"
#include "pagesize.h"
#include "percpu.h"
#include "publish.h"
#include "region.h"
#include "relief.h"
#include "text.h"

/* A quota of two CPUs is spent by threads on more than two, one after another. */
#define TABLES_OF_A_QUOTA 4
#define STATS_TEXT_MAX 1024

/* glibc's own, by labels since the names are reserved; NULL in another C library. */
extern void libc_free(void *block) __asm__("__libc_free") __attribute__((weak));
extern void *libc_realloc(void *block, size_t bytes) __asm__("__libc_realloc")
    __attribute__((weak));

static size_t libc_usable(void *block)
{
    void *symbol = dlsym(RTLD_NEXT, "malloc_usable_size");
    size_t (*usable)(void *) = (size_t(*)(void *))(uintptr_t)symbol;
    return usable == NULL ? 0 : usable(block);
}

__attribute__((constructor(101))) static void start(void)
{
    int saved = errno;
    if (getauxval(AT_PAGESZ) != STRATA__PAGE_BYTES) {
        strata__fatal("malloc", "this kernel's pages are not of 4096 bytes", NULL);
    }
    strata__front_foreign = (struct strata__front_foreign){
        .release = libc_free, .resize = libc_realloc, .usable = libc_usable};
    struct strata__options options;
    strata__options_read(&options, environ);
    strata__limit_set(options.limit_bytes, options.soft_limit_bytes);
    strata__region_start(!options.region      ? STRATA__REGION_PRIVATE
                         : options.region_for ? STRATA__REGION_ALL
                                              : STRATA__REGION_OWNER);
    strata__publish_all();
    if (options.hardened) {
        strata__hard_start();
    } else if (options.cpu_tables) {
        strata__percpu_bound(TABLES_OF_A_QUOTA * strata__cgroup_cpus(""));
        strata__percpu_start();
    }
    if (options.keep_deepbind) {
        strata__deepbind_mask = ~0;
    }
    /* It can fail only without memory; then a child of a threaded process has to be
     * lucky, as with any allocator that has no handlers. */
    (void)pthread_atfork(strata__fork_prepare, strata__fork_parent, strata__fork_child);
    if (options.pressure) {
        strata__decay_watch_pressure(strata__relief_under_pressure);
    }
    if (options.background) {
        strata__decay_allow_thread();
    }
    if (getauxval(AT_SECURE) == 0) {
        strata__launcher_greet(environ);
    }
    errno = saved;
}

void *malloc(size_t bytes)
{
    return strata__front_alloc(bytes);
}

void free(void *block)
{
    strata__front_free(block);
}

void cfree(void *block)
{
    strata__front_free(block);
}

void free_sized(void *block, size_t bytes)
{
    (void)bytes;
    strata__front_free(block);
}

void free_aligned_sized(void *block, size_t alignment, size_t bytes)
{
    (void)alignment;
    (void)bytes;
    strata__front_free(block);
}

void *calloc(size_t count, size_t bytes)
{
    return strata__front_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    return strata__front_realloc(block, bytes);
}

void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return strata__front_realloc(block, total);
}

static int is_power_of_two(size_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

/* As glibc from 2.38 on; older ones round the alignment up. */
void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return strata__front_aligned(alignment, bytes);
}

/* glibc rounds an alignment that is no power of two up (malloc/malloc.c 2.36,
 * _mid_memalign). */
void *memalign(size_t alignment, size_t bytes)
{
    size_t power = 1;
    while (power < alignment && power <= SIZE_MAX / 4) {
        power *= 2;
    }
    if (power < alignment) {
        errno = EINVAL;
        return NULL;
    }
    return strata__front_aligned(power, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0) {
        return EINVAL;
    }
    int saved = errno;
    void *got = strata__front_aligned(alignment, bytes);
    errno = saved;
    if (got == NULL) {
        return ENOMEM;
    }
    *block = got;
    return 0;
}

void *valloc(size_t bytes)
{
    return strata__front_aligned(STRATA__PAGE_BYTES, bytes);
}

void *pvalloc(size_t bytes)
{
    if (bytes > SIZE_MAX - STRATA__PAGE_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    size_t pages = (bytes + STRATA__PAGE_BYTES - 1) / STRATA__PAGE_BYTES;
    return strata__front_aligned(
        STRATA__PAGE_BYTES, (pages > 0 ? pages : 1) * STRATA__PAGE_BYTES);
}

size_t malloc_usable_size(void *block)
{
    return strata__front_usable(block);
}

/* There is no top of a heap which the pad could be left at. */
int malloc_trim(size_t pad_bytes)
{
    (void)pad_bytes;
    return strata__front_trim();
}

/* The parameters tune parts of glibc's malloc that do not exist here. As there: 1. */
int mallopt(int parameter, int value)
{
    (void)parameter;
    (void)value;
    return 1;
}

/* Blocks that CPUs keep count as free; glibc counts those of its thread caches as used. */
struct strata__mallinfo2 mallinfo2(void)
{
    struct strata__front_stats stats;
    strata__front_get_stats(&stats);
    size_t small_bytes = stats.in_use_bytes - stats.large_bytes;
    return (struct strata__mallinfo2){
        .arena = stats.resident_bytes - stats.large_bytes,
        .hblks = stats.large_blocks,
        .hblkhd = stats.large_bytes,
        .uordblks = small_bytes,
        .fordblks = stats.free_bytes + stats.cached_bytes,
        .keepcost = stats.free_bytes,
    };
}

static int clamp(size_t number)
{
    return number > INT_MAX ? INT_MAX : (int)number;
}

/* glibc's wraps around above 2 GiB; this one stops there. */
struct strata__mallinfo mallinfo(void)
{
    struct strata__mallinfo2 info = mallinfo2();
    return (struct strata__mallinfo){
        .arena = clamp(info.arena),
        .hblks = clamp(info.hblks),
        .hblkhd = clamp(info.hblkhd),
        .uordblks = clamp(info.uordblks),
        .fordblks = clamp(info.fordblks),
        .keepcost = clamp(info.keepcost),
    };
}

static void add_line(struct strata__text *text, const char *name, size_t bytes)
{
    strata__text_add(text, name);
    strata__text_number(text, bytes);
    strata__text_add(text, "\n");
}

void malloc_stats(void)
{
    struct strata__front_stats stats;
    struct strata__text text;
    char buffer[STATS_TEXT_MAX];
    strata__front_get_stats(&stats);
    strata__text_init(&text, buffer, sizeof(buffer));
    strata__text_add(&text, "strata malloc, bytes:\n");
    add_line(&text, "in use         = ", stats.in_use_bytes);
    add_line(&text, "kept by CPUs   = ", stats.cached_bytes);
    add_line(&text, "free, resident = ", stats.free_bytes);
    add_line(&text, "descriptors    = ", stats.metadata_bytes);
    add_line(&text, "address space  = ", stats.mapped_bytes);
    strata__text_complain(&text);
}
