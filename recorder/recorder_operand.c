/* How much of its memory operand an instruction reads or writes. */
#include "recorder_operand.h"

/* One letter for each opcode of a map, small if it reads and capital if it writes:
 *   b 1 byte     w 2      d 4      q 8      x 16     y 32     t 10
 *   v a vector   h half   f a quarter      e an eighth of one
 *   s 8 with REX.W or VEX.W, else 4        o as s, but 2 with 66
 *   u h, but v with EVEX.W    p v, but q of the shortest    k v, but s with EVEX
 *   1 reads and writes b      2 reads and writes o
 * Those that are not here access other memory than one operand of a fixed size, or are not known:
 * vectors gathered from many places, saved states, bits by number. */
static const char one_byte[] = "12bo----12bo----"  /* 00 */
                               "12bo----12bo----"  /* 10 */
                               "12bo----12bo----"  /* 20 */
                               "12bo----bobo----"  /* 30 */
                               "----------------"  /* 40 */
                               "----------------"  /* 50 */
                               "---d-----o-o----"  /* 60 */
                               "----------------"  /* 70 */
                               "----bo12BObo----"  /* 80 */
                               "----------------"  /* 90 */
                               "----------------"  /* a0 */
                               "----------------"  /* b0 */
                               "12----BO--------"  /* c0 */
                               "1212------------"  /* d0 */
                               "----------------"  /* e0 */
                               "----------------"; /* f0 */

/* By the opcode and the field of ModRM that is part of it. */
static const char x87[8][9] = {"dddddddd", "d-DD-w-W", "dddddddd", "dDDD-t-T",
                               "qqqqqqqq", "qQQQ---W", "wwwwwwww", "wWWWtqTQ"};

/* Of general registers: the rows 40, 90, a0, b0 and c0, whichever prefixes they have. */
static const char general[5][17] = {"oooooooooooooooo", "BBBBBBBBBBBBBBBB", "----22------22-o",
                                    "12----bwo---oobw", "12--------------"};

static const char plain[] = "----------------"  /* 00 */
                            "vVqQvvqQ--------"  /* 10 */
                            "--------vVqVqqdd"  /* 20 */
                            "--------q-------"  /* 30 */
                            "----------------"  /* 40 */
                            "-vvvvvvvvvhvvvvv"  /* 50 */
                            "dddqqqqqqqqq--sq"  /* 60 */
                            "q---qqq-------SQ"  /* 70 */
                            "----------------"  /* 80 */
                            "----------------"  /* 90 */
                            "----------------"  /* a0 */
                            "----------------"  /* b0 */
                            "--vSw-v---------"  /* c0 */
                            "-qqqqq--qqqqqqqq"  /* d0 */
                            "qqqqqq-Qqqqqqqqq"  /* e0 */
                            "-qqqqqq-qqqqqqq-"; /* f0 */

static const char with_66[] = "----------------"  /* 00 */
                              "vVqQvvqQ--------"  /* 10 */
                              "--------vVqVxxqq"  /* 20 */
                              "----------------"  /* 30 */
                              "----------------"  /* 40 */
                              "-v--vvvvvvvvvvvv"  /* 50 */
                              "vvvvvvvvvvvvvvsv"  /* 60 */
                              "vvvvvvv-uuuuvvSV"  /* 70 */
                              "----------------"  /* 80 */
                              "----------------"  /* 90 */
                              "----------------"  /* a0 */
                              "----------------"  /* b0 */
                              "--v-w-v---------"  /* c0 */
                              "vxxxvvQ-vvvvvvvv"  /* d0 */
                              "vxxvvvvVvvvvvvvv"  /* e0 */
                              "-xxxvvv-vvvvvvv-"; /* f0 */

