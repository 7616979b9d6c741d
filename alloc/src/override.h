/*
 * The names under which programs find the malloc replacement. Prototypes of the C
 * library's own headers, which cannot be included here: <malloc.h> and <stdlib.h> declare
 * some of them with attributes that would make the compiler change the definitions.
 */
#ifndef STRATA_OVERRIDE_H
#define STRATA_OVERRIDE_H

#include <stddef.h>

#define STRATA__EXPORT __attribute__((visibility("default")))

/* As struct mallinfo and struct mallinfo2 (mallinfo(3)). */
struct strata__mallinfo {
    int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
        keepcost;
};
struct strata__mallinfo2 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
        keepcost;
};

STRATA__EXPORT void *malloc(size_t bytes);
STRATA__EXPORT void free(void *block);
STRATA__EXPORT void cfree(void *block);
STRATA__EXPORT void free_sized(void *block, size_t bytes);
STRATA__EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes);
STRATA__EXPORT void *calloc(size_t count, size_t bytes);
STRATA__EXPORT void *realloc(void *block, size_t bytes);
STRATA__EXPORT void *reallocarray(void *block, size_t count, size_t bytes);
STRATA__EXPORT void *aligned_alloc(size_t alignment, size_t bytes);
STRATA__EXPORT void *memalign(size_t alignment, size_t bytes);
STRATA__EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes);
STRATA__EXPORT void *valloc(size_t bytes);
STRATA__EXPORT void *pvalloc(size_t bytes);
STRATA__EXPORT size_t malloc_usable_size(void *block);
STRATA__EXPORT int malloc_trim(size_t pad_bytes);
STRATA__EXPORT int mallopt(int parameter, int value);
STRATA__EXPORT struct strata__mallinfo mallinfo(void);
STRATA__EXPORT struct strata__mallinfo2 mallinfo2(void);
STRATA__EXPORT void malloc_stats(void);

#endif
