/* heap_table.h - the tables of arenas and of heaps: a name, then numbers in columns. */
#ifndef STRATA_PRESENT_HEAP_TABLE_H
#define STRATA_PRESENT_HEAP_TABLE_H

#include "present/page.h"

enum {
    HEAP_TABLE_INDENT = 2,
    HEAP_TABLE_NAME_COLUMNS = 18, /* of the first column, its indent included */
    HEAP_TABLE_MAX_CELLS = 7,
    HEAP_TABLE_COLUMNS = 11, /* of a cell; five of them leave room at the end of a line */
};

/* The cells of a table from left to right. */
struct heap_table {
    int count;
    struct heap_table_column {
        const char *title;
        int columns; /* for MiB; those of exact bytes are all the same */
    } cells[HEAP_TABLE_MAX_CELLS];
};

/* The name with which a row begins. */
void heap_table_name(struct page *page, enum ink ink, const char *name);

/* Text in the cell of that number, from 0, aligned at its right edge; in their order. */
void heap_table_cell(struct page *page, enum ink ink, const struct heap_table *table,
    int number, const char *text);

/* The titles of all cells, and the end of the line that a heading has begun. */
void heap_table_titles(struct page *page, const struct heap_table *table);

#endif
