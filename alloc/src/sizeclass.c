/*
 * The tables of sizeclass.h. The block classes come from sizeclass.def. The derived tables
 * are spelt out, since C cannot compute them at compile time: sizeclass_test.c recomputes
 * every entry from the first table and compares.
 *
 * Invariants: the page classes of a bin follow one another, one for each page of a ZEND
 * run; a COMPACT run of the same length shares them, others have classes of their own
 * behind these; all classes fit in STRATA__CLASS_BITS.
 *
 * Read only, so any thread may use it.
 */
#include "sizeclass.h"

enum {
    ZEND_CLASS_0 = 3,
    ZEND_CLASS_1 = 4,
    ZEND_CLASS_2 = 5,
    ZEND_CLASS_3 = 6,
    ZEND_CLASS_4 = 7,
    ZEND_CLASS_5 = 8,
    ZEND_CLASS_6 = 9,
    ZEND_CLASS_7 = 10,
    ZEND_CLASS_8 = 11,
    ZEND_CLASS_9 = 12,
    ZEND_CLASS_10 = 13,
    ZEND_CLASS_11 = 14,
    ZEND_CLASS_12 = 15,
    ZEND_CLASS_13 = 16,
    ZEND_CLASS_14 = 17,
    ZEND_CLASS_15 = 18,
    ZEND_CLASS_16 = 19,
    ZEND_CLASS_17 = 24,
    ZEND_CLASS_18 = 27,
    ZEND_CLASS_19 = 28,
    ZEND_CLASS_20 = 29,
    ZEND_CLASS_21 = 34,
    ZEND_CLASS_22 = 37,
    ZEND_CLASS_23 = 39,
    ZEND_CLASS_24 = 41,
    ZEND_CLASS_25 = 46,
    ZEND_CLASS_26 = 49,
    ZEND_CLASS_27 = 56,
    ZEND_CLASS_28 = 60,
    ZEND_CLASS_29 = 65,
    COMPACT_CLASS_0 = STRATA__CLASS_TINY,
    COMPACT_CLASS_1 = ZEND_CLASS_1,
    COMPACT_CLASS_2 = ZEND_CLASS_2,
    COMPACT_CLASS_3 = ZEND_CLASS_3,
    COMPACT_CLASS_4 = ZEND_CLASS_4,
    COMPACT_CLASS_5 = ZEND_CLASS_5,
    COMPACT_CLASS_6 = ZEND_CLASS_6,
    COMPACT_CLASS_7 = ZEND_CLASS_7,
    COMPACT_CLASS_8 = ZEND_CLASS_8,
    COMPACT_CLASS_9 = ZEND_CLASS_9,
    COMPACT_CLASS_10 = ZEND_CLASS_10,
    COMPACT_CLASS_11 = ZEND_CLASS_11,
    COMPACT_CLASS_12 = ZEND_CLASS_12,
    COMPACT_CLASS_13 = ZEND_CLASS_13,
    COMPACT_CLASS_14 = ZEND_CLASS_14,
    COMPACT_CLASS_15 = ZEND_CLASS_15,
    COMPACT_CLASS_16 = 68,
    COMPACT_CLASS_17 = 69,
    COMPACT_CLASS_18 = ZEND_CLASS_18,
    COMPACT_CLASS_19 = ZEND_CLASS_19,
    COMPACT_CLASS_20 = 70,
    COMPACT_CLASS_21 = 71,
    COMPACT_CLASS_22 = ZEND_CLASS_22,
    COMPACT_CLASS_23 = 72,
    COMPACT_CLASS_24 = 73,
    COMPACT_CLASS_25 = ZEND_CLASS_25,
    COMPACT_CLASS_26 = 74,
    COMPACT_CLASS_27 = 78,
    COMPACT_CLASS_28 = ZEND_CLASS_28,
    COMPACT_CLASS_29 = ZEND_CLASS_29,
};

