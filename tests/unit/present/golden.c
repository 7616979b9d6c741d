/* golden.c - reads, compares and on request rewrites the files in tests/golden. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PATH_BYTES = 4096, READ_BYTES = 65536 };

static void write_file(const char *path, const struct buffer *buffer)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(
        fwrite(buffer_text(buffer), 1, buffer->length_bytes, file), buffer->length_bytes);
    assert_int_equal(fclose(file), 0);
}

static void read_file(const char *path, struct buffer *buffer)
{
    FILE *file = fopen(path, "rb");
    size_t bytes;

    if (file == NULL) {
        fail_msg("no golden file '%s': run the test with UPDATE_GOLDEN=1", path);
    }
    do {
        char *place = buffer_reserve(buffer, READ_BYTES);
        assert_non_null(place);
        bytes = fread(place, 1, READ_BYTES - 1, file);
        buffer_commit(buffer, bytes);
    } while (bytes > 0);
    assert_int_equal(fclose(file), 0);
}

/* Line of the first difference, counted from 1. */
static int first_difference(const char *a, const char *b)
{
    int line = 1;

    for (; *a == *b && *a != '\0'; a++, b++) {
        line += *a == '\n' ? 1 : 0;
    }
    return line;
}

void assert_golden(const char *name, const struct buffer *buffer)
{
    const char *update = getenv("UPDATE_GOLDEN");
    struct buffer expected;
    char path[PATH_BYTES];

    assert_int_equal(buffer_error(buffer), 0);
    (void)snprintf(path, sizeof(path), "%s/%s", STRATA_GOLDEN, name);
    if (update != NULL && strcmp(update, "1") == 0) {
        write_file(path, buffer);
        return;
    }
    buffer_init(&expected);
    read_file(path, &expected);
    if (expected.length_bytes != buffer->length_bytes ||
        memcmp(buffer_text(&expected), buffer_text(buffer), buffer->length_bytes) != 0) {
        int line = first_difference(buffer_text(&expected), buffer_text(buffer));
        fprintf(stderr, "%s", buffer_text(buffer));
        buffer_release(&expected);
        fail_msg("output differs from '%s' in line %d", path, line);
    }
    buffer_release(&expected);
}
