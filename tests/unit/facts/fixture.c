/*
 * fixture.c - opens what lies in tests/fixtures.
 *
 * A missing fixture fails the test that asked for it. The caller closes and releases what
 * it opened.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { FIXTURE_MAX_BYTES = 1 << 20 };

const char *fixture_folder(void)
{
    return STRATA_FIXTURES;
}

void fixture_open(struct facts_root *root, const char *name)
{
    static char path[4096]; /* the root keeps a pointer to it */

    (void)snprintf(path, sizeof(path), "%s/%s", STRATA_FIXTURES, name);
    assert_int_equal(facts_root_open(root, path, NULL), 0);
}

void fixture_process(struct facts_root *root, int32_t pid, struct process_folder *folder)
{
    assert_int_equal(process_folder_open(root, pid, folder), 0);
}

void fixture_text(struct process_folder *folder, const char *file, struct buffer *buffer)
{
    buffer_init(buffer);
    assert_int_equal(process_folder_read(folder, file, FIXTURE_MAX_BYTES, buffer), 0);
    assert_non_null(buffer->data);
}
