/*
 * layout_tags.h - the part of layout.h that says which thread holds how much under which
 * tag. Data only.
 */
#ifndef STRATA_LAYOUT_TAGS_H
#define STRATA_LAYOUT_TAGS_H

#include <stdint.h>

enum {
    STRATA_LAYOUT_THREADS = 256, /* threads that have used tags */
    STRATA_LAYOUT_TAGS = 256,
    STRATA_LAYOUT_RECORDS = 2048, /* pairs of a thread and a tag */
    STRATA_LAYOUT_NAME_BYTES = 32,
    STRATA_LAYOUT_TAG_BYTES = 64
};

/* A thread that has used tags. */
struct strata_layout_thread {
    uint32_t sequence;
    int32_t
        thread_id; /* as in /proc/PID/task, in the process's own namespace; 0: unused */
    uint64_t used_bytes; /* of blocks that it allocated under tags, whoever frees them */
    uint64_t peak_bytes;
    uint64_t ceiling_bytes; /* 0: none */
    uint64_t refused;       /* requests above the ceiling */
    char name[STRATA_LAYOUT_NAME_BYTES];
    uint64_t reserved_words[7];
};

/* What one thread holds under one tag. */
struct strata_layout_record {
    uint32_t sequence;
    uint16_t thread; /* index into threads */
    uint16_t tag;    /* index into tags */
    uint64_t used_bytes;
    uint64_t used_blocks;
    uint64_t peak_bytes;
    uint64_t allocations; /* so far */
    uint64_t reserved_words[3];
};

#endif
