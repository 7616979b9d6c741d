/* heap_table.h - the tables of malloc's arenas and of PHP's heaps share their columns. */
#ifndef STRATA_PRESENT_HEAP_TABLE_H
#define STRATA_PRESENT_HEAP_TABLE_H

#include "present/page.h"

enum {
    HEAP_TABLE_INDENT = 2,
    HEAP_TABLE_NAME_COLUMNS = 18, /* of the first column, its indent included */
    HEAP_TABLE_CELLS = 5,
};

/* Text in the cell of that number, from 0, aligned at its right edge. */
void heap_table_cell(struct page *page, enum ink ink, int number, const char *text);

/* The titles of all cells, and the end of the line that a heading has begun. */
void heap_table_titles(struct page *page, const char *const titles[HEAP_TABLE_CELLS]);

#endif
