/*
 * Makes the lists of operations.
 *
 * The generator keeps the lengths which every slot has after the operations so far, and
 * only writes operations which are possible. The same check, run again over a shortened
 * list, is what lets a failing list be made smaller.
 *
 * Sizes are chosen to meet the edges of the allocator under test: half of them lie within
 * a few bytes of a block size, a page multiple or the largest run; the rest spreads evenly
 * over the orders of magnitude from 1 byte to 8 MiB. Phases which mostly make and phases
 * which mostly drop take turns, so that chunks fill up and empty again; every now and
 * then all is dropped.
 *
 * PHP rounds the size of a string in two ways, and which function does which has changed
 * within the 8.2 series: length + 32, or length + 25 rounded up to 8. For lengths in
 * eights the two are the same, so all strings have such lengths, save for those of
 * str_repeat(), which always asks for length + 32.
 */
#include "operation.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "random.h"

const uint32_t piece_bytes[PIECES] = {8, 40, 104, 1000, 4096, 20000, 65536};

enum {
    LARGEST_BYTES = 8 << 20,      /* of one string */
    LARGEST_ELEMENTS = 1 << 19,   /* of one array: a table of 8 MiB */
    LARGEST_APPEND = 40000,       /* elements in one operation */
    LIVE_LIMIT_BYTES = 160 << 20, /* above it, the generator only drops */
    PHASE_OPERATIONS = 400,
    SWEEP_OPERATIONS = 900, /* from one sweep to the next */
    SLOTS = STRING_SLOTS + ARRAY_SLOTS + FIXED_SLOTS,
    SWEEP_STRIDE = 101, /* no divisor of SLOTS: every slot has its turn */
    STRING_OVERHEAD_BYTES = 32,
    PAGE_SIZE_BYTES = 4096,
    CHUNK_PAGES = 512,
};

/* What every slot holds, as lengths; 0 is an empty slot. */
struct contents {
    uint32_t string_bytes[STRING_SLOTS];
    uint32_t array_elements[ARRAY_SLOTS];
    uint32_t fixed_elements[FIXED_SLOTS];
};

static uint32_t random_magnitude(uint64_t *state, unsigned highest_bit)
{
    unsigned bit = random_below(state, highest_bit);
    uint32_t low = (uint32_t)1 << bit;
    return low + random_below(state, low);
}

static uint32_t random_edge(uint64_t *state)
{
    static const uint32_t blocks[] = {40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224,
        256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072};
    uint32_t edge;
    switch (random_below(state, 8)) {
    case 0:
        edge = (1 + random_below(state, CHUNK_PAGES)) * PAGE_SIZE_BYTES;
        break;
    case 1:
        edge = (CHUNK_PAGES - 2 + random_below(state, 3)) * PAGE_SIZE_BYTES;
        break;
    case 2:
        edge = (6 + random_below(state, 5)) * PAGE_SIZE_BYTES;
        break;
    default:
        edge = blocks[random_below(state, sizeof(blocks) / sizeof(blocks[0]))];
        break;
    }
    uint32_t size = edge - STRING_OVERHEAD_BYTES + random_below(state, 19);
    return size > 9 ? size - 9 : 1;
}

static uint32_t random_size(uint64_t *state, unsigned highest_bit)
{
    uint32_t size = random_below(state, 2) == 0 ? random_edge(state)
                                                : random_magnitude(state, highest_bit);
    if (random_below(state, 3) > 0) {
        size = (size + 7) / 8 * 8;
    }
    return size <= LARGEST_BYTES ? size : LARGEST_BYTES;
}

static uint64_t contents_bytes(const struct contents *now)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < STRING_SLOTS; i++) {
        bytes += now->string_bytes[i];
    }
    for (size_t i = 0; i < ARRAY_SLOTS; i++) {
        bytes += 16 * (uint64_t)now->array_elements[i];
    }
    for (size_t i = 0; i < FIXED_SLOTS; i++) {
        bytes += 16 * (uint64_t)now->fixed_elements[i];
    }
    return bytes;
}

/* A result of this length has one size only, whatever the rounding. */
static bool length_allowed(uint64_t bytes)
{
    return bytes <= LARGEST_BYTES && bytes % 8 == 0;
}

static bool concat_allowed(const struct contents *now, const struct operation *operation)
{
    uint64_t left = now->string_bytes[operation->slot];
    uint64_t right = now->string_bytes[operation->other];
    return left > 0 && right > 0 && length_allowed(left + right);
}

