/*
 * glibc_fast_sweep.c - follows the fast bins of an arena like an elevator.
 *
 * Fast bins are single lists, last in first out, with links mangled from 2.32 on
 * (malloc/malloc.c, fastbin and PROTECT_PTR). A program that frees its blocks in the order of
 * memory, or against it, leaves lists which run through the whole arena, all side by side;
 * following one after the other would read the arena once for each. So each list has a cursor,
 * and the window moves in one direction to the next chunk that any list waits for; every list
 * is followed as far as the window shows it. Lists that keep one direction cost one pass
 * together. A load begins with a page and doubles while the lists lead on nearby, so that lists
 * in random order cost a page for each chunk; reader->sweep_bytes_left bounds those.
 *
 * Absent pages are never read (heap_window.c): a list that leads to one is torn. The first torn
 * list ends all, since the arena cannot be exact any more.
 */
#include "facts/glibc_fast_sweep.h"

#include <errno.h>

enum {
    SIZE_OFFSET = 8,
    LINK_OFFSET = GLIBC_CHUNK_HEADER_BYTES,
    LINK_END = LINK_OFFSET + 8,
    /* What a load costs besides its bytes, in bytes: two system calls. */
    LOAD_COST_BYTES = 16 << 10,
};

static uint64_t size_of_bin(uint32_t bin)
{
    return GLIBC_CHUNK_MINIMUM_BYTES + (uint64_t)bin * GLIBC_CHUNK_ALIGN;
}

void glibc_fast_sweep_begin(struct glibc_fast_sweep *sweep, struct glibc_reader *reader,
    const uint8_t *state, struct glibc_fast_set *set)
{
    const uint32_t heads = reader->layout->state.fast_bins;

    *sweep = (struct glibc_fast_sweep){
        .reader = reader, .set = set, .load_bytes = reader->memory->page_bytes};
    glibc_fast_reset(set);
    for (uint32_t bin = 0; heads != 0 && bin < GLIBC_FAST_BIN_COUNT; bin++) {
        sweep->next[bin] = glibc_word(state + heads + bin * sizeof(uint64_t));
    }
}

bool glibc_fast_sweep_ended(const struct glibc_fast_sweep *sweep)
{
    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        if (sweep->next[bin] != 0) {
            return false;
        }
    }
    return true;
}

/* Gives up what was not followed yet: no budget, or nothing to trust. */
static void end_all(struct glibc_fast_sweep *sweep)
{
    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        if (sweep->next[bin] != 0) {
            sweep->cut_bins |= UINT32_C(1) << bin;
            sweep->next[bin] = 0;
        }
    }
}

static bool is_in_view(const struct heap_window *window, uint64_t chunk)
{
    return chunk + SIZE_OFFSET >= window->start && chunk + LINK_END <= window->end;
}

/* The window reads absent pages as zeroes, which would look like the end of a list. */
static bool is_present_in_view(const struct heap_window *window, uint64_t address)
{
    return (window->bits[(address - window->start) / window->memory->page_bytes] &
               PAGE_PRESENT) != 0;
}

/* The chunk that follows chunk, which is in view. 0, or -EFAULT when it is none of its bin. */
static int next_in_view(
    const struct glibc_reader *reader, uint64_t chunk, uint64_t bytes, uint64_t *next)
{
    const struct heap_window *window = &reader->window;
    const uint64_t link = chunk + LINK_OFFSET, size = chunk + SIZE_OFFSET;

    if (!is_present_in_view(window, size) || !is_present_in_view(window, link) ||
        (glibc_word(window->data + (size - window->start)) &
            ~(uint64_t)GLIBC_SIZE_BITS) != bytes) {
        return -EFAULT;
    }
    *next = glibc_plain_link(
        reader->layout, link, glibc_word(window->data + (link - window->start)));
    return 0;
}

/* Follows one list through the view. 0; -EFAULT: torn; -EBUSY: too much; -ENOMEM. */
static int follow(struct glibc_fast_sweep *sweep, uint32_t bin, uint64_t floor)
{
    struct glibc_reader *reader = sweep->reader;
    const uint64_t bytes = size_of_bin(bin);

    while (sweep->next[bin] != 0) {
        const uint64_t chunk = sweep->next[bin];
        uint64_t next;
        int result;
        if (chunk % GLIBC_CHUNK_ALIGN != 0 || chunk > glibc_maximum_address) {
            return -EFAULT;
        }
        if (!is_in_view(&reader->window, chunk)) {
            return 0;
        }
        if (reader->links_left == 0) {
            return -EBUSY;
        }
        result = next_in_view(reader, chunk, bytes, &next);
        if (result == 0) {
            result = glibc_fast_add(sweep->set, chunk, bytes);
        }
        if (result < 0) {
            /* Known already: a ring, or two lists that share a chunk. */
            return result == -EEXIST ? -EFAULT : result;
        }
        sweep->late = sweep->late || chunk < floor;
        reader->links_left--;
        sweep->next[bin] = next;
    }
    return 0;
}

