/* golden.h - output compared byte for byte with a file that people have read. */
#ifndef STRATA_TESTS_UNIT_PRESENT_GOLDEN_H
#define STRATA_TESTS_UNIT_PRESENT_GOLDEN_H

#include "base/buffer.h"

/*
 * Fails the running test unless buffer equals tests/golden/NAME. With UPDATE_GOLDEN=1 in
 * the environment the file is written instead: read the difference before it is committed.
 */
void assert_golden(const char *name, const struct buffer *buffer);

#endif