static const char with_f3[] = "----------------"  /* 00 */
                              "dDv---v---------"  /* 10 */
                              "----------sDdd--"  /* 20 */
                              "----------------"  /* 30 */
                              "----------------"  /* 40 */
                              "-ddd----dddvdddd"  /* 50 */
                              "---------------v"  /* 60 */
                              "v---------us--qV"  /* 70 */
                              "----------------"  /* 80 */
                              "----------------"  /* 90 */
                              "----------------"  /* a0 */
                              "----------------"  /* b0 */
                              "--d-------------"  /* c0 */
                              "----------------"  /* d0 */
                              "------u---------"  /* e0 */
                              "----------------"; /* f0 */

static const char with_f2[] = "----------------"  /* 00 */
                              "qQp-------------"  /* 10 */
                              "----------sQqq--"  /* 20 */
                              "----------------"  /* 30 */
                              "----------------"  /* 40 */
                              "-q------qqq-qqqq"  /* 50 */
                              "---------------v"  /* 60 */
                              "v---------vsvv-V"  /* 70 */
                              "----------------"  /* 80 */
                              "----------------"  /* 90 */
                              "----------------"  /* a0 */
                              "----------------"  /* b0 */
                              "--q-------------"  /* c0 */
                              "v---------------"  /* d0 */
                              "------v---------"  /* e0 */
                              "v---------------"; /* f0 */

/* After 0f 38 and 0f 3a, with 66. */
static const char map_38[] = "vvvvvvvvvvvvvvvv"  /* 00 */
                             "vvvhvvvvdqxyvvvv"  /* 10 */
                             "hfehfhvvvvvvvkVV"  /* 20 */
                             "hfehfhvvvvvvvvvv"  /* 30 */
                             "vxvsvvvv----vsvs"  /* 40 */
                             "vvvvvv--dqxy----"  /* 50 */
                             "--vVvvv---------"  /* 60 */
                             "vvvv-vvvbw---vvv"  /* 70 */
                             "---v----vvVVvvVv"  /* 80 */
                             "------vvvsvsvsvs"  /* 90 */
                             "------vvvsvsvsvs"  /* a0 */
                             "----vvvvvsvsvsvs"  /* b0 */
                             "----v----------v"  /* c0 */
                             "-----------xvvvv"  /* d0 */
                             "----------------"  /* e0 */
                             "----------------"; /* f0 */

static const char map_3a[] = "vvvvvvy-vvdqvvvv"  /* 00 */
                             "----BWSDxXyY-Hvv"  /* 10 */
                             "bdsv-vvs--------"  /* 20 */
                             "--------xXyY--vv"  /* 30 */
                             "vxvvv-y-vvvvv---"  /* 40 */
                             "vs--vsvs----vvvv"  /* 50 */
                             "xxxx--vsvvdqvvdq"  /* 60 */
                             "vvvv----vvdqvvdq"  /* 70 */
                             "----------------"  /* 80 */
                             "----------------"  /* 90 */
                             "----------------"  /* a0 */
                             "----------------"  /* b0 */
                             "--------------vv"  /* c0 */
                             "---------------x"  /* d0 */
                             "----------------"  /* e0 */
                             "----------------"; /* f0 */

static uint8_t size_of(const struct pgbr_form *f, char letter)
{
    const uint8_t vector = (uint8_t)(16 << f->longer), word = f->wide ? 8 : 4;
    switch (letter | ' ') {
    case 'b':
    case '1':
        return 1;
    case 'w':
        return 2;
    case 'd':
        return 4;
    case 'q':
        return 8;
    case 't':
        return 10;
    case 'x':
        return 16;
    case 'y':
        return 32;
    case 'v':
        return vector;
    case 'h':
        return vector / 2;
    case 'f':
        return vector / 4;
    case 'e':
        return vector / 8;
    case 's':
        return word;
    case 'o':
    case '2':
        return f->word && !f->wide ? 2 : word;
    case 'u':
        return f->kind == PGBR_FORM_EVEX && f->wide ? vector : vector / 2;
    case 'p':
        return f->longer ? vector : 8;
    case 'k':
        return f->kind == PGBR_FORM_EVEX ? word : vector;
    default:
        return 0;
    }
}

