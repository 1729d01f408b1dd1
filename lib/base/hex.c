/* Hexadecimal digits. */
#include "hex.h"

#include "pgokit/human.h"

const uint8_t pgk_hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

size_t pgk_hex_read(const char *text, const char *end, uint8_t *bytes, size_t capacity)
{
    size_t n = 0;
    for (; n < capacity && end - text >= 2; text += 2) {
        const unsigned high = pgk_hex_digits[(uint8_t)text[0]],
                       low = pgk_hex_digits[(uint8_t)text[1]];
        if (!high || !low)
            break;
        bytes[n++] = (uint8_t)((high - 1) << 4 | (low - 1));
    }
    return n;
}

const char *pgk_build_id_text(char buf[PGK_BUILD_ID_TEXT], const uint8_t *id, size_t size)
{
    return size ? pgk_human_hex(buf, PGK_BUILD_ID_TEXT, id, size) : "none";
}
