/* kernel_config.h - how the running kernel was built, where it tells. */
#ifndef STRATA_FACTS_KERNEL_CONFIG_H
#define STRATA_FACTS_KERNEL_CONFIG_H

#include <stdbool.h>

#include "facts/root.h"

/*
 * Looks for the line "option=y" in /boot/config-RELEASE, then in /proc/config.gz. 0 with
 * *set; -ENOENT when neither can be read; -ENOMEM.
 */
int kernel_config_has(
    struct facts_root *root, const char *release, const char *option, bool *set);

#endif
