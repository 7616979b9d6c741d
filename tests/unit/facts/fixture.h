/* fixture.h - captured trees of /proc, and texts of them, for the tests of readers. */
#ifndef STRATA_TESTS_UNIT_FACTS_FIXTURE_H
#define STRATA_TESTS_UNIT_FACTS_FIXTURE_H

#include "base/buffer.h"
#include "facts/process_folder.h"
#include "facts/root.h"

/* Opens tests/fixtures/NAME; fails the test when it cannot. */
void fixture_open(struct facts_root *root, const char *name);

/* tests/fixtures itself. */
const char *fixture_folder(void);

/* Opens the folder of a process in it. */
void fixture_process(struct facts_root *root, int32_t pid, struct process_folder *folder);

/* The file of that process; the text may be changed, NUL terminated. */
void fixture_text(struct process_folder *folder, const char *file, struct buffer *buffer);

#endif