int glibc_fast_sweep_view(struct glibc_fast_sweep *sweep, uint64_t floor)
{
    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        int result = follow(sweep, bin, floor);
        if (result == -EFAULT || result == -EBUSY) {
            sweep->torn = sweep->torn || result == -EFAULT;
            end_all(sweep);
            return 0;
        }
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

/* The nearest chunk above or below place that a list waits for; 0: none. */
static uint64_t nearest(const struct glibc_fast_sweep *sweep, uint64_t place, bool up)
{
    uint64_t found = 0;

    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        const uint64_t next = sweep->next[bin];
        if (next != 0 && (up ? next > place : next < place) &&
            (found == 0 || (up ? next < found : next > found))) {
            found = next;
        }
    }
    return found;
}

/* Loads the window so that it shows chunk and, as it proves useful, what lies behind. */
static int load(struct glibc_fast_sweep *sweep, uint64_t chunk, bool up)
{
    struct glibc_reader *reader = sweep->reader;
    struct heap_window *window = &reader->window;
    const uint64_t page = reader->memory->page_bytes;
    uint64_t start = glibc_align_down(chunk + SIZE_OFFSET, page);
    uint64_t end = glibc_align_up(chunk + LINK_END, page);
    /* A chunk may begin in the last page of the view. Behind the view, this wraps: far. */
    const uint64_t distance =
        up ? start + page - window->end : window->start + page - end;

    if (distance > sweep->load_bytes) {
        sweep->load_bytes = page;
    } else if (sweep->load_bytes < HEAP_WINDOW_BYTES) {
        sweep->load_bytes *= 2;
    }
    if (up && end - start < sweep->load_bytes) {
        end = start + sweep->load_bytes;
    } else if (!up && end - start < sweep->load_bytes) {
        start = end > sweep->load_bytes ? end - sweep->load_bytes : 0;
    }
    if (reader->sweep_bytes_left < end - start + LOAD_COST_BYTES) {
        end_all(sweep);
        return 0;
    }
    reader->sweep_bytes_left -= end - start + LOAD_COST_BYTES;
    return heap_window_load(window, start, end);
}

/* The lists lead on and on nearby: whoever reads all of the arena will meet them. */
static bool is_dense(const struct glibc_fast_sweep *sweep)
{
    return sweep->load_bytes == HEAP_WINDOW_BYTES;
}

/* From place on in one direction, until no list waits there, or it is dense and may stop. */
static int pass(struct glibc_fast_sweep *sweep, uint64_t *place, bool up, bool may_stop)
{
    uint64_t chunk;

    while ((chunk = nearest(sweep, *place, up)) != 0 && !(may_stop && is_dense(sweep))) {
        int result = load(sweep, chunk, up);
        if (result == 0) {
            result = glibc_fast_sweep_view(sweep, 0);
        }
        if (result < 0) {
            return result;
        }
        *place = chunk;
    }
    return 0;
}

int glibc_fast_sweep_ahead(struct glibc_fast_sweep *sweep)
{
    struct heap_window *window = &sweep->reader->window;
    uint64_t place = UINT64_MAX;
    bool dense = false;
    int result;

    window->end = window->start; /* nothing is shown: the view checks the heads only */
    result = glibc_fast_sweep_view(sweep, 0);
    while (result == 0 && !dense && !glibc_fast_sweep_ended(sweep)) {
        result = pass(sweep, &place, false, false);
        sweep->load_bytes = sweep->reader->memory->page_bytes;
        if (result == 0) {
            result = pass(sweep, &place, true, true);
        }
        dense = is_dense(sweep);
    }
    return result;
}

int glibc_fast_sweep_finish(struct glibc_fast_sweep *sweep)
{
    uint64_t place = 0;
    bool up = true;
    int result = 0;

    while (result == 0 && !glibc_fast_sweep_ended(sweep)) {
        result = pass(sweep, &place, up, false);
        up = !up;
    }
    return result;
}

uint32_t glibc_fast_sweep_waiting(
    const struct glibc_fast_sweep *sweep, uint64_t start, uint64_t end)
{
    uint32_t count = 0;

    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        count += sweep->next[bin] >= start && sweep->next[bin] < end;
    }
    return count;
}

uint64_t glibc_fast_sweep_cut_sizes(const struct glibc_fast_sweep *sweep)
{
    return (uint64_t)sweep->cut_bins << GLIBC_CHUNK_MINIMUM_BYTES / GLIBC_CHUNK_ALIGN;
}
