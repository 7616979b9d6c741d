/*
 * Tables, PHP as a child, expectations. Not thread safe: a lab is one thread.
 */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "resident.h"

enum {
    START_BLOCK_BYTES = 481936,
    START_LARGEST_SMALL_BYTES = 384,
    STRING_OVERHEAD_BYTES = 32,
    ELEMENT_BYTES = 16,
    HASH_BYTES = 8,
    PUBLISHED_PAGE_BYTES = 16384,
    CELL_BYTES = 32,
    KEY_BYTES = 64,
    OPTION_BYTES = 64,
};

#define LAB_PREFIX "lab-"

void lab_begin(struct lab *lab, int count, char **arguments, const char *title)
{
    *lab = (struct lab){.check = count == 2 && strcmp(arguments[1], "--check") == 0};
    if (count != 1 && !lab->check) {
        const char *slash = strrchr(arguments[0], '/');
        const char *file = slash != NULL ? slash + 1 : arguments[0];
        const bool named = strncmp(file, LAB_PREFIX, strlen(LAB_PREFIX)) == 0;
        fprintf(stderr, "usage: strata lab %s [--check]\n",
            named ? file + strlen(LAB_PREFIX) : file);
        exit(LAB_EXIT_USAGE);
    }
    printf("%s\n", title);
}

const char *lab_php_program(void)
{
    const char *chosen = getenv("STRATA_PHP");
    return chosen != NULL && chosen[0] != '\0' ? chosen : "php8.2";
}

void lab_note_missing(struct lab *lab, const char *program, const char *package)
{
    if (!lab->php_missing) {
        printf("PHP's own figures are missing: no '%s', install the package %s\n",
            program, package);
    }
    lab->php_missing = true;
}

void lab_note_php_missing(struct lab *lab)
{
    lab_note_missing(lab, lab_php_program(), "php8.2-cli");
}

bool lab_run_php(
    struct lab *lab, const char *script, const char *memory_limit, const char *argument)
{
    char no_ini[] = "-n";
    char define[] = "-d";
    char rest[] = "--";
    char limit[OPTION_BYTES];
    snprintf(limit, sizeof(limit), "memory_limit=%s", memory_limit);
    char *arguments[] = {
        (char *)lab_php_program(), no_ini, define, limit, rest, (char *)argument, NULL};
    struct child_job job = {.arguments = arguments,
        .input = script,
        .input_bytes = strlen(script),
        .output = lab->php_text,
        .output_capacity = sizeof(lab->php_text) - 1};
    lab->php_text[0] = '\0';
    if (lab->php_missing) {
        return false;
    }
    int error = child_run(&job);
    lab->php_text[job.output_bytes] = '\0';
    if (error == -ENOENT) {
        lab_note_php_missing(lab);
    } else if (error != 0) {
        lab_die(strerror(-error));
    }
    return error == 0;
}

int64_t lab_php_figure(const struct lab *lab, const char *key)
{
    char wanted[KEY_BYTES];
    snprintf(wanted, sizeof(wanted), "%s ", key);
    size_t length = strlen(wanted);
    for (const char *line = lab->php_text; line != NULL && *line != '\0';) {
        if (strncmp(line, wanted, length) == 0) {
            return strtoll(line + length, NULL, 10);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return LAB_UNKNOWN;
}

int64_t lab_php_point(const struct lab *lab, const char *point, const char *figure)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof(key), "%s.%s", point, figure);
    return lab_php_figure(lab, key);
}

int lab_write_script(const char *script, char *path)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, LAB_PATH_BYTES, "%s/strata-lab-XXXXXX",
        folder != NULL && folder[0] != '\0' ? folder : P_tmpdir);
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0) {
        int error = -errno;
        path[0] = '\0';
        return error;
    }
    size_t length = strlen(script);
    ssize_t written = write(file, script, length);
    close(file);
    return written == (ssize_t)length ? 0 : -EIO;
}

/* The number with commas at the thousands, or a dash. */
static void format_figure(int64_t figure, char text[CELL_BYTES])
{
    char digits[CELL_BYTES];
    size_t out = 0;
    if (figure == LAB_UNKNOWN) {
        snprintf(text, CELL_BYTES, "-");
        return;
    }
    snprintf(digits, sizeof(digits), "%" PRId64, figure);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length && out + 2 < CELL_BYTES; i++) {
        size_t left = length - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') {
            text[out++] = ',';
        }
        text[out++] = digits[i];
    }
    text[out] = '\0';
}

void lab_print_titles(const char *what, const char *const *titles, size_t columns)
{
    printf("\n%-32s", what);
    for (size_t column = 0; column < columns; column++) {
        printf(" %15s", titles[column]);
    }
    printf("\n");
}

void lab_print_figures(const char *label, const int64_t *figures, size_t columns)
{
    printf("%-32s", label);
    for (size_t column = 0; column < columns; column++) {
        char text[CELL_BYTES];
        format_figure(figures[column], text);
        printf(" %15s", text);
    }
    printf("\n");
}

