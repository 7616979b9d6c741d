/*
 * The front: chooses between the three ways to have a block (a class, units, a mapping),
 * and knows of any address which of them it came from. It owns no memory and no lock.
 *
 * malloc and free of a class are a table look-up and one sequence of percpu.h; all else is
 * out of line. The address map is read without a lock: an entry of a live block does not
 * change, and a caller who races with the free of his own block has no rights.
 */
#include "front.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "blockclass.h"
#include "busy.h"
#include "central.h"
#include "central_figures.h"
#include "decay.h"
#include "hard.h"
#include "huge.h"
#include "large.h"
#include "large_books.h"
#include "limit.h"
#include "mixed.h"
#include "os.h"
#include "percpu.h"
#include "relief.h"
#include "tags.h"
#include "unitmap.h"
#include "units.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define SLOW __attribute__((noinline, cold))
#define HEAP_NAME "malloc"

struct strata__front_foreign strata__front_foreign;

static SLOW void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

static void *refill(unsigned class, size_t bytes)
{
    strata__central_sample(class, bytes);
    void *block = strata__percpu_refill(class);
    if (UNLIKELY(block == NULL) &&
        strata__relief_after_refusal(strata__block_classes[class].bytes)) {
        block = strata__percpu_refill(class);
    }
    if (UNLIKELY(block == NULL)) {
        strata__limit_count_refusal();
    }
    strata__relief_note_alloc();
    return UNLIKELY(strata__hard_active) ? strata__hard_taken(block, class) : block;
}

/* Once tags are in use, every call comes this way (strata__front_use_tags). */
static void *alloc_tagged(unsigned class, size_t bytes)
{
    size_t block_bytes = strata__block_classes[class].bytes;
    if (!strata__tags_admit(block_bytes)) {
        return NULL;
    }
    void *block = strata__percpu_pop(strata__percpu_offset, class);
    if (block == NULL) {
        block = refill(class, bytes);
    }
    if (block != NULL) {
        strata__tags_charge(block, block_bytes);
    }
    return block;
}

void strata__front_leave(void)
{
    void *block = NULL;
    strata__busy_leave();
    while (UNLIKELY((block = strata__busy_deferred()) != NULL)) {
        strata__front_free(block);
    }
}

/* The decay thread is started from here, with calls of malloc of its own. */
static void leave_alloc(void)
{
    strata__front_leave();
    strata__decay_note_alloc();
}

static SLOW void *alloc_refill(unsigned class, size_t bytes)
{
    if (!strata__busy_enter()) {
        return refuse();
    }
    int saved = errno;
    void *block =
        strata__tags_are_active() ? alloc_tagged(class, bytes) : refill(class, bytes);
    leave_alloc();
    errno = saved;
    return block != NULL ? block : refuse();
}

static void *take_large(size_t bytes, size_t alignment, int *zeroed)
{
    void *block = strata__large_alloc(bytes, alignment, zeroed);
    if (UNLIKELY(block == NULL) && strata__relief_after_refusal(bytes)) {
        block = strata__large_alloc(bytes, alignment, zeroed);
    }
    if (UNLIKELY(block == NULL)) {
        strata__limit_count_refusal();
    }
    strata__relief_note_alloc();
    return block;
}

/* After a block of whole pages was taken. */
static void charge_large(void *block)
{
    if (strata__tags_are_active() && block != NULL) {
        strata__tags_charge(
            block, strata__large_bytes(block, strata__unitmap_get(block)));
    }
}

static SLOW void *alloc_large(size_t bytes, size_t alignment, int *zeroed)
{
    if (!strata__busy_enter()) {
        return refuse();
    }
    int saved = errno;
    void *block = NULL;
    if (!strata__tags_are_active() || strata__tags_admit(bytes)) {
        block = take_large(bytes, alignment, zeroed);
        charge_large(block);
    }
    leave_alloc();
    errno = saved;
    return block != NULL ? block : refuse();
}