const struct strata__sizeclass strata__sizeclasses[STRATA__BINS] = {
#define STRATA_BIN(bin, bytes, zend_pages, zend_blocks, compact_pages)                   \
    [bin] = {bytes, zend_pages, zend_blocks, ZEND_CLASS_##bin, compact_pages,            \
        (compact_pages)*STRATA__PAGE_BYTES / (bytes), COMPACT_CLASS_##bin},
#include "sizeclass.def"
#undef STRATA_BIN
};

/* One entry: a page `page` pages behind the start of a run of `pages` pages. */
#define PAGE_CLASS(bin, bytes, blocks, page, pages)                                      \
    {                                                                                    \
        UINT32_MAX / (bytes) + 1,                                                        \
            (int16_t)(((page) - (pages)) * (int)STRATA__PAGE_BYTES +                     \
                      (bytes) * (blocks)),                                               \
            bin, page                                                                    \
    }

const struct strata__page_class strata__page_classes[STRATA__PAGE_CLASSES] = {
    [ZEND_CLASS_0 + 0] = PAGE_CLASS(0, 8, 512, 0, 1),
    [ZEND_CLASS_1 + 0] = PAGE_CLASS(1, 16, 256, 0, 1),
    [ZEND_CLASS_2 + 0] = PAGE_CLASS(2, 24, 170, 0, 1),
    [ZEND_CLASS_3 + 0] = PAGE_CLASS(3, 32, 128, 0, 1),
    [ZEND_CLASS_4 + 0] = PAGE_CLASS(4, 40, 102, 0, 1),
    [ZEND_CLASS_5 + 0] = PAGE_CLASS(5, 48, 85, 0, 1),
    [ZEND_CLASS_6 + 0] = PAGE_CLASS(6, 56, 73, 0, 1),
    [ZEND_CLASS_7 + 0] = PAGE_CLASS(7, 64, 64, 0, 1),
    [ZEND_CLASS_8 + 0] = PAGE_CLASS(8, 80, 51, 0, 1),
    [ZEND_CLASS_9 + 0] = PAGE_CLASS(9, 96, 42, 0, 1),
    [ZEND_CLASS_10 + 0] = PAGE_CLASS(10, 112, 36, 0, 1),
    [ZEND_CLASS_11 + 0] = PAGE_CLASS(11, 128, 32, 0, 1),
    [ZEND_CLASS_12 + 0] = PAGE_CLASS(12, 160, 25, 0, 1),
    [ZEND_CLASS_13 + 0] = PAGE_CLASS(13, 192, 21, 0, 1),
    [ZEND_CLASS_14 + 0] = PAGE_CLASS(14, 224, 18, 0, 1),
    [ZEND_CLASS_15 + 0] = PAGE_CLASS(15, 256, 16, 0, 1),
    [ZEND_CLASS_16 + 0] = PAGE_CLASS(16, 320, 64, 0, 5),
    [ZEND_CLASS_16 + 1] = PAGE_CLASS(16, 320, 64, 1, 5),
    [ZEND_CLASS_16 + 2] = PAGE_CLASS(16, 320, 64, 2, 5),
    [ZEND_CLASS_16 + 3] = PAGE_CLASS(16, 320, 64, 3, 5),
    [ZEND_CLASS_16 + 4] = PAGE_CLASS(16, 320, 64, 4, 5),
    [ZEND_CLASS_17 + 0] = PAGE_CLASS(17, 384, 32, 0, 3),
    [ZEND_CLASS_17 + 1] = PAGE_CLASS(17, 384, 32, 1, 3),
    [ZEND_CLASS_17 + 2] = PAGE_CLASS(17, 384, 32, 2, 3),
    [ZEND_CLASS_18 + 0] = PAGE_CLASS(18, 448, 9, 0, 1),
    [ZEND_CLASS_19 + 0] = PAGE_CLASS(19, 512, 8, 0, 1),
    [ZEND_CLASS_20 + 0] = PAGE_CLASS(20, 640, 32, 0, 5),
    [ZEND_CLASS_20 + 1] = PAGE_CLASS(20, 640, 32, 1, 5),
    [ZEND_CLASS_20 + 2] = PAGE_CLASS(20, 640, 32, 2, 5),
    [ZEND_CLASS_20 + 3] = PAGE_CLASS(20, 640, 32, 3, 5),
    [ZEND_CLASS_20 + 4] = PAGE_CLASS(20, 640, 32, 4, 5),
    [ZEND_CLASS_21 + 0] = PAGE_CLASS(21, 768, 16, 0, 3),
    [ZEND_CLASS_21 + 1] = PAGE_CLASS(21, 768, 16, 1, 3),
    [ZEND_CLASS_21 + 2] = PAGE_CLASS(21, 768, 16, 2, 3),
    [ZEND_CLASS_22 + 0] = PAGE_CLASS(22, 896, 9, 0, 2),
    [ZEND_CLASS_22 + 1] = PAGE_CLASS(22, 896, 9, 1, 2),
    [ZEND_CLASS_23 + 0] = PAGE_CLASS(23, 1024, 8, 0, 2),
    [ZEND_CLASS_23 + 1] = PAGE_CLASS(23, 1024, 8, 1, 2),
    [ZEND_CLASS_24 + 0] = PAGE_CLASS(24, 1280, 16, 0, 5),
    [ZEND_CLASS_24 + 1] = PAGE_CLASS(24, 1280, 16, 1, 5),
    [ZEND_CLASS_24 + 2] = PAGE_CLASS(24, 1280, 16, 2, 5),
    [ZEND_CLASS_24 + 3] = PAGE_CLASS(24, 1280, 16, 3, 5),
    [ZEND_CLASS_24 + 4] = PAGE_CLASS(24, 1280, 16, 4, 5),
    [ZEND_CLASS_25 + 0] = PAGE_CLASS(25, 1536, 8, 0, 3),
    [ZEND_CLASS_25 + 1] = PAGE_CLASS(25, 1536, 8, 1, 3),
    [ZEND_CLASS_25 + 2] = PAGE_CLASS(25, 1536, 8, 2, 3),
    [ZEND_CLASS_26 + 0] = PAGE_CLASS(26, 1792, 16, 0, 7),
    [ZEND_CLASS_26 + 1] = PAGE_CLASS(26, 1792, 16, 1, 7),
    [ZEND_CLASS_26 + 2] = PAGE_CLASS(26, 1792, 16, 2, 7),
    [ZEND_CLASS_26 + 3] = PAGE_CLASS(26, 1792, 16, 3, 7),
    [ZEND_CLASS_26 + 4] = PAGE_CLASS(26, 1792, 16, 4, 7),
    [ZEND_CLASS_26 + 5] = PAGE_CLASS(26, 1792, 16, 5, 7),
    [ZEND_CLASS_26 + 6] = PAGE_CLASS(26, 1792, 16, 6, 7),
    [ZEND_CLASS_27 + 0] = PAGE_CLASS(27, 2048, 8, 0, 4),
    [ZEND_CLASS_27 + 1] = PAGE_CLASS(27, 2048, 8, 1, 4),
    [ZEND_CLASS_27 + 2] = PAGE_CLASS(27, 2048, 8, 2, 4),
    [ZEND_CLASS_27 + 3] = PAGE_CLASS(27, 2048, 8, 3, 4),
    [ZEND_CLASS_28 + 0] = PAGE_CLASS(28, 2560, 8, 0, 5),
    [ZEND_CLASS_28 + 1] = PAGE_CLASS(28, 2560, 8, 1, 5),
    [ZEND_CLASS_28 + 2] = PAGE_CLASS(28, 2560, 8, 2, 5),
    [ZEND_CLASS_28 + 3] = PAGE_CLASS(28, 2560, 8, 3, 5),
    [ZEND_CLASS_28 + 4] = PAGE_CLASS(28, 2560, 8, 4, 5),
    [ZEND_CLASS_29 + 0] = PAGE_CLASS(29, 3072, 4, 0, 3),
    [ZEND_CLASS_29 + 1] = PAGE_CLASS(29, 3072, 4, 1, 3),
    [ZEND_CLASS_29 + 2] = PAGE_CLASS(29, 3072, 4, 2, 3),
    [COMPACT_CLASS_16 + 0] = PAGE_CLASS(16, 320, 12, 0, 1),
    [COMPACT_CLASS_17 + 0] = PAGE_CLASS(17, 384, 10, 0, 1),
    [COMPACT_CLASS_20 + 0] = PAGE_CLASS(20, 640, 6, 0, 1),
    [COMPACT_CLASS_21 + 0] = PAGE_CLASS(21, 768, 5, 0, 1),
    [COMPACT_CLASS_23 + 0] = PAGE_CLASS(23, 1024, 4, 0, 1),
    [COMPACT_CLASS_24 + 0] = PAGE_CLASS(24, 1280, 3, 0, 1),
    [COMPACT_CLASS_26 + 0] = PAGE_CLASS(26, 1792, 9, 0, 4),
    [COMPACT_CLASS_26 + 1] = PAGE_CLASS(26, 1792, 9, 1, 4),
    [COMPACT_CLASS_26 + 2] = PAGE_CLASS(26, 1792, 9, 2, 4),
    [COMPACT_CLASS_26 + 3] = PAGE_CLASS(26, 1792, 9, 3, 4),
    [COMPACT_CLASS_27 + 0] = PAGE_CLASS(27, 2048, 2, 0, 1),
};

/* The same entry so many times. */
#define X8(bin) bin, bin, bin, bin, bin, bin, bin, bin
#define X16(bin) X8(bin), X8(bin)
#define X32(bin) X16(bin), X16(bin)
#define X64(bin) X32(bin), X32(bin)
#define X128(bin) X64(bin), X64(bin)
#define X256(bin) X128(bin), X128(bin)
#define X512(bin) X256(bin), X256(bin)

const uint8_t strata__bins_of_bytes[STRATA__SMALL_MAX + 1] = {0, X8(0), X8(1), X8(2),
    X8(3), X8(4), X8(5), X8(6), X8(7), X16(8), X16(9), X16(10), X16(11), X32(12), X32(13),
    X32(14), X32(15), X64(16), X64(17), X64(18), X64(19), X128(20), X128(21), X128(22),
    X128(23), X256(24), X256(25), X256(26), X256(27), X512(28), X512(29)};
