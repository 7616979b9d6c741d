/*
 * heap_table.c - where the cells of a table of heaps end.
 *
 * Exact bytes need one column more in each cell than MiB do. Both tables stand below each
 * other on the screen, so one edge must run through them.
 */
#include "present/heap_table.h"

enum { CELL_COLUMNS = 11, CELL_COLUMNS_EXACT = 12 };

void heap_table_cell(struct page *page, enum ink ink, int number, const char *text)
{
    const int columns = page->style->exact_bytes ? CELL_COLUMNS_EXACT : CELL_COLUMNS;

    page_right(page, ink, text, HEAP_TABLE_NAME_COLUMNS + (number + 1) * columns);
}

void heap_table_titles(struct page *page, const char *const titles[HEAP_TABLE_CELLS])
{
    for (int i = 0; i < HEAP_TABLE_CELLS; i++) {
        heap_table_cell(page, INK_DIM, i, titles[i]);
    }
    page_end_line(page);
}