/* Opcodes whose meaning is in ModRM, too. */
static char of_group(const struct pgbr_form *f)
{
    const uint8_t op = f->opcode, what = f->reg & 7;
    if (op >= 0xd8 && op < 0xe0)
        return x87[op - 0xd8][what];
    switch (op) {
    case 0x80:
        return what == 7 ? 'b' : '1';
    case 0x81:
    case 0x83:
        return what == 7 ? 'o' : '2';
    case 0xf6:
        return what == 2 || what == 3 ? '1' : 'b';
    case 0xf7:
        return what == 2 || what == 3 ? '2' : 'o';
    case 0xfe:
        return '1';
    case 0xff:
        return what < 2 ? '2' : what == 6 && !f->word ? 'q' : '-';
    default:
        return one_byte[op];
    }
}

static char of_0f(const struct pgbr_form *f)
{
    static const char *const by_prefix[] = {plain, with_66, with_f3, with_f2};
    const uint8_t op = f->opcode;
    if (f->kind == PGBR_FORM_PLAIN && (op >> 4 == 4 || (op >= 0x90 && op < 0xc2))) {
        if (op == 0xba) /* the number of the bit is a constant */
            return (f->reg & 7) == 4 ? 'o' : '2';
        return general[op >> 4 == 4 ? 0 : (op >> 4) - 8][op & 15];
    }
    return by_prefix[f->prefix][op];
}

/* Those of general registers, whose prefix is part of the opcode. */
static char of_0f38(const struct pgbr_form *f)
{
    enum { F2 = 3 };
    const uint8_t op = f->opcode;
    if (f->kind == PGBR_FORM_PLAIN && (op == 0xf0 || op == 0xf1)) {
        if (f->prefix == F2)
            return op == 0xf0 ? 'b' : 'o';
        return op == 0xf0 ? 'o' : 'O';
    }
    if (f->kind == PGBR_FORM_VEX && (op == 0xf2 || op == 0xf3 || op == 0xf5 || op == 0xf7))
        return 's';
    if (op == 0xf6)
        return f->kind == PGBR_FORM_EVEX ? '-' : 's';
    return f->prefix == 1 ? map_38[op] : '-';
}

static char letter_of(const struct pgbr_form *f)
{
    enum { F2 = 3 };
    switch (f->map) {
    case PGBR_MAP_ONE:
        return of_group(f);
    case PGBR_MAP_0F:
        return of_0f(f);
    case PGBR_MAP_0F38:
        return of_0f38(f);
    case PGBR_MAP_0F3A:
        if (f->kind == PGBR_FORM_VEX && f->prefix == F2 && f->opcode == 0xf0)
            return 's';
        return f->prefix == 1 ? map_3a[f->opcode] : '-';
    default:
        return '-';
    }
}

/* With a broadcast, one element of a vector is read. */
void pgbr_operand(struct pgbr_insn *i, const struct pgbr_form *f)
{
    const char letter = letter_of(f);
    if (letter == '-')
        return;
    i->bytes = f->broadcast ? (f->wide ? 8 : 4) : size_of(f, letter);
    i->writes = letter < 'a';
    i->reads = letter >= 'a' || letter == '1' || letter == '2';
}

/* A string instruction: which of its two operands in memory it reads, and whether it writes the
 * other. */
uint8_t pgbr_string_of(uint8_t opcode)
{
    switch (opcode & 0xfe) {
    case 0xa4:
        return PGBR_READS_SI | PGBR_WRITES_DI;
    case 0xa6:
        return PGBR_READS_SI | PGBR_READS_DI;
    case 0xaa:
        return PGBR_WRITES_DI;
    case 0xac:
        return PGBR_READS_SI;
    case 0xae:
        return PGBR_READS_DI;
    default:
        return 0;
    }
}
