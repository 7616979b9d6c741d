/*
 * thread_descriptor.c - recognises struct pthread and follows glibc's lists of them.
 *
 * Where the struct lies and how it begins differs between machines: at the top of its
 * thread's stack on x86-64, below the thread's own variables on aarch64 (TLS_TCB_AT_TP,
 * TLS_DTV_AT_TP of sysdeps/MACHINE/nptl/tls.h), that of the first thread in a small mapping of ld.so. The
 * fields behind that beginning are the same everywhere (nptl/descr.h, 2.26 to 2.43): a list
 * node, the tid, robust_prev and robust_head. The latter is what the kernel is told by
 * set_robust_list(2): while the thread holds no robust mutex both point at robust_head itself, and its
 * futex_offset is that of pthread_mutex_t from its own list node, -32 on all 64-bit machines;
 * allocate_stack() writes them for each thread. So the address of a struct here is that of its list
 * node, and these words prove it.
 *
 * The list node links all stacks of one kind in a ring; the head of the ring is in the data
 * of ld.so, the heads of used, user's and cached stacks side by side (struct rtld_global, since
 * 2.34; in libpthread before).
 *
 * A stack's mapping may merge with its neighbours, and from 2.42 on guard pages split it
 * no more, so mappings only serve to find a first struct; the rings give the others.
 *
 * Threads start and end meanwhile. Each struct proves itself by its content; a ring that tears
 * is left where it tears, and other structs that are found lead into it again. A program may
 * fill its memory with words that look like structs, each leading into a ring that never comes
 * round: pages, steps and structs are bounded for all walks together.
 */
#include "facts/thread_descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROBUST_PREVIOUS = 0x18,
    ROBUST_HEAD = 0x20,
    FUTEX_OFFSET = 0x28,
    PROOF_WORDS = FUTEX_OFFSET / sizeof(uint64_t) + 1,
    LINK_BYTES = 16,        /* struct list_head: next, prev */
    HEADS_BESIDE = 2,       /* on each side of a head that was found */
    TOP_PAGES = 2,          /* of a mapping: where a struct is looked for */
    WHOLE_PAGES = 32,       /* mappings up to this size are searched whole */
    SEARCH_PAGES = 1 << 17, /* in all */
    DESCRIPTORS_MAX = 1 << 18,
    STEPS_MAX = 2 * DESCRIPTORS_MAX, /* on all rings together */
    FOLLOWED_MAX = 1 << 14, /* structs found in pages: each is compared with all */
    PAGE_BYTES_MAX = 64 << 10,
};

/* offsetof(pthread_mutex_t, __data.__lock) less that of __data.__list.__next. */
static const uint64_t futex_offset = (uint64_t)-32;

struct search {
    struct memory *memory;
    struct region *region;
    struct thread_descriptors *found; /* in the order they were found, perhaps twice */
    uint64_t pages_left;
    uint32_t steps_left;
    uint32_t follows_left;
    bool complete; /* a whole ring and those beside it were walked */
    char *page;    /* one page of the target */
};

struct link {
    uint64_t next;
    uint64_t previous;
};

static int read_link(struct search *search, uint64_t address, struct link *link)
{
    return memory_read_present(search->memory, address, link, sizeof(*link));
}

/* A thread that holds a robust mutex has a list of them, which begins elsewhere. */
static bool is_descriptor(struct memory *memory, uint64_t address)
{
    uint64_t words[PROOF_WORDS];

    return address % sizeof(uint64_t) == 0 &&
           memory_read_present(memory, address, words, sizeof(words)) == 0 &&
           words[FUTEX_OFFSET / sizeof(uint64_t)] == futex_offset &&
           words[ROBUST_PREVIOUS / sizeof(uint64_t)] != 0 &&
           words[ROBUST_HEAD / sizeof(uint64_t)] != 0;
}

static bool is_known(const struct search *search, uint64_t address)
{
    for (size_t i = 0; i < search->found->count; i++) {
        if (search->found->addresses[i] == address) {
            return true;
        }
    }
    return false;
}

static int add(struct search *search, uint64_t address)
{
    struct thread_descriptors *found = search->found;
    uint64_t *place = region_grow(
        search->region, &found->addresses, found->count, DESCRIPTORS_MAX, sizeof(*place));

    if (place == NULL) {
        return found->count >= DESCRIPTORS_MAX ? 0 : -ENOMEM;
    }
    *place = address;
    found->count++;
    return 0;
}

/* Is there a list node at address whose neighbours both point back to it? */
static bool is_linked(struct search *search, uint64_t address, const struct link *link)
{
    struct link next;
    struct link previous;

    return link->next % sizeof(uint64_t) == 0 && link->previous % sizeof(uint64_t) == 0 &&
           read_link(search, link->next, &next) == 0 && next.previous == address &&
           read_link(search, link->previous, &previous) == 0 && previous.next == address;
}

/*
 * Follows the ring from the node start and adds each struct on it. The one node that is no
 * struct is the head: *head, 0 when the walk did not come round.
 */
