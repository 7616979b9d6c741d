/*
 * What allocators that know no future could reach at best with a trace of record.c.
 *
 * usage: malloc-floors TRACE
 *
 * Prints MiB, at the peak and at the end of the trace:
 *   live     what was asked for
 *   classes  the same, each block rounded up to strata's class
 *   first    pages with a live byte, each block at the lowest place that is long enough
 *   slabs    the same, each class in slabs of its own, the lowest free block first
 *   meshed   at the end: the same slabs if no block of up to 2 KiB crossed a page, and then
 *            those pages laid over one another where no blocks collide
 * A page counts only while it has a live byte, no CPU keeps a block, and nothing is needed
 * to find them: so each is below what an allocator of that kind takes. A resize frees
 * before it allocates. The program's own memory (1.4 MiB) is not in it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_common.h"
#include "blockclass.h"
#include "first_fit.h"
#include "trace_format.h"

#define PAGES ((size_t)1 << 18)
#define SLAB_BYTES ((size_t)65536)
#define WORD_BITS ((size_t)64)
#define CLASS_WORDS ((size_t)1 << 17) /* 8,388,608 blocks of each class */
#define MESH_MAX ((size_t)2048)
#define MESH_LOOKS ((size_t)256)
#define MIB 1048576.0

struct figure {
    size_t now, peak;
};

struct block {
    size_t bytes; /* 0: free */
    size_t place; /* of first fit, in granules */
    size_t index; /* in its class */
};

/* Blocks of a class: which are used, from which word on some are free, and how many lie
 * on each page. */
struct slabs {
    uint64_t *used;
    size_t hint, end;
    uint32_t *on_page;
};

static struct figure live, classes, first, slab;
static size_t large_bytes;            /* whole pages of live blocks above all classes */
static uint32_t first_on_page[PAGES]; /* live granules */
static struct slabs slabs[STRATA__BLOCK_CLASSES];

static void change(struct figure *figure, size_t by)
{
    figure->now += by;
    figure->peak = figure->now > figure->peak ? figure->now : figure->peak;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + BENCH_PAGE - 1) / BENCH_PAGE * BENCH_PAGE;
}

static void *zeroes(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        bench_stop("no memory");
    }
    return memory;
}

/* Adds granules of a block to the pages that they lie on, or takes them off (-1). */
static void first_count(size_t place, size_t granules, uint32_t by)
{
    size_t page_granules = BENCH_PAGE / FIRST_FIT_GRANULE;
    size_t end = place + granules;
    for (size_t page = place / page_granules; page * page_granules < end; page++) {
        size_t from = page * page_granules > place ? page * page_granules : place;
        size_t to = (page + 1) * page_granules < end ? (page + 1) * page_granules : end;
        uint32_t before = first_on_page[page];
        first_on_page[page] += by * (uint32_t)(to - from);
        if ((before == 0) != (first_on_page[page] == 0)) {
            change(&first, before == 0 ? BENCH_PAGE : -BENCH_PAGE);
        }
    }
}

static size_t granules_of(size_t bytes)
{
    return (bytes + FIRST_FIT_GRANULE - 1) / FIRST_FIT_GRANULE;
}

static void slab_count(unsigned class, size_t index, uint32_t by)
{
    const struct strata__block_class *rule = &strata__block_classes[class];
    size_t start = index / rule->blocks * SLAB_BYTES + index % rule->blocks * rule->bytes;
    size_t last = (start + rule->bytes - 1) / BENCH_PAGE;
    for (size_t page = start / BENCH_PAGE; page <= last; page++) {
        uint32_t *count = &slabs[class].on_page[page];
        uint32_t before = *count;
        *count += by;
        if ((before == 0) != (*count == 0)) {
            change(&slab, before == 0 ? BENCH_PAGE : -BENCH_PAGE);
        }
    }
}

static size_t slab_take(unsigned class)
{
    struct slabs *mine = &slabs[class];
    if (mine->used == NULL) {
        mine->used = zeroes(CLASS_WORDS * sizeof(uint64_t));
        mine->on_page = zeroes(PAGES * sizeof(uint32_t));
    }
    while (mine->used[mine->hint] == UINT64_MAX) {
        mine->hint++;
        if (mine->hint == CLASS_WORDS) {
            bench_stop("too many blocks of one size");
        }
    }
    size_t bit = (size_t)__builtin_ctzll(~mine->used[mine->hint]);
    size_t index = mine->hint * WORD_BITS + bit;
    mine->used[mine->hint] |= UINT64_C(1) << bit;
    mine->end = index >= mine->end ? index + 1 : mine->end;
    slab_count(class, index, 1);
    return index;
}

static void slab_give(unsigned class, size_t index)
{
    struct slabs *mine = &slabs[class];
    mine->used[index / WORD_BITS] &= ~(UINT64_C(1) << index % WORD_BITS);
    mine->hint = index / WORD_BITS < mine->hint ? index / WORD_BITS : mine->hint;
    slab_count(class, index, (uint32_t)-1);
}

static void forget(struct block *block)
{
    if (block->bytes == 0) {
        return;
    }
    change(&live, -block->bytes);
    first_count(block->place, granules_of(block->bytes), (uint32_t)-1);
    first_fit_give(block->place, granules_of(block->bytes));
    if (block->bytes <= STRATA__BLOCK_MAX) {
        unsigned class = strata__block_class_of(block->bytes);
        change(&classes, -(size_t)strata__block_classes[class].bytes);
        slab_give(class, block->index);
    } else {
        large_bytes -= whole_pages(block->bytes);
        change(&classes, -whole_pages(block->bytes));
        change(&slab, -whole_pages(block->bytes));
    }
    block->bytes = 0;
}

