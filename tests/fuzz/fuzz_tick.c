/*
 * fuzz_tick.c - ticks of a hostile recording: no access outside of the table, and what is
 * accepted can be written and read again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/tick_code.h"

enum { SUBJECTS = 50, METRICS = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct tick_table table;
    struct tick_table again;
    struct buffer written;
    uint64_t last = 0;

    if (tick_table_init(&table, SUBJECTS, METRICS) != 0 ||
        tick_table_init(&again, SUBJECTS, METRICS) != 0) {
        abort();
    }
    buffer_init(&written);
    (void)tick_decode(data, bytes, &table);
    for (uint64_t i = 1; i < SUBJECTS; i++) {
        if (table.rows[i] != NULL) {
            tick_encode_row(&written, i - last, NULL, table.rows[i], METRICS);
            last = i;
        }
    }
    if (tick_decode(written.data, written.length_bytes, &again) != 0) {
        abort();
    }
    for (uint64_t i = 1; i < SUBJECTS; i++) {
        if ((table.rows[i] == NULL) != (again.rows[i] == NULL) ||
            (table.rows[i] != NULL && memcmp(table.rows[i], again.rows[i],
                                          METRICS * sizeof(struct tick_cell)) != 0)) {
            abort();
        }
    }
    buffer_release(&written);
    tick_table_release(&table);
    tick_table_release(&again);
    return 0;
}
