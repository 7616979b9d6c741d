/*
 * malloc.h - what libstrata-malloc.so offers beyond malloc: exact figures, peaks, trimming,
 * tags that say what memory is for, and a ceiling for a thread.
 *
 * A program that also runs without the library (it is usually preloaded) defines
 * STRATA_MALLOC_WEAK before it includes this file and asks before each call:
 *
 *     if (strata_tag_push != NULL) { strata_tag_push("sql/sort"); }
 *
 * All functions may be called by any thread. Functions that return int give 0 or an errno
 * value. Structs begin with struct_bytes, to be set to their size by the caller: a newer
 * library fills in no more than that.
 */
#ifndef STRATA_MALLOC_H
#define STRATA_MALLOC_H

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(STRATA_MALLOC_WEAK)
#    define STRATA_MALLOC_API __attribute__((weak))
#else
#    define STRATA_MALLOC_API __attribute__((visibility("default")))
#endif

/* Bytes, unless the name ends otherwise. in_use + cached + free == held. Exact while no
 * other thread allocates or frees. */
struct strata_malloc_stats {
    size_t struct_bytes;
    size_t in_use_bytes; /* of live blocks, rounded up to their classes or to pages */
    size_t in_use_blocks;
    size_t cached_bytes;  /* blocks that CPUs keep for their next call; with
                             STRATA_HARDENED those of its quarantine */
    size_t free_bytes;    /* address space that holds no block */
    size_t held_bytes;    /* address space taken from the system */
    size_t touched_bytes; /* pages of it that may be resident */
    size_t large_bytes;   /* part of in_use: blocks of whole pages */
    size_t large_blocks;
    size_t large_asked_bytes; /* what the program asked for of these */
    size_t descriptor_bytes;  /* outside of held: descriptors and tables */
    size_t purged_bytes;      /* given back to the system so far */
    size_t peak_span_bytes;   /* most address space in use but for huge blocks */
    size_t peak_large_bytes;  /* most in blocks of whole pages */
};

/* One size of small blocks. */
struct strata_malloc_class {
    size_t struct_bytes;
    size_t block_bytes;
    size_t slabs; /* of 64 KiB */
    size_t in_use_blocks;
    size_t cached_blocks;
    size_t free_blocks;
    size_t touched_bytes;
    size_t peak_blocks; /* most in use and cached since the last reset */
    size_t purged_bytes;
    size_t sampled_requests; /* requests that met no block kept by their CPU, */
    size_t sampled_bytes;    /* and what these asked for */
};

/* What a thread, or all threads, hold under a tag. */
struct strata_tag_usage {
    size_t struct_bytes;
    size_t used_bytes; /* of live blocks, whoever frees them */
    size_t used_blocks;
    size_t peak_bytes; /* of all threads: the sum of their peaks */
    size_t allocations;
};

STRATA_MALLOC_API int strata_malloc_get_stats(struct strata_malloc_stats *stats);
/* Classes are numbered from 0 without gaps; EINVAL behind the last one. */
STRATA_MALLOC_API int strata_malloc_get_class(
    unsigned number, struct strata_malloc_class *stats);
/* Peaks are from now on what is in use now. Tags and threads too. */
STRATA_MALLOC_API void strata_malloc_reset_peaks(void);
/* Gives back all that can be. 1: some page went; 0: none. */
STRATA_MALLOC_API int strata_malloc_trim(void);

/*
 * What this thread allocates until the pop counts under the tag, of at most 63 bytes, as
 * "sql/sort". Tags nest; the innermost counts. From the first push on every call of malloc
 * and free in the process takes a slower way (about twice as long; four to five times as
 * long under a tag, more where threads free each other's blocks); before, tags cost nothing.
 * ENOSPC: too many tags, threads or nested tags: nothing is counted, but the push has to be
 * popped all the same. EINVAL: no name, or one of 64 bytes and more: nothing was pushed, and
 * there is nothing to pop.
 */
STRATA_MALLOC_API int strata_tag_push(const char *tag);
STRATA_MALLOC_API void strata_tag_pop(void);
/* ENOENT: no such tag. The first: of the calling thread. */
STRATA_MALLOC_API int strata_tag_get_mine(
    const char *tag, struct strata_tag_usage *usage);
STRATA_MALLOC_API int strata_tag_get_all(const char *tag, struct strata_tag_usage *usage);

/* Names the calling thread for readers outside, as "connection 17": at most 31 bytes are
 * kept. ENOSPC: too many threads. */
STRATA_MALLOC_API int strata_thread_set_name(const char *name);
/*
 * malloc and its relatives fail with ENOMEM when the calling thread would hold more
 * than `bytes` of what it allocates from now on; 0: no ceiling. What it holds under tags
 * already counts. A block from before, or of another thread, counts whole for the thread
 * once that makes it grow. Costs what tags cost. ENOSPC as above.
 */
STRATA_MALLOC_API int strata_thread_set_ceiling(size_t bytes);

#if defined(__cplusplus)
}
#endif

#endif
