/* kernel_text.h - small files of /proc and of cgroups: one number, or one behind a key. */
#ifndef STRATA_TRIAL_KERNEL_TEXT_H
#define STRATA_TRIAL_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads count numbers behind the word key at the start of a line; key "" reads them from the
 * start of the file. False when the file, the key or a number is missing.
 */
bool kernel_text_numbers(
    const char *path, const char *key, uint64_t *values, size_t count);

/*
 * Numbers parted by blanks from text on, after skip words of any kind; false when one is
 * missing.
 */
bool kernel_text_fields(const char *text, size_t skip, uint64_t *values, size_t count);

#endif
