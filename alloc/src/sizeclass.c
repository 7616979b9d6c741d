/*
 * The tables of sizeclass.h. The block classes come from sizeclass.def. The two derived
 * tables are spelt out, since C cannot compute them at compile time: sizeclass_test.c
 * recomputes every entry from the first table and compares.
 *
 * Invariants: first_class of a bin is that of the bin before plus that bin's ZEND pages
 * (a COMPACT run is never longer than a ZEND run, so both share the page classes);
 * all classes fit in STRATA__CLASS_BITS.
 *
 * Read only, so any thread may use it.
 */
#include "sizeclass.h"

/* first_class by bin */
enum {
    FIRST_CLASS_0 = 3,
    FIRST_CLASS_1 = 4,
    FIRST_CLASS_2 = 5,
    FIRST_CLASS_3 = 6,
    FIRST_CLASS_4 = 7,
    FIRST_CLASS_5 = 8,
    FIRST_CLASS_6 = 9,
    FIRST_CLASS_7 = 10,
    FIRST_CLASS_8 = 11,
    FIRST_CLASS_9 = 12,
    FIRST_CLASS_10 = 13,
    FIRST_CLASS_11 = 14,
    FIRST_CLASS_12 = 15,
    FIRST_CLASS_13 = 16,
    FIRST_CLASS_14 = 17,
    FIRST_CLASS_15 = 18,
    FIRST_CLASS_16 = 19,
    FIRST_CLASS_17 = 24,
    FIRST_CLASS_18 = 27,
    FIRST_CLASS_19 = 28,
    FIRST_CLASS_20 = 29,
    FIRST_CLASS_21 = 34,
    FIRST_CLASS_22 = 37,
    FIRST_CLASS_23 = 39,
    FIRST_CLASS_24 = 41,
    FIRST_CLASS_25 = 46,
    FIRST_CLASS_26 = 49,
    FIRST_CLASS_27 = 56,
    FIRST_CLASS_28 = 60,
    FIRST_CLASS_29 = 65,
};

const struct strata__sizeclass strata__sizeclasses[STRATA__BINS] = {
#define STRATA_BIN(bin, bytes, zend_pages, zend_blocks, compact_pages)                   \
    [bin] = {bytes, zend_pages, zend_blocks, compact_pages, FIRST_CLASS_##bin},
#include "sizeclass.def"
#undef STRATA_BIN
};

/* One entry: a page `page` pages behind the start of a run of `bin`. */
#define PAGE_CLASS(bin, bytes, page)                                                     \
    [FIRST_CLASS_##bin + (page)] = {                                                     \
        UINT32_MAX / (bytes) + 1, (page)*STRATA__PAGE_BYTES, bin, page}

const struct strata__page_class strata__page_classes[STRATA__CLASS_MASK + 1] = {
    [STRATA__CLASS_FREE] = {0, 0, 0, 0},
    [STRATA__CLASS_LARGE] = {0, 0, 0, 0},
    [STRATA__CLASS_TINY] = {0, 0, 0, 0},
    PAGE_CLASS(0, 8, 0),
    PAGE_CLASS(1, 16, 0),
    PAGE_CLASS(2, 24, 0),
    PAGE_CLASS(3, 32, 0),
    PAGE_CLASS(4, 40, 0),
    PAGE_CLASS(5, 48, 0),
    PAGE_CLASS(6, 56, 0),
    PAGE_CLASS(7, 64, 0),
    PAGE_CLASS(8, 80, 0),
    PAGE_CLASS(9, 96, 0),
    PAGE_CLASS(10, 112, 0),
    PAGE_CLASS(11, 128, 0),
    PAGE_CLASS(12, 160, 0),
    PAGE_CLASS(13, 192, 0),
    PAGE_CLASS(14, 224, 0),
    PAGE_CLASS(15, 256, 0),
    PAGE_CLASS(16, 320, 0),
    PAGE_CLASS(16, 320, 1),
    PAGE_CLASS(16, 320, 2),
    PAGE_CLASS(16, 320, 3),
    PAGE_CLASS(16, 320, 4),
    PAGE_CLASS(17, 384, 0),
    PAGE_CLASS(17, 384, 1),
    PAGE_CLASS(17, 384, 2),
    PAGE_CLASS(18, 448, 0),
    PAGE_CLASS(19, 512, 0),
    PAGE_CLASS(20, 640, 0),
    PAGE_CLASS(20, 640, 1),
    PAGE_CLASS(20, 640, 2),
    PAGE_CLASS(20, 640, 3),
    PAGE_CLASS(20, 640, 4),
    PAGE_CLASS(21, 768, 0),
    PAGE_CLASS(21, 768, 1),
    PAGE_CLASS(21, 768, 2),
    PAGE_CLASS(22, 896, 0),
    PAGE_CLASS(22, 896, 1),
    PAGE_CLASS(23, 1024, 0),
    PAGE_CLASS(23, 1024, 1),
    PAGE_CLASS(24, 1280, 0),
    PAGE_CLASS(24, 1280, 1),
    PAGE_CLASS(24, 1280, 2),
    PAGE_CLASS(24, 1280, 3),
    PAGE_CLASS(24, 1280, 4),
    PAGE_CLASS(25, 1536, 0),
    PAGE_CLASS(25, 1536, 1),
    PAGE_CLASS(25, 1536, 2),
    PAGE_CLASS(26, 1792, 0),
    PAGE_CLASS(26, 1792, 1),
    PAGE_CLASS(26, 1792, 2),
    PAGE_CLASS(26, 1792, 3),
    PAGE_CLASS(26, 1792, 4),
    PAGE_CLASS(26, 1792, 5),
    PAGE_CLASS(26, 1792, 6),
    PAGE_CLASS(27, 2048, 0),
    PAGE_CLASS(27, 2048, 1),
    PAGE_CLASS(27, 2048, 2),
    PAGE_CLASS(27, 2048, 3),
    PAGE_CLASS(28, 2560, 0),
    PAGE_CLASS(28, 2560, 1),
    PAGE_CLASS(28, 2560, 2),
    PAGE_CLASS(28, 2560, 3),
    PAGE_CLASS(28, 2560, 4),
    PAGE_CLASS(29, 3072, 0),
    PAGE_CLASS(29, 3072, 1),
    PAGE_CLASS(29, 3072, 2),
};

const uint8_t strata__bin_of_words[STRATA__SMALL_MAX / 8 + 1] = {0, 0, 1, 2, 3, 4, 5, 6,
    7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15,
    15, 15, 16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 17, 17, 17, 17, 17, 17, 18, 18, 18,
    18, 18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 20, 20, 20, 20, 20, 20, 20, 20,
    20, 20, 20, 20, 20, 20, 20, 20, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
    21, 21, 21, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 23, 23,
    23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 23, 24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
    24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25,
    25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 26, 26, 26, 26, 26, 26,
    26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26,
    26, 26, 26, 26, 26, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27,
    27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 29, 29, 29, 29,
    29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29,
    29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29,
    29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29};
