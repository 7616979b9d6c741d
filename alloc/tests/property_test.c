/* Random operations against a shadow model which recounts after every operation. The
 * model has its own class table; it knows every block's size, place and contents.
 *
 * STRATA_TEST_OPS operations per layout (200,000 if unset), seed STRATA_TEST_SEED. */
#include "support.h"

#include <string.h>

#include "heap_common.h"

#define SLOTS 192
#define AUDIT_EVERY 64

static const size_t classes[] = {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160,
    192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560,
    3072};

struct slot {
    unsigned char *start;
    size_t bytes;
    unsigned char mark;
};

struct model {
    struct strata_heap *heap;
    enum strata_layout layout;
    uint64_t random;
    size_t peak_used;
    size_t peak_real;
    struct slot slots[SLOTS];
};

static size_t rounded(enum strata_layout layout, size_t bytes)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (bytes <= classes[i]) {
            return classes[i];
        }
    }
    size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
    int node = layout == STRATA_LAYOUT_ZEND && bytes > CHUNK - PAGE;
    return pages + (node ? 24 : 0);
}

static size_t random_size(struct model *model)
{
    uint64_t dice = test_random(&model->random) % 100;
    size_t most = dice < 70 ? 400 : dice < 85 ? 3200 : dice < 95 ? 40000 : 600000;
    if (dice == 99 && test_random(&model->random) % 4 == 0) {
        most = 6 * MIB;
    }
    return test_random(&model->random) % most;
}

/* Marks the first and last bytes and one in each page: what another block would hit. */
static void paint(struct slot *slot, unsigned char mark)
{
    slot->mark = mark;
    for (size_t at = 0; at < slot->bytes; at += at < 64 ? 1 : PAGE / 2) {
        slot->start[at] = mark;
    }
    if (slot->bytes > 0) {
        slot->start[slot->bytes - 1] = mark;
    }
}

static void check_paint(const struct slot *slot, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += at < 64 ? 1 : PAGE / 2) {
        assert_int_equal(slot->start[at], slot->mark);
    }
}

static void recount(struct model *model)
{
    size_t used = 0;
    size_t huge_blocks = 0;
    size_t huge_bytes = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct slot *slot = &model->slots[i];
        if (slot->start != NULL) {
            used += rounded(model->layout, slot->bytes);
            int huge = slot->bytes > CHUNK - PAGE;
            huge_blocks += (size_t)huge;
            huge_bytes += huge ? (slot->bytes + PAGE - 1) / PAGE * PAGE : 0;
        }
    }
    struct strata_heap_stats stats = test_stats(model->heap);
    assert_int_equal(stats.used_bytes, used);
    assert_int_equal(stats.huge_blocks, huge_blocks);
    assert_true(
        stats.peak_used_bytes >= used && stats.peak_used_bytes >= model->peak_used);
    assert_true(stats.peak_real_bytes >= stats.real_bytes);
    assert_true(stats.peak_real_bytes >= model->peak_real);
    assert_true(stats.real_bytes >= used);
    if (model->layout == STRATA_LAYOUT_ZEND) {
        assert_int_equal(
            stats.real_bytes, (stats.chunks + stats.cached_chunks) * CHUNK + huge_bytes);
    }
    model->peak_used = stats.peak_used_bytes;
    model->peak_real = stats.peak_real_bytes;
}

static void release(struct model *model, struct slot *slot)
{
    check_paint(slot, slot->bytes);
    strata_free(model->heap, slot->start);
    *slot = (struct slot){0};
}

static void obtain(struct model *model, struct slot *slot, unsigned char mark)
{
    size_t used = test_stats(model->heap).used_bytes;
    slot->bytes = random_size(model);
    uint64_t dice = test_random(&model->random) % 16;
    if (dice == 0) {
        size_t alignment = (size_t)8 << test_random(&model->random) % 16;
        slot->bytes = (slot->bytes + alignment) & ~(alignment - 1);
        slot->start = strata_alloc_aligned(model->heap, alignment, slot->bytes);
        assert_int_equal((uintptr_t)slot->start % alignment, 0);
        /* The class may be higher than the size's own: take what it is. */
        slot->bytes = strata_usable_bytes(model->heap, slot->start);
    } else if (dice == 1) {
        slot->start = strata_calloc(model->heap, 1, slot->bytes);
        slot->mark = 0;
        check_paint(slot, slot->bytes);
    } else {
        slot->start = strata_alloc(model->heap, slot->bytes);
    }
    assert_non_null(slot->start);
    paint(slot, mark);
    size_t peak = used + rounded(model->layout, slot->bytes);
    size_t wanted = peak > model->peak_used ? peak : model->peak_used;
    assert_int_equal(test_stats(model->heap).peak_used_bytes, wanted);
}

static void change(struct model *model, struct slot *slot, unsigned char mark)
{
    size_t bytes = random_size(model);
    size_t kept = bytes < slot->bytes ? bytes : slot->bytes;
    slot->start = strata_realloc(model->heap, slot->start, bytes);
    assert_non_null(slot->start);
    check_paint(slot, kept);
    slot->bytes = strata_usable_bytes(model->heap, slot->start);
    assert_true(slot->bytes >= bytes);
    paint(slot, mark);
}

static void end_request(struct model *model)
{
    strata_heap_end_request(model->heap);
    memset(model->slots, 0, sizeof(model->slots));
    model->peak_used = 0;
    model->peak_real = 0;
}

static void one_operation(struct model *model, unsigned long number)
{
    struct slot *slot = &model->slots[test_random(&model->random) % SLOTS];
    unsigned char mark = (unsigned char)(number % 255 + 1);
    uint64_t dice = test_random(&model->random) % 10000;
    if (dice < 5) {
        end_request(model);
    } else if (dice < 15) {
        strata_heap_trim(model->heap);
    } else if (dice < 20) {
        strata_heap_reset_peak(model->heap);
        model->peak_used = 0;
        model->peak_real = 0;
    } else if (slot->start == NULL) {
        obtain(model, slot, mark);
    } else if (dice < 2500) {
        change(model, slot, mark);
    } else {
        release(model, slot);
    }
}

static void run(enum strata_layout layout)
{
    unsigned long operations = test_setting("STRATA_TEST_OPS", 200000);
    static struct model model;
    model = (struct model){.heap = test_heap(layout, 0), .layout = layout};
    model.random = test_setting("STRATA_TEST_SEED", 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (unsigned long i = 0; i < operations; i++) {
        one_operation(&model, i);
        recount(&model);
        if (i % AUDIT_EVERY == 0) {
            model.heap->layout->check(model.heap);
        }
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (model.slots[i].start != NULL) {
            release(&model, &model.slots[i]);
        }
    }
    recount(&model);
    strata_heap_delete(model.heap);
}

static void compact(void **state)
{
    (void)state;
    run(STRATA_LAYOUT_COMPACT);
}

static void zend(void **state)
{
    (void)state;
    run(STRATA_LAYOUT_ZEND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact),
        cmocka_unit_test(zend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