static void place(struct block *block, size_t bytes)
{
    block->bytes = bytes > 0 ? bytes : 1;
    change(&live, block->bytes);
    block->place = first_fit_take(granules_of(block->bytes));
    first_count(block->place, granules_of(block->bytes), 1);
    if (block->bytes <= STRATA__BLOCK_MAX) {
        unsigned class = strata__block_class_of(block->bytes);
        change(&classes, strata__block_classes[class].bytes);
        block->index = slab_take(class);
    } else {
        large_bytes += whole_pages(block->bytes);
        change(&classes, whole_pages(block->bytes));
        change(&slab, whole_pages(block->bytes));
    }
}

/* A page's worth of blocks of one class: which of them are used. */
struct page {
    uint64_t used[BENCH_PAGE / 8 / 64];
};

static int collide(const struct page *a, const struct page *b)
{
    uint64_t both = 0;
    for (size_t i = 0; i < sizeof(a->used) / sizeof(a->used[0]); i++) {
        both |= a->used[i] & b->used[i];
    }
    return both != 0;
}

static void lay_over(struct page *below, const struct page *page)
{
    for (size_t i = 0; i < sizeof(page->used) / sizeof(page->used[0]); i++) {
        below->used[i] |= page->used[i];
    }
}

/* The pages of a class before and after each was laid over the first of the last few
 * that it does not collide with. */
static void mesh(unsigned class, size_t *before, size_t *after)
{
    const struct slabs *mine = &slabs[class];
    size_t per_page = BENCH_PAGE / strata__block_classes[class].bytes;
    struct page *meshed = zeroes((mine->end / per_page + 1) * sizeof(*meshed));
    size_t count = 0;
    for (size_t start = 0; start < mine->end; start += per_page) {
        struct page page = {{0}};
        size_t used = 0;
        for (size_t i = 0; i < per_page && start + i < mine->end; i++) {
            size_t index = start + i;
            uint64_t bit = mine->used[index / WORD_BITS] >> index % WORD_BITS & 1;
            page.used[i / WORD_BITS] |= bit << i % WORD_BITS;
            used += bit;
        }
        size_t at = count > MESH_LOOKS ? count - MESH_LOOKS : 0;
        while (at < count && collide(&meshed[at], &page)) {
            at++;
        }
        count += used > 0 && at == count;
        *before += used > 0 ? BENCH_PAGE : 0;
        lay_over(&meshed[at], &page);
    }
    *after += count * BENCH_PAGE;
    munmap(meshed, (mine->end / per_page + 1) * sizeof(*meshed));
}

/* Pages of a class that is not meshed. */
static size_t plain_pages(unsigned class)
{
    size_t pages = 0;
    for (size_t page = 0; slabs[class].on_page != NULL && page < PAGES; page++) {
        pages += slabs[class].on_page[page] != 0;
    }
    return pages * BENCH_PAGE;
}

static const char *open_trace(const char *path, struct trace_header *header)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0 ||
        (size_t)status.st_size < sizeof(*header)) {
        bench_stop("cannot read the trace");
    }
    const char *trace =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (trace == MAP_FAILED) {
        bench_stop("cannot map the trace");
    }
    memcpy(header, trace, sizeof(*header));
    if (header->magic != TRACE_MAGIC ||
        header->records >
            ((size_t)status.st_size - sizeof(*header)) / sizeof(struct trace_record)) {
        bench_stop("the trace is damaged");
    }
    return trace + sizeof(*header);
}

static void play(const char *path)
{
    struct trace_header header;
    struct trace_record record;
    const char *records = open_trace(path, &header);
    struct block *blocks = zeroes(((size_t)header.blocks + 1) * sizeof(*blocks));
    for (uint64_t i = 0; i < header.records; i++) {
        memcpy(&record, records + i * sizeof(record), sizeof(record));
        if (record.block >= header.blocks) {
            bench_stop("the trace is damaged");
        }
        forget(&blocks[record.block]);
        if (record.operation != TRACE_FREE) {
            place(&blocks[record.block], record.bytes);
        }
    }
}

static void show(const char *path)
{
    size_t before = large_bytes;
    size_t after = large_bytes;
    for (unsigned class = 0; class < STRATA__BLOCK_CLASSES; class ++) {
        if (strata__block_classes[class].bytes <= MESH_MAX) {
            mesh(class, &before, &after);
        } else {
            before += plain_pages(class);
            after += plain_pages(class);
        }
    }
    const struct figure *all[] = {&live, &classes, &first, &slab};
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    printf("%-16s", name);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        printf(" %7.1f %6.1f", (double)all[i]->peak / MIB, (double)all[i]->now / MIB);
    }
    printf(" %7.1f %6.1f\n", (double)before / MIB, (double)after / MIB);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        bench_stop("usage: malloc-floors TRACE");
    }
    first_fit_start();
    play(argv[1]);
    printf("%-16s %14s %14s %14s %14s %14s\n", "MiB, peak / end", "live", "classes",
        "first", "slabs", "meshed");
    show(argv[1]);
    return EXIT_SUCCESS;
}