/* Above STRATA__BLOCK_MAX: of a class if CPUs have room for it, else of whole pages. What
 * asks for zeroes is better off with pages, which may be known to be zero. */
static __attribute__((noinline)) void *alloc_above(size_t bytes)
{
    if (bytes <= STRATA__WIDE_MAX) {
        unsigned class = strata__wide_class_of(bytes);
        void *block = strata__percpu_pop(strata__percpu_fast_offset(), class);
        if (block != NULL) {
            return block;
        }
        if (strata__room_of(class) > 0) {
            return alloc_refill(class, bytes);
        }
    }
    int zeroed = 0;
    return alloc_large(bytes, 1, &zeroed);
}

void *strata__front_alloc(size_t bytes)
{
    if (UNLIKELY(bytes > STRATA__BLOCK_MAX)) {
        return alloc_above(bytes);
    }
    unsigned class = strata__block_class_of(bytes);
    void *block = strata__percpu_pop(strata__percpu_fast_offset(), class);
    return LIKELY(block != NULL) ? block : alloc_refill(class, bytes);
}

void *strata__front_calloc(size_t count, size_t bytes)
{
    size_t total = 0;
    if (UNLIKELY(__builtin_mul_overflow(count, bytes, &total))) {
        return refuse();
    }
    int zeroed = 0;
    void *block = total > STRATA__BLOCK_MAX ? alloc_large(total, 1, &zeroed)
                                            : strata__front_alloc(total);
    if (block != NULL && !zeroed) {
        memset(block, 0, total);
    }
    return block;
}

static void *take_aligned(unsigned class, size_t bytes, size_t alignment)
{
    void *block = NULL;
    strata__central_sample(class, bytes);
    if (strata__central_take_aligned(class, &block, alignment) == 0 &&
        strata__relief_after_refusal(strata__block_classes[class].bytes)) {
        (void)strata__central_take_aligned(class, &block, alignment);
    }
    if (UNLIKELY(block == NULL)) {
        strata__limit_count_refusal();
    }
    strata__relief_note_alloc();
    return block;
}

static SLOW void *alloc_aligned(unsigned class, size_t bytes, size_t alignment)
{
    if (!strata__busy_enter()) {
        return refuse();
    }
    size_t block_bytes = strata__block_classes[class].bytes;
    int saved = errno;
    void *block = NULL;
    if (!strata__tags_are_active() || strata__tags_admit(block_bytes)) {
        block = take_aligned(class, bytes, alignment);
        if (strata__tags_are_active() && block != NULL) {
            strata__tags_charge(block, block_bytes);
        }
    }
    leave_alloc();
    errno = saved;
    return block != NULL ? block : refuse();
}

/* Blocks of 16 bytes and more are aligned to 16, those of 8 to 8. */
void *strata__front_aligned(size_t alignment, size_t bytes)
{
    if (alignment <= STRATA__GRANULE_BYTES) {
        return strata__front_alloc(bytes > alignment ? bytes : alignment);
    }
    size_t least = bytes > alignment ? bytes : alignment;
    unsigned class = least > STRATA__BLOCK_MAX ? 0 : strata__block_class_of(least);
    class = class < STRATA__SLAB_CLASSES ? STRATA__SLAB_CLASSES : class;
    if (least > STRATA__BLOCK_MAX ||
        strata__block_classes[class].bytes + alignment > STRATA__BLOCK_MAX) {
        int zeroed = 0;
        return alloc_large(bytes > 0 ? bytes : 1, alignment, &zeroed);
    }
    return alloc_aligned(class, bytes, alignment);
}

/* With no lock held. A flush may have emptied slabs. */
static void after_free(void)
{
    strata__units_keep_within_bounds();
    strata__decay_note_free();
}

/* What else lies in the first unit of a huge block is not ours. */
static int is_foreign(const void *block, uint64_t entry)
{
    unsigned kind = strata__entry_kind(entry);
    return kind == 0 ||
           (kind == STRATA__KIND_HUGE && strata__large_start(entry) != block);
}

