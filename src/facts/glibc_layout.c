/*
 * glibc_layout.c - the table of layouts. Data only.
 *
 * Read from malloc/malloc.c and malloc/arena.c of glibc 2.26, 2.27, 2.30 to 2.32, 2.34 to
 * 2.36, 2.41, 2.42 and the tree of January 2026 that became 2.43; x86-64 and aarch64 agree,
 * since all types involved are LP64. What changed, and when:
 *   2.27  have_fastchunks appears before the fast bins
 *   2.30  tcache counters grow from char to uint16_t
 *   2.32  links of fast bins and tcaches are mangled
 *   2.35  transparent and explicit huge pages in mp_, which size the heaps; heap_info grows
 *   2.42  tcache counters count down; twelve more bins; heaps are 64 MiB again
 *   2.43  fast bins are gone; thp_mode in mp_; the size of a block taken by mmap leaves its
 *         header out
 * A release of a distribution may carry a patch, so the reader never trusts the version
 * alone: glibc_find.c takes the row that fits what it sees.
 */
#include "facts/glibc_layout.h"

#include <stddef.h>

#define STATE_2_26                                                                       \
    {                                                                                    \
        0x8, 0x58, 0x60, 0x68, 0x868, 0x878, 0x880, 0x888, 0x890                         \
    }
#define STATE_2_27                                                                       \
    {                                                                                    \
        0x10, 0x60, 0x68, 0x70, 0x870, 0x880, 0x888, 0x890, 0x898                        \
    }
#define STATE_2_43                                                                       \
    {                                                                                    \
        0, 0x8, 0x10, 0x18, 0x818, 0x828, 0x830, 0x838, 0x840                            \
    }

#define PARAMETERS_2_26                                                                  \
    {                                                                                    \
        0, 0, 0x28, 0x38, 0x50, 0x70                                                     \
    }
#define PARAMETERS_2_35                                                                  \
    {                                                                                    \
        0x28, 0x30, 0x3c, 0x50, 0x68, 0x88                                               \
    }
#define PARAMETERS_2_43                                                                  \
    {                                                                                    \
        0x30, 0x38, 0x44, 0x58, 0x70, 0x90                                               \
    }

#define TCACHE_2_26                                                                      \
    {                                                                                    \
        1, 64, 64, 0x250, false                                                          \
    }
#define TCACHE_2_30                                                                      \
    {                                                                                    \
        2, 64, 128, 0x290, false                                                         \
    }
#define TCACHE_2_42                                                                      \
    {                                                                                    \
        2, 76, 152, 0x300, true                                                          \
    }

enum { HEAP_INFO_OLD_BYTES = 0x20, HEAP_INFO_2_35_BYTES = 0x30 };

const struct glibc_layout glibc_layouts[GLIBC_LAYOUT_COUNT] = {
    [GLIBC_LAYOUT_2_26] = {26, 26, HEAP_INFO_OLD_BYTES, false, 0, false, STATE_2_26,
        PARAMETERS_2_26, TCACHE_2_26},
    [GLIBC_LAYOUT_2_27] = {27, 29, HEAP_INFO_OLD_BYTES, false, 0, false, STATE_2_27,
        PARAMETERS_2_26, TCACHE_2_26},
    [GLIBC_LAYOUT_2_30] = {30, 31, HEAP_INFO_OLD_BYTES, false, 0, false, STATE_2_27,
        PARAMETERS_2_26, TCACHE_2_30},
    [GLIBC_LAYOUT_2_32] = {32, 34, HEAP_INFO_OLD_BYTES, true, 0, false, STATE_2_27,
        PARAMETERS_2_26, TCACHE_2_30},
    [GLIBC_LAYOUT_2_35] = {35, 41, HEAP_INFO_2_35_BYTES, true, 0, true, STATE_2_27,
        PARAMETERS_2_35, TCACHE_2_30},
    [GLIBC_LAYOUT_2_42] = {42, 42, HEAP_INFO_2_35_BYTES, true, 0, false, STATE_2_27,
        PARAMETERS_2_35, TCACHE_2_42},
    [GLIBC_LAYOUT_2_43] = {43, 99, HEAP_INFO_2_35_BYTES, true, GLIBC_CHUNK_HEADER_BYTES,
        false, STATE_2_43, PARAMETERS_2_43, TCACHE_2_42},
};
