/*
 * utf8.c - the one place that tells well-formed UTF-8 from other bytes.
 *
 * Names of processes and paths are bytes to the kernel. A reader that trusted a lead byte
 * would step over the terminating NUL, so each byte is checked before the next is read.
 */
#include "base/utf8.h"

size_t utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    size_t length;

    if (at[0] < 0x80) {
        return 1;
    }
    if (at[0] >= 0xc2 && at[0] <= 0xdf) {
        length = 2;
    } else if ((at[0] & 0xf0) == 0xe0) {
        length = 3;
        low = at[0] == 0xe0 ? 0xa0 : 0x80;
        high = at[0] == 0xed ? 0x9f : 0xbf;
    } else if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        length = 4;
        low = at[0] == 0xf0 ? 0x90 : 0x80;
        high = at[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (at[i] < low || at[i] > high) {
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

size_t utf8_decode(const char *text, uint32_t *code)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *at = (const unsigned char *)text;
    size_t length = utf8_length(text);

    if (length > 0) {
        uint32_t value = at[0] & lead_bits[length];
        for (size_t i = 1; i < length; i++) {
            value = value << 6 | (at[i] & 0x3f);
        }
        *code = value;
    }
    return length;
}
