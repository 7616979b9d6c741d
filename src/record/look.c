/*
 * look.c - a look is a capture made small: facts that nothing reads are left out, the rest is on
 * one line and deflated. What is read back passes all checks of a capture.
 */
#include "record/look.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "record/capture.h"
#include "record/deflate.h"
#include "record/thin_facts.h"

enum { LEAST_BYTES = 64, DECIMAL = 10 };

static const char head[] = "strata look 1 ";

static size_t rows_of(const struct facts *facts)
{
    size_t rows = facts->process_count;

    for (size_t i = 0; i < facts->process_count; i++) {
        rows += facts->processes[i].mapping_count + facts->processes[i].span_count;
    }
    return rows;
}

static int write_thin(const struct facts *facts, struct buffer *plain)
{
    struct facts thin;
    int rc = thin_facts(facts, &thin);

    if (rc != 0) {
        return rc;
    }
    rc = rows_of(&thin) > LOOK_MOST_ROWS ? -EFBIG
                                         : capture_write_dense(&thin, plain, NULL);
    region_release(&thin.region);
    return rc == 0 && plain->length_bytes > LOOK_MOST_PLAIN_BYTES ? -EFBIG : rc;
}

int look_pack(const struct facts *facts, struct buffer *packed)
{
    struct buffer plain;

    buffer_init(&plain);
    int rc = write_thin(facts, &plain);
    if (rc == 0) {
        buffer_printf(packed, "%s%zu\n", head, plain.length_bytes);
        rc = deflate_append(packed, plain.data, plain.length_bytes, DEFLATE_THOROUGH);
    }
    buffer_release(&plain);
    rc = rc != 0 ? rc : buffer_error(packed);
    return rc == 0 && packed->length_bytes > LOOK_MOST_BYTES ? -EFBIG : rc;
}

/* The capture behind the first line, which says how large it is. */
static int inflate(const struct buffer *packed, struct buffer *plain)
{
    const char *text = buffer_text(packed);
    const char *rest = text + sizeof(head) - 1;
    uint64_t plain_bytes;

    if (packed->length_bytes < LEAST_BYTES ||
        strncmp(text, head, sizeof(head) - 1) != 0 ||
        number_read(&rest, DECIMAL, &plain_bytes) != 0 || *rest++ != '\n' ||
        plain_bytes > LOOK_MOST_PLAIN_BYTES) {
        return -EINVAL;
    }
    return inflate_append(
        plain, rest, packed->length_bytes - (size_t)(rest - text), (size_t)plain_bytes);
}

int look_unpack(const char *name, const struct buffer *packed, struct facts *facts)
{
    struct buffer plain;

    buffer_init(&plain);
    int rc = inflate(packed, &plain);
    if (rc == 0) {
        rc = capture_read(name, buffer_text(&plain), plain.length_bytes, facts, NULL);
    }
    buffer_release(&plain);
    return rc;
}