static bool append_allowed(const struct contents *now, const struct operation *operation)
{
    uint32_t elements = now->array_elements[operation->slot];
    return operation->amount > 0 && elements + operation->amount <= LARGEST_ELEMENTS;
}

/* True if PHP can do this now and the result stays within the bounds of the test. */
static bool contents_allow(const struct contents *now, const struct operation *operation)
{
    uint64_t bytes = now->string_bytes[operation->slot];
    switch (operation->kind) {
    case OPERATION_MAKE:
        return operation->amount > 0;
    case OPERATION_DROP:
        return bytes > 0;
    case OPERATION_PIECE:
        return bytes > 0 && length_allowed(bytes + piece_bytes[operation->other]);
    case OPERATION_CONCAT:
        return concat_allowed(now, operation);
    case OPERATION_CUT: /* all of it would be the same string */
        return operation->amount > 0 && operation->amount < bytes;
    case OPERATION_QUOTE:
        return bytes > 0 && bytes % 8 == 0 && length_allowed(2 * bytes);
    case OPERATION_APPEND:
        return append_allowed(now, operation);
    case OPERATION_COPY:
        return operation->slot != operation->other &&
               now->array_elements[operation->other] > 0;
    case OPERATION_DISCARD:
        return now->array_elements[operation->slot] > 0;
    case OPERATION_RESIZE: /* 16 and 32 bytes: sizes which engine.php does not fill */
        return operation->amount != 1 && operation->amount != 2;
    case OPERATION_GC:
    case OPERATION_RESET:
        return true;
    }
    return false;
}

static void contents_apply(struct contents *now, const struct operation *operation)
{
    uint32_t *string = &now->string_bytes[operation->slot];
    switch (operation->kind) {
    case OPERATION_MAKE:
    case OPERATION_CUT:
        *string = operation->amount;
        break;
    case OPERATION_DROP:
        *string = 0;
        break;
    case OPERATION_PIECE:
        *string += piece_bytes[operation->other];
        break;
    case OPERATION_CONCAT:
        *string += now->string_bytes[operation->other];
        break;
    case OPERATION_APPEND:
        now->array_elements[operation->slot] += operation->amount;
        break;
    case OPERATION_COPY:
        now->array_elements[operation->slot] = now->array_elements[operation->other];
        break;
    case OPERATION_DISCARD:
        now->array_elements[operation->slot] = 0;
        break;
    case OPERATION_RESIZE:
        now->fixed_elements[operation->slot] = operation->amount;
        break;
    case OPERATION_QUOTE:
    case OPERATION_GC:
    case OPERATION_RESET:
        break;
    }
}

/* One guess; most guesses are possible, contents_allow() decides. */
static struct operation guess(uint64_t *state, const struct contents *now, bool growing)
{
    struct operation operation = {.slot = random_below(state, STRING_SLOTS)};
    uint32_t dice = random_below(state, 100);
    if (dice < (growing ? 45U : 15U)) {
        operation.kind = OPERATION_MAKE;
        operation.amount = random_size(state, 23);
    } else if (dice < 60) {
        operation.kind = OPERATION_DROP;
    } else if (dice < 68) {
        operation.kind = OPERATION_PIECE;
        operation.other = random_below(state, PIECES);
    } else if (dice < 72) {
        operation.kind = OPERATION_CONCAT;
        operation.other = dice == 68 ? operation.slot : random_below(state, STRING_SLOTS);
    } else if (dice < 77) {
        operation.kind = OPERATION_CUT;
        operation.amount =
            8 * random_below(state, now->string_bytes[operation.slot] / 8 + 1);
    } else if (dice < 80) {
        operation.kind = OPERATION_QUOTE;
    } else if (dice < 99) {
        operation.slot = random_below(state, ARRAY_SLOTS);
        operation.other = random_below(state, ARRAY_SLOTS);
        operation.kind = dice < 87   ? OPERATION_APPEND
                         : dice < 90 ? OPERATION_COPY
                         : dice < 93 ? OPERATION_DISCARD
                                     : OPERATION_RESIZE;
        operation.amount =
            random_magnitude(state, operation.kind == OPERATION_RESIZE ? 18 : 16);
        if (operation.kind == OPERATION_APPEND && operation.amount > LARGEST_APPEND) {
            operation.amount = LARGEST_APPEND;
        }
    } else {
        operation.kind = random_below(state, 3) > 0 ? OPERATION_GC : OPERATION_RESET;
    }
    return operation;
}

