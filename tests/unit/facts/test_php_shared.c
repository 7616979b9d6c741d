/* test_php_shared.c - segments of OPcache and APCu, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/php_shared.h"
#include "zend_image.h"

static const struct zend_image_build build = {"8.2.36", 0x110, 0x128, 0x148, 0x1e0};

/* The last chunk of the image is the shared mapping; words are written to its start. */
struct scene {
    struct zend_image image;
    struct region region;
    struct mapping mappings[2];
    struct process_facts process;
    uint64_t start;
};

static int setup(void **state)
{
    static struct scene scene;

    scene = (struct scene){0};
    zend_image_open(&scene.image, &build);
    region_init(&scene.region, 1 << 20);
    scene.start = scene.image.base + (ZEND_IMAGE_CHUNKS - 1) * (uint64_t)ZEND_CHUNK_BYTES;
    scene.mappings[0] = (struct mapping){.start = scene.start,
        .end = scene.start + ZEND_CHUNK_BYTES,
        .permissions = MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED,
        .path = (char *)"/dev/zero"};
    scene.mappings[1] = (struct mapping){
        .start = 0x1000, .end = 0x2000, .path = (char *)"/usr/lib/php/20220829/apcu.so"};
    scene.process =
        (struct process_facts){.mappings = scene.mappings, .mapping_count = 2};
    *state = &scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    region_release(&scene->region);
    zend_image_close(&scene->image);
    return 0;
}

static void write_words(struct scene *scene, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        zend_image_word(&scene->image, scene->start + i * 8, words[i]);
    }
}

/* As 8.2.36 writes it: the list at 0x50, its only segment at 0x58. */
static void write_opcache(struct scene *scene)
{
    const uint64_t words[] = {scene->start + 0x50, 1, 4096, 0, 0, 0, 0, 0, 0, 0,
        scene->start + 0x58, ZEND_CHUNK_BYTES, ZEND_CHUNK_BYTES, 8192, scene->start};

    write_words(scene, words, sizeof(words) / sizeof(words[0]));
}

static void assert_none(struct scene *scene)
{
    assert_int_equal(
        php_shared_read(&scene->image.memory, &scene->region, &scene->process), 0);
    assert_int_equal(scene->process.span_count, 0);
}

static void assert_owner(struct scene *scene, uint32_t owner)
{
    assert_int_equal(
        php_shared_read(&scene->image.memory, &scene->region, &scene->process), 0);
    assert_int_equal(scene->process.span_count, 1);
    assert_int_equal(scene->process.spans[0].owner, owner);
    assert_int_equal(scene->process.spans[0].start, scene->start);
    assert_int_equal(scene->process.spans[0].end, scene->start + ZEND_CHUNK_BYTES);
    assert_int_equal(scene->process.spans[0].resident.value, ZEND_PAGE_BYTES);
}

static void opcache_names_its_own_segment(void **state)
{
    write_opcache(*state);
    assert_owner(*state, SPAN_OPCACHE);
}

/* As 8.4 has it by default: the segment's size has that of the JIT's buffer in it. */
static void the_end_of_opcache_is_the_jits(void **state)
{
    struct scene *scene = *state;
    const uint64_t middle = scene->start + ZEND_CHUNK_BYTES / 4;

    write_opcache(scene);
    scene->mappings[1] = scene->mappings[0];
    scene->mappings[0].end = scene->mappings[1].start = middle;
    scene->mappings[1].permissions = MAPPING_READ | MAPPING_EXECUTE | MAPPING_SHARED;
    scene->mappings[1].inode = 1;
    assert_none(scene); /* another object that happens to lie there */
    scene->mappings[0].inode = 1;
    assert_int_equal(
        php_shared_read(&scene->image.memory, &scene->region, &scene->process), 0);
    assert_int_equal(scene->process.span_count, 2);
    assert_int_equal(scene->process.spans[0].end, middle);
    assert_int_equal(scene->process.spans[1].start, middle);
    assert_int_equal(scene->process.spans[1].end, scene->start + ZEND_CHUNK_BYTES);
    assert_int_equal(scene->process.spans[1].owner, SPAN_OPCACHE);
}

static void a_segment_of_another_place_is_not_opcache(void **state)
{
    struct scene *scene = *state;

    write_opcache(scene);
    zend_image_word(&scene->image, scene->start + 0x70, scene->start + 4096);
    assert_none(scene);
    write_opcache(scene);
    zend_image_word(&scene->image, scene->start, UINT64_MAX - 7);
    assert_none(scene);
}

static void apcu_counts_only_where_it_is_loaded(void **state)
{
    struct scene *scene = *state;
    const uint64_t words[] = {0, 0, 0x80, 0, 0, ZEND_CHUNK_BYTES, 0x1df750};

    write_words(scene, words, sizeof(words) / sizeof(words[0]));
    scene->process.mapping_count = 1;
    assert_none(scene);
    scene->process.mapping_count = 2;
    assert_owner(scene, SPAN_APCU);
}

static void private_memory_is_left_alone(void **state)
{
    struct scene *scene = *state;

    write_opcache(scene);
    scene->mappings[0].permissions = MAPPING_READ | MAPPING_WRITE;
    assert_none(scene);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(opcache_names_its_own_segment),
        CASE(the_end_of_opcache_is_the_jits),
        CASE(a_segment_of_another_place_is_not_opcache),
        CASE(apcu_counts_only_where_it_is_loaded),
        CASE(private_memory_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
