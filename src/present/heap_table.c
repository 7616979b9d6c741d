/*
 * heap_table.c - where the cells of a table of heaps end.
 *
 * Exact bytes need more columns in a cell than MiB do, so what is beyond five cells goes on in
 * a second line, below the last ones. Tables with the same cells stand below each other on the
 * screen, so one edge must run through them.
 */
#include "present/heap_table.h"

enum { COLUMNS_EXACT = 12, CELLS_EXACT = 5 };

void heap_table_name(struct page *page, enum ink ink, const char *name)
{
    page_at(page, HEAP_TABLE_INDENT);
    page_fit(page, ink, name, HEAP_TABLE_NAME_COLUMNS - HEAP_TABLE_INDENT + 1);
}

void heap_table_cell(struct page *page, enum ink ink, const struct heap_table *table,
    int number, const char *text)
{
    int end = HEAP_TABLE_NAME_COLUMNS;

    if (page->style->exact_bytes) {
        if (number == CELLS_EXACT) {
            page_end_line(page);
        }
        number -= number < CELLS_EXACT ? 0 : table->count - CELLS_EXACT;
        end += (number + 1) * COLUMNS_EXACT;
    } else {
        for (int i = 0; i <= number; i++) {
            end += table->cells[i].columns;
        }
    }
    page_right(page, ink, text, end);
}

void heap_table_titles(struct page *page, const struct heap_table *table)
{
    for (int i = 0; i < table->count; i++) {
        heap_table_cell(page, INK_DIM, table, i, table->cells[i].title);
    }
    page_end_line(page);
}
