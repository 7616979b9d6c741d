/*
 * lab.h - what the labs on request heaps have in common: a table with four columns, PHP as
 * a second opinion, and what must be equal.
 *
 * A figure is a number or LAB_UNKNOWN. A lab ends with one of these exit codes: 0, 1 when
 * something differs which must not (only with --check), 2 usage, 5 when PHP's own figures
 * are missing.
 */
#ifndef STRATA_LABS_REQUEST_HEAPS_LAB_H
#define STRATA_LABS_REQUEST_HEAPS_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <strata/heap.h>

#include "base.h"

enum lab_column { LAB_PUBLISHED, LAB_PHP, LAB_ZEND, LAB_COMPACT, LAB_COLUMNS };
enum { LAB_TEXT_BYTES = 16384, LAB_PATH_BYTES = 256 };

struct lab {
    bool check;
    bool php_missing;
    unsigned differences;
    char php_text[LAB_TEXT_BYTES]; /* lines `KEY NUMBER` of the last script */
};

/* One row of a table, by column. */
struct lab_row {
    int64_t figure[LAB_COLUMNS];
};

/* The figures of a heap, and what the kernel keeps of this process. */
struct lab_reading {
    int64_t used;
    int64_t real;
    int64_t peak_real;
    int64_t rss;
};

/* Reads the arguments (--check) and prints the title; ends the program on wrong usage. */
void lab_begin(struct lab *lab, int count, char **arguments, const char *title);

/*
 * Runs `php -n` with this text as script, memory_limit, and one argument (or NULL), and
 * keeps what it prints. False when PHP is missing (said once) or failed.
 */
bool lab_run_php(
    struct lab *lab, const char *script, const char *memory_limit, const char *argument);

/* The command line of PHP: STRATA_PHP from the environment, or php8.2. */
const char *lab_php_program(void);

/* Says once which program is missing, and the package it is in. */
void lab_note_missing(struct lab *lab, const char *program, const char *package);
void lab_note_php_missing(struct lab *lab);

/* The number which the last script printed behind this key, or LAB_UNKNOWN. */
int64_t lab_php_figure(const struct lab *lab, const char *key);

/* The same of a point (point.php): used, real, peak_used, peak_real or rss. */
int64_t lab_php_point(const struct lab *lab, const char *point, const char *figure);

/*
 * Writes the script to a file of its own in the temporary directory, whose path (up to
 * LAB_PATH_BYTES) the caller unlinks. 0 or -errno; path is empty when there is no file.
 */
int lab_write_script(const char *script, char *path);

/* Prints the head of a table of any columns, and a row of it. */
void lab_print_titles(const char *what, const char *const *titles, size_t columns);
void lab_print_figures(const char *label, const int64_t *figures, size_t columns);

/* Prints the head of a table with columns enum lab_column, and a row of it. */
void lab_print_head(const char *what);
void lab_print_row(const char *label, const struct lab_row *row);

/* Says and counts it when ours is not what it must be. An unknown limit is no limit. */
void lab_expect_equal(struct lab *lab, const char *what, int64_t ours, int64_t wanted);
void lab_expect_at_most(struct lab *lab, const char *what, int64_t ours, int64_t most);
void lab_expect_at_least(struct lab *lab, const char *what, int64_t ours, int64_t least);

/* Prints the verdict; the exit code of the program. */
int lab_end(const struct lab *lab);

/*
 * A heap with blocks that stand for what PHP has allocated when a script starts: 484,176
 * bytes as in the published run, on 142 pages, since PHP's small blocks leave most of
 * their pages empty. Ends the program when there is no memory for it.
 */
struct strata_heap *lab_heap_new(enum strata_layout layout);

/* The same with options of the lab's own. */
struct strata_heap *lab_heap_with(const struct strata_heap_options *options);

/* The layout of a column, LAB_ZEND or LAB_COMPACT. */
enum strata_layout lab_layout(enum lab_column column);

struct lab_reading lab_read(const struct strata_heap *heap);

/* The same without RSS (0), which costs a look into /proc. */
struct lab_reading lab_read_heap(const struct strata_heap *heap);

/* strata_alloc, and one word written to each page; ends the program when it is refused. */
void *lab_alloc(struct strata_heap *heap, size_t bytes);

/* What a string of this length asks for, and a packed array's table. */
size_t lab_string_bytes(size_t length);
size_t lab_table_bytes(size_t capacity);

/* A packed array's struct, without its table. */
enum { LAB_ARRAY_BYTES = 56 };

/*
 * Published figures come from a machine with pages of 16 KiB, where a huge block is
 * rounded up to those. This is by how much the block is larger there.
 */
int64_t lab_page_surplus(size_t huge_bytes);

#endif