/* Empties a slot of any kind: strings first, then arrays, then fixed arrays. */
static struct operation drop_of(uint32_t slot)
{
    if (slot < STRING_SLOTS) {
        return (struct operation){.kind = OPERATION_DROP, .slot = slot};
    }
    slot -= STRING_SLOTS;
    if (slot < ARRAY_SLOTS) {
        return (struct operation){.kind = OPERATION_DISCARD, .slot = slot};
    }
    return (struct operation){.kind = OPERATION_RESIZE, .slot = slot - ARRAY_SLOTS};
}

static bool drop_changes(const struct contents *now, const struct operation *operation)
{
    if (operation->kind == OPERATION_RESIZE) {
        return now->fixed_elements[operation->slot] > 0;
    }
    return contents_allow(now, operation);
}

/* Drops all there is, from a random slot on, and collects; returns the new count. */
static size_t sweep(
    struct operation *list, size_t made, struct contents *now, uint64_t *state)
{
    uint32_t start = random_below(state, SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct operation operation = drop_of((start + i * SWEEP_STRIDE) % SLOTS);
        if (drop_changes(now, &operation)) {
            contents_apply(now, &operation);
            list[made++] = operation;
        }
    }
    list[made++] = (struct operation){.kind = OPERATION_GC};
    return made;
}

void operation_list_generate(struct operation *list, size_t count, uint64_t seed)
{
    struct contents now = {0};
    uint64_t state = seed;
    size_t made = 0;
    size_t next_sweep = SWEEP_OPERATIONS;
    while (made < count) {
        bool growing = (made / PHASE_OPERATIONS) % 2 == 0;
        struct operation operation = guess(&state, &now, growing);
        if (contents_bytes(&now) > LIVE_LIMIT_BYTES) {
            operation = drop_of(random_below(&state, SLOTS));
        }
        if (contents_allow(&now, &operation)) {
            contents_apply(&now, &operation);
            list[made++] = operation;
        }
        if (made >= next_sweep && made + SLOTS < count) {
            made = sweep(list, made, &now, &state);
            next_sweep = made + SWEEP_OPERATIONS;
        }
    }
}

size_t operation_list_repair(struct operation *list, size_t count)
{
    struct contents now = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (contents_allow(&now, &list[i])) {
            contents_apply(&now, &list[i]);
            list[kept++] = list[i];
        }
    }
    return kept;
}

uint64_t operation_word(const struct operation *operation)
{
    return (uint64_t)operation->kind | (uint64_t)operation->slot << 8 |
           (uint64_t)operation->other << 16 | (uint64_t)operation->amount << 24;
}

void operation_describe(const struct operation *operation, char *text, size_t text_bytes)
{
    unsigned slot = operation->slot;
    unsigned other = operation->other;
    unsigned amount = operation->amount;
    switch (operation->kind) {
    case OPERATION_MAKE:
        snprintf(text, text_bytes, "$s[%u] = str_repeat('x', %u);", slot, amount);
        break;
    case OPERATION_DROP:
        snprintf(text, text_bytes, "$s[%u] = null;", slot);
        break;
    case OPERATION_PIECE:
        snprintf(text, text_bytes, "$s[%u] .= $piece_of_%u;", slot, piece_bytes[other]);
        break;
    case OPERATION_CONCAT:
        snprintf(text, text_bytes, "$s[%u] .= $s[%u];", slot, other);
        break;
    case OPERATION_CUT:
        snprintf(text, text_bytes, "$s[%u] = substr($s[%u], 0, %u);", slot, slot, amount);
        break;
    case OPERATION_QUOTE:
        snprintf(text, text_bytes, "$s[%u] = quotemeta($s[%u]);", slot, slot);
        break;
    case OPERATION_APPEND:
        snprintf(text, text_bytes, "for (%u times) $a[%u][] = $i;", amount, slot);
        break;
    case OPERATION_COPY:
        snprintf(text, text_bytes, "$a[%u] = $a[%u]; $a[%u][0] = 1;", slot, other, slot);
        break;
    case OPERATION_DISCARD:
        snprintf(text, text_bytes, "$a[%u] = null;", slot);
        break;
    case OPERATION_RESIZE:
        snprintf(text, text_bytes, "$f[%u]->setSize(%u);", slot, amount);
        break;
    case OPERATION_GC:
        snprintf(text, text_bytes, "gc_mem_caches();");
        break;
    case OPERATION_RESET:
        snprintf(text, text_bytes, "memory_reset_peak_usage();");
        break;
    }
}
