/* A library that is opened with RTLD_DEEPBIND, as PHP opens its extensions: where do its
 * malloc and free lead? The constructor allocates while the loader is at work. */
#include "plugin.h"

#include <stdlib.h>

static void *early;
static void *at_end;

__attribute__((constructor)) static void start(void)
{
    early = malloc(100);
    at_end = malloc(3000);
}

__attribute__((destructor)) static void end(void)
{
    free(at_end);
    free(malloc(50000));
}

void *plugin_alloc(size_t bytes)
{
    return malloc(bytes);
}

void plugin_free(void *block)
{
    free(block);
}

void *plugin_early(void)
{
    return early;
}
