/* strata_image.c - see the header. */
#include "strata_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/heap_strata.h"

enum {
    PAGE = 4096,
    PAGES = (STRATA_DIRECTORY_OFFSET + sizeof(struct strata_directory)) / PAGE + 1
};

static int image_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct strata_image *image = (struct strata_image *)(void *)memory;
    const uint64_t offset = address - image->base;
    const uint64_t size = (uint64_t)PAGES * PAGE;

    if (address < image->base || offset > size || bytes > size - offset) {
        return -EFAULT;
    }
    for (uint64_t page = offset / PAGE; page * PAGE < offset + bytes; page++) {
        image->touched_absent = image->touched_absent || !image->present[page];
    }
    if (image->moving && offset == 0) {
        image->region->classes[4].free_blocks ^= 16;
        image->region->classes[4].sequence += 2;
    }
    memcpy(data, image->bytes + offset, bytes);
    return 0;
}

static int image_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    const struct strata_image *image = (const struct strata_image *)(const void *)memory;

    for (size_t i = 0; i < count; i++) {
        const uint64_t at = address + i * PAGE;
        const uint64_t page = (at - image->base) / PAGE;
        const bool heap = at >= image->heap && at < image->heap + STRATA_IMAGE_HEAP_BYTES;
        const bool own = at >= image->base && page < PAGES && image->present[page];
        bits[i] = heap || own ? PAGE_PRESENT : 0;
    }
    return 0;
}

/* Pages of a part of the image exist from now on. */
static void make_present(struct strata_image *image, const void *part, size_t bytes)
{
    const uint64_t offset = (uint64_t)((const uint8_t *)part - image->bytes);

    for (uint64_t page = offset / PAGE; page * PAGE < offset + bytes; page++) {
        image->present[page] = true;
    }
}

static void fill_region(struct strata_region *region)
{
    memcpy(region->magic, STRATA_LAYOUT_MAGIC, sizeof(region->magic));
    region->version = STRATA_LAYOUT_VERSION;
    region->bytes = offsetof(struct strata_region, cpus) + 64 * sizeof(region->cpus[0]);
    region->class_count = 41;
    region->cpu_count = 64;
    region->cpus_used = 2;
    region->process_id = 7;
    region->descriptor_bytes = 4096;
    region->table_bytes = 16384;
    region->classes[4] = (struct strata_layout_class){.sequence = 8,
        .block_bytes = 64,
        .slab_blocks = 1024,
        .slabs = 2,
        .free_blocks = 2048 - 1010,
        .touched_bytes = 17 * PAGE,
        .peak_out_blocks = 1500,
        .purged_bytes = PAGE,
        .sampled_requests = 10,
        .sampled_bytes = 600};
    region->cpus[0].counts[4] = 6;
    region->cpus[1].counts[4] = 4;
    region->units = (struct strata_layout_units){.sequence = 2,
        .mapped_bytes = STRATA_IMAGE_HEAP_BYTES,
        .free_bytes = STRATA_IMAGE_HEAP_BYTES - 4 * 65536,
        .dirty_bytes = 3 * PAGE,
        .peak_used_bytes = 10 * 65536};
    region->mixed = (struct strata_layout_mixed){
        .units = 1, .free_bytes = 65216, .touched_bytes = 2 * PAGE};
    region->mixed.out_blocks[4] = 5;
    region->large = (struct strata_layout_large){.large_bytes = 18 * PAGE,
        .large_blocks = 1,
        .large_asked_bytes = 70000,
        .peak_bytes = 18 * PAGE,
        .tail_bytes = PAGE};
    region->thread_count = region->tag_count = region->record_count = 1;
    memcpy(region->tags[0], "sql/sort", sizeof("sql/sort"));
    region->threads[0] = (struct strata_layout_thread){
        .thread_id = 8, .used_bytes = 640, .peak_bytes = 900, .name = "connection 17"};
    region->records[0] = (struct strata_layout_record){
        .used_bytes = 640, .used_blocks = 10, .peak_bytes = 900, .allocations = 20};
}

static void fill_directory(struct strata_image *image)
{
    struct strata_directory *directory = image->directory;

    memcpy(directory->magic, STRATA_DIRECTORY_MAGIC, sizeof(directory->magic));
    directory->places[0] =
        (struct strata_place){image->heap, STRATA_IMAGE_HEAP_BYTES | STRATA_PLACE_REGION};
    directory->places[1] =
        (struct strata_place){image->heap - 65536, 16384 | STRATA_PLACE_TABLE};
    directory->place_count = 2;
    make_present(image, directory, PAGE);
}

void strata_image_open(struct strata_image *image, bool shared)
{
    static const struct memory_operations operations = {
        .read = image_read, .pages = image_pages};
    static char segment[] = "/SYSV53540007", none[] = "";
    static char library[] = "/usr/lib/libstrata-malloc.so.1";

    *image =
        (struct strata_image){.memory = {.operations = &operations, .page_bytes = PAGE},
            .base = 0x7f0000010000,
            .heap = 0x7f1000000000,
            .bytes = calloc(PAGES, PAGE),
            .present = calloc(PAGES, sizeof(bool))};
    if (image->bytes == NULL || image->present == NULL) {
        abort();
    }
    image->region = (struct strata_region *)(void *)image->bytes;
    image->directory =
        (struct strata_directory *)(void *)(image->bytes + STRATA_DIRECTORY_OFFSET);
    fill_region(image->region);
    fill_directory(image);
    make_present(image, image->region, 2 * (size_t)PAGE);
    make_present(image, image->region->tags, sizeof(image->region->tags[0]));
    make_present(image, image->region->threads, sizeof(image->region->threads[0]));
    make_present(image, image->region->records, sizeof(image->region->records[0]));
    make_present(image, image->region->cpus, 2 * sizeof(image->region->cpus[0]));
    image->mappings[0] = (struct mapping){.start = image->base - 2 * PAGE,
        .end = image->base,
        .inode = 5,
        .permissions = MAPPING_READ | MAPPING_WRITE,
        .path = library};
    image->mappings[1] = (struct mapping){.start = image->base,
        .end = image->base + image->region->bytes / PAGE * PAGE + PAGE,
        .inode = shared ? 3 : 0,
        .permissions = MAPPING_READ | MAPPING_WRITE | (shared ? MAPPING_SHARED : 0),
        .path = shared ? segment : none,
        .deleted = shared};
    image->mappings[2] = (struct mapping){.start = image->heap,
        .end = image->heap + STRATA_IMAGE_HEAP_BYTES,
        .permissions = MAPPING_READ | MAPPING_WRITE,
        .path = none};
    image->process = (struct process_facts){.pid = 7,
        .mappings = image->mappings,
        .mapping_count = 3,
        .mappings_state = FACT_OK};
    region_init(&image->facts, (size_t)64 << 20);
}

void strata_image_close(struct strata_image *image)
{
    region_release(&image->facts);
    free(image->bytes);
    free(image->present);
}

void strata_image_read(struct strata_image *image)
{
    if (heap_strata_read(NULL, &image->memory, &image->facts, &image->process) != 0) {
        abort();
    }
}