static int walk_ring(struct search *search, uint64_t start, uint64_t *head)
{
    uint64_t node = start;
    uint64_t seen_head = 0;
    struct link link;

    *head = 0;
    for (; search->steps_left > 0; search->steps_left--) {
        if (is_descriptor(search->memory, node)) {
            int rc = add(search, node);
            if (rc != 0) {
                return rc;
            }
        } else if (seen_head == 0) {
            seen_head = node;
        } else {
            return 0; /* two nodes that are no threads: torn */
        }
        if (read_link(search, node, &link) != 0) {
            return 0;
        }
        node = link.next;
        if (node == start) {
            *head = seen_head;
            return 0;
        }
    }
    return 0;
}

/* The heads of the other kinds of stacks lie beside the one that was found. */
static int walk_beside(struct search *search, uint64_t head)
{
    for (int i = -HEADS_BESIDE; i <= HEADS_BESIDE; i++) {
        const uint64_t other = head + (uint64_t)((int64_t)i * LINK_BYTES);
        struct link link;
        uint64_t ignored;

        if (i == 0 || read_link(search, other, &link) != 0 || link.next == other ||
            !is_linked(search, other, &link) ||
            !is_descriptor(search->memory, link.next)) {
            continue;
        }
        int rc = walk_ring(search, link.next, &ignored);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int follow(struct search *search, uint64_t descriptor)
{
    struct link link;
    uint64_t head = 0;

    search->follows_left--;
    if (is_known(search, descriptor)) {
        return 0;
    }
    if (read_link(search, descriptor, &link) != 0 ||
        !is_linked(search, descriptor, &link)) {
        return add(search, descriptor);
    }
    int rc = walk_ring(search, descriptor, &head);
    if (rc == 0 && head != 0) {
        rc = walk_beside(search, head);
        search->complete = true;
    }
    return rc;
}

/* Does the struct that begins at data, of address, hold no robust mutex? */
static bool is_idle_descriptor(const char *data, uint64_t address)
{
    uint64_t words[PROOF_WORDS];

    memcpy(words, data, sizeof(words));
    return words[ROBUST_PREVIOUS / sizeof(uint64_t)] == address + ROBUST_HEAD &&
           words[ROBUST_HEAD / sizeof(uint64_t)] == address + ROBUST_HEAD &&
           words[FUTEX_OFFSET / sizeof(uint64_t)] == futex_offset;
}

static int search_page(struct search *search, uint64_t page)
{
    const uint64_t page_bytes = search->memory->page_bytes;

    if (search->pages_left == 0) {
        return 0;
    }
    search->pages_left--;
    if (memory_read_present(search->memory, page, search->page, page_bytes) != 0) {
        return 0;
    }
    for (uint64_t at = 0; at + PROOF_WORDS * sizeof(uint64_t) <= page_bytes &&
                          search->follows_left > 0 && search->steps_left > 0;
         at += sizeof(uint64_t)) {
        if (is_idle_descriptor(search->page + at, page + at)) {
            int rc = follow(search, page + at);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int search_mapping(struct search *search, const struct mapping *mapping)
{
    const uint64_t page_bytes = search->memory->page_bytes;
    const uint64_t pages = (mapping->end - mapping->start) / page_bytes;
    uint64_t skipped = pages > WHOLE_PAGES ? pages - TOP_PAGES : 0;
    int rc = 0;

    if (strcmp(mapping->path, "[heap]") == 0) {
        /* A static program's first thread has its struct at the start of the heap. */
        rc = search_page(search, mapping->start);
    }
    for (uint64_t page = pages; rc == 0 && page > skipped; page--) {
        rc = search_page(search, mapping->start + (page - 1) * page_bytes);
    }
    return rc;
}

static bool may_hold_descriptor(const struct mapping *mapping)
{
    const uint32_t needed = MAPPING_READ | MAPPING_WRITE;

    return (mapping->permissions & (needed | MAPPING_SHARED)) == needed &&
           mapping->inode == 0 && (mapping->flags & MAPPING_IO) == 0;
}

static int compare_addresses(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static void sort_once_each(struct thread_descriptors *found)
{
    size_t kept = 0;

    if (found->count == 0) {
        return;
    }
    qsort(found->addresses, found->count, sizeof(*found->addresses), compare_addresses);
    for (size_t i = 0; i < found->count; i++) {
        if (kept == 0 || found->addresses[i] != found->addresses[kept - 1]) {
            found->addresses[kept++] = found->addresses[i];
        }
    }
    found->count = kept;
}

int thread_descriptors_find(struct memory *memory, const struct process_facts *process,
    struct region *region, struct thread_descriptors *descriptors)
{
    struct search search = {.memory = memory,
        .region = region,
        .found = descriptors,
        .pages_left = SEARCH_PAGES,
        .steps_left = STEPS_MAX,
        .follows_left = FOLLOWED_MAX};
    int rc = 0;

    *descriptors = (struct thread_descriptors){0};
    if (memory->page_bytes > PAGE_BYTES_MAX) {
        return 0;
    }
    search.page = region_alloc(region, (size_t)memory->page_bytes);
    if (search.page == NULL) {
        return -ENOMEM;
    }
    /* From the top: ld.so, with the first thread's, lies above what the program maps later. */
    for (size_t i = process->mapping_count; rc == 0 && !search.complete && i > 0; i--) {
        if (may_hold_descriptor(&process->mappings[i - 1])) {
            rc = search_mapping(&search, &process->mappings[i - 1]);
        }
    }
    sort_once_each(descriptors);
    return rc;
}
