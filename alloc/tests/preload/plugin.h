/* What the test library offers; looked up by dlsym. */
#ifndef STRATA_TESTS_PLUGIN_H
#define STRATA_TESTS_PLUGIN_H

#include <stddef.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

PLUGIN_EXPORT void *plugin_alloc(size_t bytes);
PLUGIN_EXPORT void plugin_free(void *block);
PLUGIN_EXPORT void *plugin_early(void);

#endif