/* Of an address that no entry of the map stands for, before it is taken for the C
 * library's: the map knows of huge blocks the start only. A handler that has interrupted
 * a slow path, whose thread may have the lock, has to go without. */
static SLOW void refuse_inner(const void *block)
{
    if (strata__busy_enter()) {
        strata__large_refuse_inner(block);
        strata__front_leave();
    }
}

static SLOW void free_foreign(void *block)
{
    refuse_inner(block);
    if (strata__front_foreign.release == NULL) {
        strata__fatal(HEAP_NAME, "not an allocated block", block);
    }
    strata__front_foreign.release(block);
}

/* A block of a class that found no room on its CPU. In the stronger mode another block
 * than this one may leave the quarantine, or none. */
static void give(void *block, unsigned class)
{
    if (UNLIKELY(strata__hard_active)) {
        block = strata__hard_freed(block, &class);
    }
    if (block != NULL) {
        strata__percpu_flush(class, block);
        after_free();
    }
}

/* The counterpart of alloc_tagged; false when the CPU has no room for the block. */
static int free_tagged(void *block, unsigned class)
{
    strata__tags_release(block, strata__block_classes[class].bytes);
    enum strata__push pushed = strata__percpu_push(strata__percpu_offset, class, block);
    if (pushed == STRATA__PUSH_TWICE) {
        strata__fatal(HEAP_NAME, "double free", block);
    }
    return pushed == STRATA__PUSH_DONE;
}

/* Of a block in a slab or a mixed unit; STRATA__BLOCK_CLASSES where no block starts. */
static inline unsigned class_of(const void *block, uint64_t entry)
{
    unsigned kind = strata__entry_kind(entry);
    return kind == STRATA__KIND_MIXED ? strata__mixed_class(entry, block) : kind - 1;
}

static void free_large(void *block, uint64_t entry)
{
    if (strata__tags_are_active()) {
        strata__tags_release(block, strata__large_bytes(block, entry));
    }
    strata__large_free(block, entry);
    after_free();
}

static SLOW void free_slow(void *block, uint64_t entry, enum strata__push pushed)
{
    int saved = errno;
    unsigned class = class_of(block, entry);
    if (is_foreign(block, entry)) {
        free_foreign(block);
    } else if (pushed == STRATA__PUSH_TWICE) {
        strata__fatal(HEAP_NAME, "double free", block);
    } else if (class >= STRATA__BLOCK_CLASSES &&
               strata__entry_kind(entry) == STRATA__KIND_MIXED) {
        strata__fatal(HEAP_NAME, "not the start of a block", block);
    } else if (!strata__busy_enter()) {
        strata__busy_defer(block);
    } else {
        if (class >= STRATA__BLOCK_CLASSES) {
            free_large(block, entry);
        } else if (!strata__tags_are_active() || !free_tagged(block, class)) {
            give(block, class);
        }
        strata__front_leave();
    }
    errno = saved;
}

void strata__front_free(void *block)
{
    uint64_t entry = strata__unitmap_get(block);
    unsigned class = class_of(block, entry);
    enum strata__push pushed = STRATA__PUSH_FULL;
    if (LIKELY(class < STRATA__BLOCK_CLASSES)) {
        pushed = strata__percpu_push(strata__percpu_fast_offset(), class, block);
        if (LIKELY(pushed == STRATA__PUSH_DONE)) {
            return;
        }
    }
    if (block != NULL) {
        free_slow(block, entry, pushed);
    }
}

static size_t usable_of(void *block, uint64_t entry)
{
    unsigned class = class_of(block, entry);
    if (class < STRATA__BLOCK_CLASSES) {
        return strata__block_classes[class].bytes;
    }
    if (strata__entry_kind(entry) == STRATA__KIND_MIXED) {
        strata__fatal(HEAP_NAME, "not the start of a block", block);
    }
    return strata__large_bytes(block, entry);
}

