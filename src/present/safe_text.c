/*
 * safe_text.c - untrusted text made harmless for a terminal.
 *
 * A process may name itself anything, escape sequences included; what is printed must not
 * move the cursor, change colours, retitle the window or show its characters in another
 * order than they stand. So C0 and C1 controls, DEL, line and paragraph separators and the
 * bidirectional controls (Unicode 15, UAX 9) are shown as '?'. A terminal that is not UTF-8
 * takes the bytes 80..9F as C1 controls: there, everything but ASCII is shown as '?'.
 *
 * Widths follow the ranges that terminals agree on (East Asian Wide and Fullwidth, common
 * emoji; combining marks of the main blocks). A miss costs alignment, nothing else.
 */
#include "present/safe_text.h"

#include <stdint.h>

#include "base/utf8.h"

struct code_range {
    uint32_t first;
    uint32_t last;
};

static const struct code_range harmful[] = {
    {0x00, 0x1f},
    {0x7f, 0x9f},
    {0x061c, 0x061c},
    {0x200e, 0x200f},
    {0x2028, 0x202e},
    {0x2066, 0x206f},
    {0xfff9, 0xfffb},
    {0xe0000, 0xe007f},
    {0, 0},
};

static const struct code_range combining[] = {
    {0x0300, 0x036f},
    {0x0483, 0x0489},
    {0x0591, 0x05bd},
    {0x064b, 0x065f},
    {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},
    {0x200b, 0x200d},
    {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff},
    {0, 0},
};

static const struct code_range wide[] = {
    {0x1100, 0x115f},
    {0x2e80, 0x303e},
    {0x3041, 0xa4cf},
    {0xa960, 0xa97f},
    {0xac00, 0xd7a3},
    {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},
    {0xff00, 0xff60},
    {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff},
    {0x20000, 0x3fffd},
    {0, 0},
};

/* ranges end with a row whose last is 0. */
static bool is_in(const struct code_range *ranges, uint32_t code)
{
    for (; ranges->last != 0; ranges++) {
        if (code >= ranges->first && code <= ranges->last) {
            return true;
        }
    }
    return false;
}

const char *safe_text_next(const char *text, bool utf8, struct safe_character *character)
{
    uint32_t code = 0;
    size_t length = utf8_decode(text, &code);

    if (length == 0 || is_in(harmful, code) || (!utf8 && length > 1)) {
        *character = (struct safe_character){"?", 1, 1};
        return text + (length == 0 ? 1 : length);
    }
    int columns = 1;
    if (is_in(combining, code)) {
        columns = 0;
    } else if (is_in(wide, code)) {
        columns = 2;
    }
    *character = (struct safe_character){text, length, columns};
    return text + length;
}

void safe_text_append(struct buffer *buffer, const char *text, bool utf8)
{
    struct safe_character character;

    while (*text != '\0') {
        text = safe_text_next(text, utf8, &character);
        buffer_append(buffer, character.text, character.bytes);
    }
}

int safe_text_columns(const char *text, bool utf8)
{
    struct safe_character character;
    int columns = 0;

    while (*text != '\0') {
        text = safe_text_next(text, utf8, &character);
        columns += character.columns;
    }
    return columns;
}
