/*
 * A tree over words of 64 granules, a bit for each free one. Each node knows the longest
 * free run below it, and how long the runs at its two ends are, so that a search goes down
 * one path and a change up one.
 */
#include "first_fit.h"

#include "bench_common.h"

#define WORD_BITS ((size_t)64)
#define WORDS ((size_t)1 << 19)

struct node {
    uint32_t front, back, longest;
};

static uint64_t free_bits[WORDS];
static struct node nodes[2 * WORDS]; /* the root is 1, the children of i are 2i, 2i + 1 */

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void update_leaf(size_t word)
{
    uint64_t bits = free_bits[word];
    uint32_t longest = 0;
    for (uint64_t left = bits; left != 0; left &= left << 1) {
        longest++;
    }
    nodes[WORDS + word] =
        (struct node){.front = ~bits == 0 ? WORD_BITS : (uint32_t)__builtin_ctzll(~bits),
            .back = ~bits == 0 ? WORD_BITS : (uint32_t)__builtin_clzll(~bits),
            .longest = longest};
}

/* The nodes above the leaves `first` to `last`. */
static void update_above(size_t first, size_t last)
{
    uint32_t half = WORD_BITS;
    first += WORDS;
    last += WORDS;
    while (first > 1) {
        first /= 2;
        last /= 2;
        for (size_t i = first; i <= last; i++) {
            const struct node *low = &nodes[2 * i];
            const struct node *high = &nodes[2 * i + 1];
            nodes[i].front = low->front == half ? half + high->front : low->front;
            nodes[i].back = high->back == half ? half + low->back : high->back;
            nodes[i].longest =
                most(most(low->longest, high->longest), low->back + high->front);
        }
        half *= 2;
    }
}

static void flip(size_t first, size_t granules)
{
    size_t last = first + granules - 1;
    for (size_t word = first / WORD_BITS; word <= last / WORD_BITS; word++) {
        uint64_t mask = UINT64_MAX;
        if (word == first / WORD_BITS) {
            mask &= UINT64_MAX << first % WORD_BITS;
        }
        if (word == last / WORD_BITS) {
            mask &= UINT64_MAX >> (WORD_BITS - 1 - last % WORD_BITS);
        }
        free_bits[word] ^= mask;
        update_leaf(word);
    }
    update_above(first / WORD_BITS, last / WORD_BITS);
}

void first_fit_start(void)
{
    for (size_t word = 0; word < WORDS; word++) {
        free_bits[word] = UINT64_MAX;
        update_leaf(word);
    }
    update_above(0, WORDS - 1);
}

/* Inside of one word. */
static size_t find_in_word(uint64_t bits, size_t granules)
{
    uint64_t run = granules == WORD_BITS ? UINT64_MAX : (UINT64_C(1) << granules) - 1;
    size_t at = 0;
    while ((bits >> at & run) != run) {
        at++;
    }
    return at;
}

size_t first_fit_take(size_t granules)
{
    if (nodes[1].longest < granules) {
        bench_stop("the trace needs more than half a GiB");
    }
    size_t node = 1;
    size_t start = 0;
    size_t length = WORDS * WORD_BITS;
    while (node < WORDS) {
        length /= 2;
        const struct node *low = &nodes[2 * node];
        if (low->longest >= granules) {
            node = 2 * node;
        } else if (low->back + nodes[2 * node + 1].front >= granules) {
            start += length - low->back;
            flip(start, granules);
            return start;
        } else {
            start += length;
            node = 2 * node + 1;
        }
    }
    start += find_in_word(free_bits[node - WORDS], granules);
    flip(start, granules);
    return start;
}

void first_fit_give(size_t first, size_t granules)
{
    flip(first, granules);
}
