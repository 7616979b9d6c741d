/* overview_table.h - the columns of the overview and of `strata top`: one table for both. */
#ifndef STRATA_PRESENT_OVERVIEW_TABLE_H
#define STRATA_PRESENT_OVERVIEW_TABLE_H

#include <stdbool.h>

#include "present/overview.h"
#include "present/page.h"

/* What the bill of a row's cgroup is to the row. */
enum overview_bill {
    BILL_OWN,    /* no larger row is billed with it */
    BILL_SHARED, /* it stands in a larger row already */
    BILL_HOST,   /* the root of all cgroups: it bills everything */
};

/* One row, or one process of an unfolded row. All is borrowed. */
struct overview_line {
    const char *name;
    size_t row; /* index in the overview */
    int32_t pid;
    size_t processes; /* 1: pid is shown, else how many */
    bool member;      /* a process below its row */
    bool unfolded;
    enum overview_bill bill;
    const struct layer *layers;      /* LAYER_COUNT of them */
    const struct finding_list *list; /* NULL: none */
};

/* index: of a row; the order of the rows must be that of overview_sort(). */
enum overview_bill overview_bill_of(const struct overview *overview, size_t index);

/* The rows as lines, in the same order, which must be that of overview_sort(). */
void overview_lines_fill(const struct overview *overview, struct overview_line *lines);

enum { OVERVIEW_COLUMNS = 7 };

/* "tracked", "in use", ...; column below OVERVIEW_COLUMNS. */
const char *overview_column_title(int column);

/* The number of a cell, as it is shown; *known false: it has none. */
uint64_t overview_cell(const struct overview_line *line, int column, bool *known);

/* What stands before such a number in its cell: "≤", "≥", or the same in ASCII; "" before most. */
const char *overview_bound_sign(const struct page *page, enum layer_bound bound);

enum overview_column_state {
    COLUMN_EMPTY, /* no line has a number for it */
    COLUMN_SHOWN,
    COLUMN_NO_ROOM,
};

/* Where everything goes; computed once for all lines. */
struct overview_grid {
    enum overview_column_state states[OVERVIEW_COLUMNS];
    int name_columns;
    int cell_columns;
    int first_cell;
    int finding_column;
};

struct overview_grid overview_grid_plan(
    const struct page *page, const struct overview_line *lines, size_t count);

/* sorted: the column whose title is marked; -1: none. Ends the line. */
void overview_table_head(struct page *page, const struct overview_grid *grid, int sorted);

/* Ends the line. */
void overview_table_line(struct page *page, const struct overview_grid *grid,
    const struct overview_line *line);

/* "12 processes, memory 24.0 GiB, ..." without the end of the line. */
void overview_host_line(struct page *page, const struct facts *host);

#endif
