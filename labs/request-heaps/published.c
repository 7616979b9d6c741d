/*
 * The published figures; data, and their conversion to pages of 4 KiB.
 */
#include "published.h"

enum { FIRST_CAPACITY = 8, LIMIT_TABLE_ELEMENTS = 1 << 17, STAIRCASE_BASE_MEGABYTES = 3 };

const struct layers_point layers_points[LAYERS_POINTS] = {
    {"start", "at startup", 0, {.used = 484176, .real = 2097152, .rss = 26542080}},
    {"range", "range(0, 999999)", 1,
        {.used = 17277888, .real = 18890752, .rss = 42663936}},
    {"copy", "a copy, separated", 2,
        {.used = 34071568, .real = 35684352, .rss = 58671104}},
    {"unset-copy", "unset($copy)", 1,
        {.used = 17277888, .real = 18890752, .rss = 42696704}},
    {"unset-rows", "unset($rows)", 0, {.used = 484208, .real = 2097152, .rss = 26689536}},
};

const int64_t layers_peak_real = 35684352;

int64_t layers_real_here(size_t point)
{
    int64_t surplus = lab_page_surplus(lab_table_bytes(LAYERS_TABLE_ELEMENTS));
    return layers_points[point].published.real -
           layers_points[point].huge_blocks * surplus;
}

int64_t layers_peak_real_here(void)
{
    return layers_peak_real -
           2 * lab_page_surplus(lab_table_bytes(LAYERS_TABLE_ELEMENTS));
}

const int64_t steps_used[STEPS_ROWS] = {
    1013792, 1538080, 1538080, 2598968, 2598968, 2598968, 4696120, 4696120};
const int64_t steps_real[STEPS_ROWS] = {
    2097152, 2097152, 2097152, 4210688, 4210688, 4210688, 6307840, 6307840};

size_t steps_capacity(size_t elements)
{
    size_t capacity = FIRST_CAPACITY;
    while (capacity < elements) {
        capacity *= 2;
    }
    return capacity;
}

/* Only a huge table differs. */
int64_t steps_real_here(size_t row)
{
    size_t table = lab_table_bytes(steps_capacity((row + 1) * STEPS_ELEMENTS));
    int64_t surplus = table > STRATA_LARGE_MAX_BYTES ? lab_page_surplus(table) : 0;
    return steps_real[row] - surplus;
}

const int64_t limit_used = 14119640;
const int64_t limit_real = 14696448;
const int64_t limit_asked = 4096;

int64_t limit_real_here(void)
{
    return limit_real - lab_page_surplus(lab_table_bytes(LIMIT_TABLE_ELEMENTS));
}

const struct cliff_row cliff_rows[CLIFF_ROWS] = {
    {32, 65536, false, "17 pages", LAB_UNKNOWN},
    {32, 262144, false, "65 pages", LAB_UNKNOWN},
    {32, 524288, false, "129 pages", LAB_UNKNOWN},
    {32, 1040384, true, "255 pages, a chunk cached", 15 * 2097152},
    {32, 1040384, false, "255 pages", LAB_UNKNOWN},
    {32, 1044448, false, "255 pages, the last", LAB_UNKNOWN},
    {32, 1044480, false, "256 pages", 31 * 2097152},
    {32, 1048576, false, "257 pages, 1 MiB", 65011712},
    {32, 1572864, false, "385 pages", LAB_UNKNOWN},
    {32, 2093024, false, "511 pages, the last run", LAB_UNKNOWN},
    {32, 2093032, false, "a huge block each", LAB_UNKNOWN},
    {32, 4194304, false, "a huge block each", LAB_UNKNOWN},
    {60, 1044448, false, "half a chunk", LAB_UNKNOWN},
    {60, 1044449, false, "half a chunk + 1 byte", LAB_UNKNOWN},
    {60, 696288, false, "a third", LAB_UNKNOWN},
    {60, 696289, false, "a third + 1 byte", LAB_UNKNOWN},
    {60, 520160, false, "a quarter", LAB_UNKNOWN},
    {60, 520161, false, "a quarter + 1 byte", LAB_UNKNOWN},
    {60, 417760, false, "a fifth", LAB_UNKNOWN},
    {60, 417761, false, "a fifth + 1 byte", LAB_UNKNOWN},
};

const size_t cliff_mebibyte = 1048576;
const int64_t cliff_mebibyte_rss = 33538048;

const int64_t staircase_megabytes[STAIRCASE_ROWS] = {105, 55, 29, 17, 11, 7};

int64_t staircase_chunks(size_t row)
{
    enum { CHUNK_MEGABYTES = 2 };
    return (staircase_megabytes[row] - STAIRCASE_BASE_MEGABYTES) / CHUNK_MEGABYTES;
}
