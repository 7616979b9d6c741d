/*
 * The one place of the allocator that knows stdio: the caller hands malloc_info(3) a
 * stream. The text is made first, from figures that were taken under the locks; then
 * fwrite is called with no lock held, since it may call malloc for the stream's buffer.
 *
 * The form follows glibc's, version 1: a <malloc> with <total> and <system> elements, which
 * scripts look for. Figures that only strata has are in elements of their own.
 */
#include "malloc_info.h"

#include <errno.h>

#include "front_figures.h"
#include "text.h"

#define INFO_TEXT_MAX 2048

static void add(struct strata__text *text, const char *before, size_t number)
{
    strata__text_add(text, before);
    strata__text_number(text, number);
}

int malloc_info(int options, FILE *stream)
{
    struct strata__front_stats stats;
    struct strata__text text;
    char buffer[INFO_TEXT_MAX];
    if (options != 0) {
        return EINVAL;
    }
    strata__front_get_stats(&stats);
    strata__text_init(&text, buffer, sizeof(buffer));
    strata__text_add(&text, "<malloc version=\"1\">\n");
    add(&text, "<total type=\"mmap\" count=\"", stats.large_blocks);
    add(&text, "\" size=\"", stats.large_bytes);
    add(&text, "\"/>\n<system type=\"current\" size=\"", stats.resident_bytes);
    add(&text, "\"/>\n<aspace type=\"total\" size=\"", stats.mapped_bytes);
    add(&text, "\"/>\n<strata in_use=\"", stats.in_use_bytes);
    add(&text, "\" blocks=\"", stats.in_use_blocks);
    add(&text, "\" cached=\"", stats.cached_bytes);
    add(&text, "\" free=\"", stats.free_bytes);
    add(&text, "\" descriptors=\"", stats.metadata_bytes);
    strata__text_add(&text, "\"/>\n</malloc>\n");
    return fwrite(text.start, 1, text.length, stream) == text.length ? 0 : -1;
}
