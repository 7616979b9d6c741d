/*
 * child_region.c - finds the region among the mappings of a child and keeps it attached.
 *
 * A segment of System V shared memory shows in /proc/PID/maps under a name made of its
 * key, with its id as the inode (ipc/shm.c). Marked for removal, it lives until its last
 * user is gone, and that is us: so the figures of the moment of the child's end can be
 * read when it has ended. The child writes there and is not trusted: sums saturate, counts
 * are bounded by the layout.
 */
#include "facts/child_region.h"

#include <stdio.h>
#include <string.h>
#include <sys/shm.h>

#include "base/number.h"
#include "facts/mapping_line.h"
#include "strata/layout.h"

enum { LINE_BYTES = 4400, NAME_BYTES = 64 };

static const char library_name[] = "/libstrata-malloc.so";

static bool looks_right(const struct strata_region *region, uint64_t bytes)
{
    return bytes >= sizeof(*region) - sizeof(region->cpus) &&
           memcmp(region->magic, STRATA_LAYOUT_MAGIC, sizeof(STRATA_LAYOUT_MAGIC)) == 0 &&
           region->version == STRATA_LAYOUT_VERSION;
}

void child_region_release(struct child_region *child)
{
    if (child->region != NULL) {
        (void)shmdt(child->region);
    }
    child->region = NULL;
}

static void attach(struct child_region *child, uint64_t inode)
{
    struct shmid_ds status;

    if (child->region != NULL && child->inode == inode) {
        return;
    }
    const void *address = shmat((int)inode, NULL, SHM_RDONLY);
    if (address == (void *)-1) {
        return;
    }
    if (shmctl((int)inode, IPC_STAT, &status) != 0 ||
        !looks_right(address, status.shm_segsz)) {
        (void)shmdt(address);
        return;
    }
    child_region_release(child);
    child->region = address;
    child->bytes = status.shm_segsz;
    child->inode = inode;
}

static void read_mapping(struct child_region *child, char *line)
{
    struct mapping mapping;
    char name[NAME_BYTES];
    char *path;

    line[strcspn(line, "\n")] = '\0';
    if (mapping_line_parse(line, &mapping, &path) != 0) {
        return;
    }
    if (strstr(path, library_name) != NULL) {
        child->preloaded = true;
    }
    (void)snprintf(name, sizeof(name), "/SYSV%04x", STRATA_LAYOUT_KEY >> 16);
    if (strncmp(path, name, strlen(name)) == 0 && mapping.inode <= INT32_MAX) {
        attach(child, mapping.inode);
    }
}

void child_region_look(struct child_region *child, pid_t pid)
{
    char path[NAME_BYTES];
    char line[LINE_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL) {
        return;
    }
    while (fgets(line, sizeof(line), maps) != NULL) {
        read_mapping(child, line);
    }
    (void)fclose(maps);
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Blocks of a class that CPUs keep. */
static uint64_t cached_blocks(
    const struct strata_region *region, uint64_t bytes, unsigned class)
{
    uint64_t room =
        (bytes - (sizeof(*region) - sizeof(region->cpus))) / sizeof(region->cpus[0]);
    uint64_t cpus = number_smaller(region->cpu_count, STRATA_LAYOUT_CPUS);
    uint64_t blocks = 0;

    for (uint64_t i = 0; i < cpus && i < room; i++) {
        blocks += region->cpus[i].counts[class];
    }
    return blocks;
}

bool child_region_read(const struct child_region *child, struct child_layers *layers)
{
    const struct strata_region *region = child->region;
    uint64_t touched = 0;

    *layers = (struct child_layers){0};
    if (region == NULL || !looks_right(region, child->bytes)) {
        return false;
    }
    uint64_t large = number_add(region->large.large_bytes, region->large.huge_bytes);
    layers->in_use_bytes = large;
    for (unsigned i = 0; i < region->class_count && i < STRATA_LAYOUT_CLASSES; i++) {
        const struct strata_layout_class *class = &region->classes[i];
        uint64_t cached = cached_blocks(region, child->bytes, i);
        uint64_t out = number_add(region->mixed.out_blocks[i],
            number_subtract(times(class->slabs, class->slab_blocks), class->free_blocks));
        layers->in_use_bytes = number_add(layers->in_use_bytes,
            times(number_subtract(out, cached), class->block_bytes));
        layers->cached_bytes =
            number_add(layers->cached_bytes, times(cached, class->block_bytes));
        touched = number_add(touched, class->touched_bytes);
    }
    touched = number_add(touched, region->mixed.touched_bytes);
    uint64_t resident = number_add(number_add(touched, large),
        number_add(region->units.dirty_bytes, region->large.tail_bytes));
    layers->free_bytes = number_subtract(
        number_subtract(resident, layers->in_use_bytes), layers->cached_bytes);
    layers->descriptor_bytes = number_add(region->descriptor_bytes, region->table_bytes);
    layers->charged_bytes = number_add(resident, layers->descriptor_bytes);
    layers->held_bytes = number_add(region->units.mapped_bytes, region->large.huge_bytes);
    layers->peak_charged_bytes = region->limit.peak_charged_bytes;
    layers->limit_bytes = region->limit.hard_bytes;
    layers->refused = region->limit.refused;
    layers->purges = region->limit.purges;
    layers->pressure_purges = region->limit.pressure_purges;
    return true;
}
