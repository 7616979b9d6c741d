/*
 * fuzz_capture.c - any bytes as a capture.
 *
 * What is accepted must be facts that can be written, read again and written to the same
 * bytes; what is refused must come with a sentence that names the capture.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bug.h"
#include "record/capture.h"

static void check_round_trip(const struct facts *facts)
{
    struct facts again;
    struct buffer first;
    struct buffer second;

    buffer_init(&first);
    buffer_init(&second);
    BUG_IF(capture_write(facts, &first, NULL) != 0);
    BUG_IF(capture_read("again", first.data, first.length_bytes, &again, NULL) != 0);
    BUG_IF(capture_write(&again, &second, NULL) != 0);
    BUG_IF(first.length_bytes != second.length_bytes ||
           memcmp(first.data, second.data, first.length_bytes) != 0);
    region_release(&again.region);
    buffer_release(&first);
    buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char start[] = "cannot read capture 'fuzz': ";
    struct error error = {0};
    struct facts facts;
    int rc = capture_read("fuzz", (const char *)data, bytes, &facts, &error);

    if (rc == 0) {
        check_round_trip(&facts);
        region_release(&facts.region);
    } else {
        BUG_IF(error.code != rc || strncmp(error.text, start, sizeof(start) - 1) != 0);
    }
    return 0;
}