size_t strata__front_usable(void *block)
{
    if (block == NULL) {
        return 0;
    }
    uint64_t entry = strata__unitmap_get(block);
    if (is_foreign(block, entry)) {
        refuse_inner(block);
        return strata__front_foreign.usable == NULL ? 0
                                                    : strata__front_foreign.usable(block);
    }
    unsigned class = class_of(block, entry);
    if (strata__hard_active && class < STRATA__BLOCK_CLASSES && strata__busy_enter()) {
        strata__central_verify(class, block); /* as free does in the stronger mode */
        strata__front_leave();
    }
    return usable_of(block, entry);
}

/* NULL also where another kind of block would do; errno is kept. */
static void *alloc_huge(size_t bytes)
{
    if (!strata__busy_enter()) {
        return NULL;
    }
    int saved = errno;
    void *block = strata__huge_alloc(bytes, 1);
    charge_large(block);
    strata__front_leave();
    errno = saved;
    return block;
}

/* Moves by copying. A block that has grown large once is likely to grow again, and the
 * kernel moves a mapping faster than memcpy moves bytes. */
static void *move(void *block, size_t old_bytes, size_t bytes)
{
    void *moved = NULL;
    if (bytes > STRATA__GROWN_MAX_BYTES && bytes > old_bytes && bytes <= PTRDIFF_MAX &&
        (!strata__tags_are_active() || strata__tags_has_room(bytes))) {
        moved = alloc_huge(bytes);
    }
    if (moved == NULL) {
        moved = strata__front_alloc(bytes);
    }
    if (moved != NULL) {
        memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
        strata__front_free(block);
    }
    return moved;
}

static void *resize_in_place(void *block, uint64_t entry, size_t old_bytes, size_t bytes)
{
    /* A smaller block stays where it is while it still uses half of its memory. */
    if (strata__entry_kind(entry) < STRATA__KIND_UNUSED) {
        return bytes <= old_bytes && bytes > old_bytes / 2 ? block : NULL;
    }
    if (bytes <= STRATA__BLOCK_MAX) {
        return NULL;
    }
    if (strata__tags_are_active() && bytes > old_bytes &&
        !strata__tags_may_grow(block, old_bytes, bytes)) {
        return NULL;
    }
    if (!strata__busy_enter()) {
        return NULL;
    }
    int saved = errno;
    const int tags = strata__tags_are_active();
    const unsigned lifted = tags ? strata__tags_lift(block) : 0;
    void *resized = strata__large_resize(block, entry, bytes);
    if (tags) {
        void *now = resized != NULL ? resized : block;
        strata__tags_settle(
            lifted, old_bytes, now, strata__large_bytes(now, strata__unitmap_get(now)));
    }
    strata__front_leave();
    errno = saved;
    return resized;
}

void *strata__front_realloc(void *block, size_t bytes)
{
    if (block == NULL) {
        return strata__front_alloc(bytes);
    }
    if (bytes == 0) {
        strata__front_free(block);
        return NULL;
    }
    uint64_t entry = strata__unitmap_get(block);
    if (is_foreign(block, entry)) {
        refuse_inner(block);
        if (strata__front_foreign.resize == NULL) {
            strata__fatal(HEAP_NAME, "not an allocated block", block);
        }
        return strata__front_foreign.resize(block, bytes);
    }
    size_t old_bytes = usable_of(block, entry);
    void *resized = resize_in_place(block, entry, old_bytes, bytes);
    if (resized == NULL) {
        resized = move(block, old_bytes, bytes);
    }
    if (UNLIKELY(resized == NULL) && bytes > old_bytes) {
        /* That has purged: pages behind the block may be had now. */
        resized = resize_in_place(block, entry, old_bytes, bytes);
    }
    /* Shrinking cannot fail: the block may stay as it is. */
    if (resized == NULL && bytes <= old_bytes) {
        resized = block;
    }
    return resized;
}

int strata__front_trim(void)
{
    if (!strata__busy_enter()) {
        return 0;
    }
    size_t purged = strata__relief_purge();
    strata__front_leave();
    return purged > 0;
}

void strata__front_use_tags(void)
{
    strata__percpu_close_fast_path();
}