void lab_print_head(const char *what)
{
    static const char *const titles[LAB_COLUMNS] = {[LAB_PUBLISHED] = "published",
        [LAB_PHP] = "php here",
        [LAB_ZEND] = "zend",
        [LAB_COMPACT] = "compact"};
    lab_print_titles(what, titles, LAB_COLUMNS);
}

void lab_print_row(const char *label, const struct lab_row *row)
{
    lab_print_figures(label, row->figure, LAB_COLUMNS);
}

static void expect(
    struct lab *lab, bool met, const char *what, const char *relation, int64_t figures[2])
{
    char ours[CELL_BYTES];
    char wanted[CELL_BYTES];
    if (figures[1] == LAB_UNKNOWN || met) {
        return;
    }
    format_figure(figures[0], ours);
    format_figure(figures[1], wanted);
    printf("DIFFERS: %s: %s, must be %s %s\n", what, ours, relation, wanted);
    lab->differences++;
}

void lab_expect_equal(struct lab *lab, const char *what, int64_t ours, int64_t wanted)
{
    expect(lab, ours == wanted, what, "exactly", (int64_t[]){ours, wanted});
}

void lab_expect_at_most(struct lab *lab, const char *what, int64_t ours, int64_t most)
{
    expect(lab, ours <= most, what, "at most", (int64_t[]){ours, most});
}

void lab_expect_at_least(struct lab *lab, const char *what, int64_t ours, int64_t least)
{
    expect(lab, ours >= least, what, "at least", (int64_t[]){ours, least});
}

int lab_end(const struct lab *lab)
{
    if (lab->differences > 0) {
        printf("\n%u figures differ which must not\n", lab->differences);
    } else {
        printf("\nall figures which must agree do%s\n",
            lab->php_missing ? ", without PHP's own" : "");
    }
    if (lab->check && lab->differences > 0) {
        return LAB_EXIT_DIFFERENT;
    }
    return lab->php_missing ? LAB_EXIT_PARTIAL : EXIT_SUCCESS;
}

enum strata_layout lab_layout(enum lab_column column)
{
    return column == LAB_ZEND ? STRATA_LAYOUT_ZEND : STRATA_LAYOUT_COMPACT;
}

/* The next size class, as far as START_LARGEST_SMALL_BYTES: four steps for each doubling. */
static size_t next_class(size_t bytes)
{
    enum { FINEST_BYTES = 8, FIRST_DOUBLING_BYTES = 64, STEPS = 4 };
    size_t step = FINEST_BYTES;
    for (size_t from = FIRST_DOUBLING_BYTES; bytes >= from; from *= 2) {
        step = from / STEPS;
    }
    return bytes + step;
}

/* PHP's own blocks: one for most of it, and the runs of pages which small ones take. */
static void alloc_start_blocks(struct strata_heap *heap)
{
    lab_alloc(heap, START_BLOCK_BYTES);
    for (size_t bytes = 8; bytes <= START_LARGEST_SMALL_BYTES;
         bytes = next_class(bytes)) {
        lab_alloc(heap, bytes);
    }
}

struct strata_heap *lab_heap_with(const struct strata_heap_options *options)
{
    struct strata_heap *heap = strata_heap_new(options);
    if (heap == NULL) {
        lab_die("no memory for a heap");
    }
    alloc_start_blocks(heap);
    return heap;
}

struct strata_heap *lab_heap_new(enum strata_layout layout)
{
    struct strata_heap_options options = {
        .struct_bytes = sizeof(options), .layout = layout, .name = "lab"};
    return lab_heap_with(&options);
}

struct lab_reading lab_read_heap(const struct strata_heap *heap)
{
    struct strata_heap_stats stats = {.struct_bytes = sizeof(stats)};
    strata_heap_get_stats(heap, &stats);
    return (struct lab_reading){.used = (int64_t)stats.used_bytes,
        .real = (int64_t)stats.real_bytes,
        .peak_real = (int64_t)stats.peak_real_bytes};
}

struct lab_reading lab_read(const struct strata_heap *heap)
{
    struct lab_reading reading = lab_read_heap(heap);
    reading.rss = resident_bytes();
    if (reading.rss < 0) {
        lab_die("cannot read '/proc/self/statm'");
    }
    return reading;
}

void *lab_alloc(struct strata_heap *heap, size_t bytes)
{
    uint64_t *block = strata_alloc(heap, bytes);
    if (block == NULL) {
        lab_die("the heap refused a block");
    }
    for (size_t at = 0; at < bytes; at += STRATA_PAGE_BYTES) {
        block[at / sizeof(*block)] = bytes;
    }
    return block;
}

size_t lab_string_bytes(size_t length)
{
    return length + STRING_OVERHEAD_BYTES;
}

size_t lab_table_bytes(size_t capacity)
{
    return capacity * ELEMENT_BYTES + HASH_BYTES;
}

static int64_t round_up(size_t bytes, size_t page)
{
    return (int64_t)((bytes + page - 1) / page * page);
}

int64_t lab_page_surplus(size_t huge_bytes)
{
    return round_up(huge_bytes, PUBLISHED_PAGE_BYTES) -
           round_up(huge_bytes, STRATA_PAGE_BYTES);
}
