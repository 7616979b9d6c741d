/* table.h - the table of a result, once, for text, Markdown and HTML. */
#ifndef STRATA_TRIAL_TABLE_H
#define STRATA_TRIAL_TABLE_H

#include "base/buffer.h"
#include "trial/result.h"

enum { TABLE_COLUMNS = 12, TABLE_CELL_BYTES = 80 };

/* Heads of the columns, and the cells of one row. */
extern const char *const table_heads[TABLE_COLUMNS];
void table_row(const struct result *result, const struct result_row *row,
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES]);

/* The memory of one row by every figure: cold, idle, mean, peak, quiet. */
enum { MEMORY_COLUMNS = 6 };
extern const char *const memory_heads[MEMORY_COLUMNS];
void table_memory_row(const struct result_row *row, enum memory_figure figure,
    char cells[MEMORY_COLUMNS][TABLE_CELL_BYTES]);

/* Sentences under the table: how it was measured, what does not count and why. */
void table_notes(const struct result *result, struct buffer *buffer);

/* The tables of a result, aligned, in lines of line_columns; a cell is never cut. */
void result_tables(const struct result *result, int line_columns, struct buffer *buffer);

/* The whole result, with pipes. */
void result_markdown(const struct result *result, struct buffer *buffer);

#endif
