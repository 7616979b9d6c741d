/*
 * test_allocator_detect.c - allocators by mapped files and by what the heap readers found, and
 * whether LD_PRELOAD took effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/allocator_detect.h"

enum { REGION_BYTES = 1 << 20, MOST_MAPPINGS = 4 };

/* A process made of a few mapped files; paths end at the first NULL. */
struct scene {
    struct process_facts process;
    struct mapping mappings[MOST_MAPPINGS];
    struct environment_facts preload;
    struct region region;
};

static struct scene scene;

static char *text(const char *constant)
{
    return region_copy_text(&scene.region, constant);
}

static void begin(const char *const *paths, const char *preload)
{
    size_t count = 0;

    memset(&scene, 0, sizeof(scene));
    region_init(&scene.region, REGION_BYTES);
    while (count < MOST_MAPPINGS && paths[count] != NULL) {
        scene.mappings[count] = (struct mapping){.start = 0x1000 * (count + 1),
            .end = 0x1000 * (count + 2),
            .inode = 7,
            .permissions = MAPPING_READ | MAPPING_EXECUTE,
            .path = text(paths[count])};
        count++;
    }
    scene.process = (struct process_facts){.pid = 1,
        .executable = text("/usr/sbin/server"),
        .mappings = scene.mappings,
        .mapping_count = count,
        .environment_state = FACT_OK};
    if (preload != NULL) {
        scene.preload = (struct environment_facts){text("LD_PRELOAD"), text(preload)};
        scene.process.environment = &scene.preload;
        scene.process.environment_count = 1;
    }
}

/* What was found of kind; the test fails when nothing was. */
static const struct allocator_facts *find(enum allocator_kind kind)
{
    static const struct allocator_facts none;

    for (size_t i = 0; i < scene.process.allocator_count; i++) {
        if (scene.process.allocators[i].kind == (uint32_t)kind) {
            return &scene.process.allocators[i];
        }
    }
    fail_msg("%s was not found", allocator_kind_names[kind]);
    return &none;
}

static void detect(void)
{
    assert_int_equal(allocator_detect(NULL, true, &scene.region, &scene.process), 0);
}

static void end(void)
{
    region_release(&scene.region);
}

static void names_libraries_by_their_files(void **state)
{
    static const struct {
        const char *path;
        enum allocator_kind kind;
    } cases[] = {
        {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", ALLOCATOR_JEMALLOC},
        {"/usr/lib/libtcmalloc_minimal.so.4.5.10", ALLOCATOR_TCMALLOC},
        {"/opt/libmimalloc-secure.so.2.1", ALLOCATOR_MIMALLOC},
        {"/usr/lib/libstrata-malloc.so", ALLOCATOR_STRATA},
        {"/lib/ld-musl-x86_64.so.1", ALLOCATOR_MUSL},
        {"/usr/lib/jvm/lib/server/libjvm.so", ALLOCATOR_JVM},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const paths[] = {"/usr/sbin/server", cases[i].path, NULL};
        begin(paths, NULL);
        detect();
        assert_int_equal(scene.process.allocator_count, 1);
        assert_true(find(cases[i].kind)->active);
        assert_non_null(find(cases[i].kind)->evidence);
        assert_false(find(cases[i].kind)->preloaded);
        end();
    }
}

static void a_file_that_is_not_code_proves_nothing(void **state)
{
    static const char *const paths[] = {"/tmp/jemalloc.profile", NULL};

    (void)state;
    begin(paths, NULL);
    scene.mappings[0].permissions = MAPPING_READ | MAPPING_WRITE;
    detect();
    assert_int_equal(scene.process.allocator_count, 0);
    end();
}

static void glibc_is_active_only_with_memory(void **state)
{
    static const char *const paths[] = {
        "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libjemalloc.so.2", NULL};
    struct glibc_arena arena = {.held_bytes = 0};

    (void)state;
    begin(paths, NULL); /* mapped, never used */
    detect();
    assert_false(find(ALLOCATOR_GLIBC)->active);
    assert_true(find(ALLOCATOR_JEMALLOC)->active);
    end();

    begin(paths, NULL); /* both in one process */
    arena.held_bytes = 135168;
    scene.process.glibc =
        (struct glibc_facts){.arenas = &arena, .arena_count = 1, .version = text("2.36")};
    detect();
    assert_true(find(ALLOCATOR_GLIBC)->active);
    assert_string_equal(find(ALLOCATOR_GLIBC)->version, "2.36");
    assert_true(find(ALLOCATOR_JEMALLOC)->active);
    end();
}

static void php_and_python_stand_on_top_of_malloc(void **state)
{
    static const char *const paths[] = {"/usr/lib/libpython3.11.so.1.0", NULL};
    struct zend_heap_facts heap = {.custom = false};
    struct span span = {.start = 1, .end = 2, .owner = SPAN_PYTHON_ARENA};

    (void)state;
    begin(paths, NULL);
    detect();
    assert_false(find(ALLOCATOR_PYTHON)->active); /* mapped, without arenas */
    scene.process.spans = &span;
    scene.process.span_count = 1;
    scene.process.zend.heaps = &heap;
    scene.process.zend.heap_count = 1;
    detect();
    assert_true(find(ALLOCATOR_PYTHON)->active);
    assert_true(find(ALLOCATOR_ZEND)->active);
    heap.custom = true; /* USE_ZEND_ALLOC=0 */
    detect();
    assert_false(find(ALLOCATOR_ZEND)->active);
    end();
}

static void go_is_seen_by_the_place_of_its_heap(void **state)
{
    static const char *const paths[] = {"", NULL};

    (void)state;
    begin(paths, NULL);
    scene.mappings[0].start = 0xc000000000;
    scene.mappings[0].end = 0xc000400000;
    scene.mappings[0].inode = 0;
    detect();
    assert_true(find(ALLOCATOR_GO)->active);
    end();
}

static void compares_preload_with_what_is_mapped(void **state)
{
    static const char *const paths[] = {
        "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4.5.10", NULL};
    static const struct {
        const char *preload;
        uint32_t state;
    } cases[] = {
        {NULL, FACT_ABSENT},
        {"", FACT_ABSENT},
        {" : ", FACT_ABSENT},
        {"libtcmalloc_minimal.so.4", FACT_OK},
        {"/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4", FACT_OK},
        {"libtcmalloc.so.4", FACT_MALFORMED},
        {"/opt/lib/libjemalloc.so.2", FACT_MALFORMED},
        {"libtcmalloc_minimal.so.4:libgone.so", FACT_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(paths, cases[i].preload);
        detect();
        assert_int_equal(scene.process.preload_state, cases[i].state);
        assert_int_equal(find(ALLOCATOR_TCMALLOC)->preloaded, i == 3 || i == 4 || i == 7);
        end();
    }
}

static void says_when_the_environment_was_denied(void **state)
{
    static const char *const paths[] = {NULL};

    (void)state;
    begin(paths, NULL);
    scene.process.environment_state = FACT_DENIED;
    detect();
    assert_int_equal(scene.process.preload_state, FACT_DENIED);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_libraries_by_their_files),
        cmocka_unit_test(a_file_that_is_not_code_proves_nothing),
        cmocka_unit_test(glibc_is_active_only_with_memory),
        cmocka_unit_test(php_and_python_stand_on_top_of_malloc),
        cmocka_unit_test(go_is_seen_by_the_place_of_its_heap),
        cmocka_unit_test(compares_preload_with_what_is_mapped),
        cmocka_unit_test(says_when_the_environment_was_denied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
