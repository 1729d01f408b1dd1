/* Rows of types: "GUID LINE COLUMN a|c TYPE", each a string of its own, because linkers join equal
 * strings. */
#include "type_rows.h"

#include "demangle.h"
#include "hash.h"
#include "heap_model.h"
#include "message.h"
#include "rekey.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE_MASK pgk_frame_place(PGK_LLVM_LINE_MASK, UINT32_MAX)

void pgk_type_rows_free(struct pgk_type_rows *rows)
{
    pgk_intern_free(&rows->names);
    pgk_vec_free(&rows->list);
    pgk_index_free(&rows->index);
}

static uint64_t hash_of(uint64_t guid, uint64_t place, bool allocates)
{
    return pgk_hash_pair(guid, place << 1 | allocates);
}

/* Digits up to a space, which is passed; false if there are none, too many, or other signs. */
static bool take_number(const char **at, const char *end, unsigned base, size_t most, uint64_t *n)
{
    const char *p = *at;
    for (*n = 0; p < end && *p != ' '; p++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                         : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                                                  : base;
        if (digit >= base || (size_t)(p - *at) >= most)
            return false;
        *n = *n * base + digit;
    }
    if (p == *at || p == end)
        return false;
    *at = p + 1;
    return true;
}

static bool parse(const char *at, const char *end, struct pgk_type_row *row, const char **type)
{
    enum { GUID_DIGITS = 16, DIGITS = 10 };
    uint64_t line, column;
    if (!take_number(&at, end, 16, GUID_DIGITS, &row->guid) ||
        !take_number(&at, end, 10, DIGITS, &line) || line > UINT32_MAX ||
        !take_number(&at, end, 10, DIGITS, &column) || column > UINT32_MAX || end - at < 2 ||
        (*at != 'a' && *at != 'c') || at[1] != ' ')
        return false;
    row->place = pgk_frame_place((uint32_t)line, (uint32_t)column) & PLACE_MASK;
    row->allocates = *at == 'a';
    *type = at + 2;
    return true;
}

/* A type may be given by the linkage name of its description, "_ZTS3Foo", and "*" for each pointer.
 * False when out of memory. */
static bool take_type(struct pgk_type_rows *rows, const char *type, size_t len, uint32_t *id)
{
    static const char mangled[] = "_ZTS", shown[] = "typeinfo name for ";
    size_t stars = 0, n = sizeof shown - 1;
    *id = pgk_type_name_intern(&rows->names, type, len);
    if (*id == PGK_INDEX_NONE || len < sizeof mangled - 1 ||
        memcmp(type, mangled, sizeof mangled - 1) != 0)
        return *id != PGK_INDEX_NONE;
    while (type[len - stars - 1] == '*')
        stars++;
    char *linkage_name = pgk_mem_zalloc(len - stars + 1, 1);
    char *name = linkage_name ? pgk_demangle(memcpy(linkage_name, type, len - stars)) : NULL;
    size_t size = name ? strlen(name) + stars + 1 : 0;
    char *whole = name && !strncmp(name, shown, n) ? pgk_mem_alloc(size, 1) : NULL;
    if (whole) {
        snprintf(whole, size, "%s%.*s", name + n, (int)stars, type + len - stars);
        *id = pgk_type_name_intern(&rows->names, whole, strlen(whole));
    }
    pgk_mem_free(whole);
    pgk_mem_free(name);
    pgk_mem_free(linkage_name);
    return *id != PGK_INDEX_NONE;
}

static bool add(struct pgk_type_rows *rows, const struct pgk_type_row *row)
{
    uint64_t hash = hash_of(row->guid, row->place, row->allocates);
    PGK_INDEX_FOR (&rows->index, hash, i) {
        struct pgk_type_row *old = &rows->list.v[i];
        if (old->guid != row->guid || old->place != row->place || old->allocates != row->allocates)
            continue;
        old->contradictory |= old->type != row->type;
        return true;
    }
    return pgk_vec_push(&rows->list, *row) &&
           pgk_index_add(&rows->index, hash, (uint32_t)rows->list.n - 1);
}

bool pgk_type_rows_read(struct pgk_type_rows *rows, const void *bytes, size_t size,
                        const char *path)
{
    const char *start = bytes, *end = start + size, *bad = NULL;
    size_t n_bad = 0;
    for (const char *at = start; at < end;) {
        const char *zero = memchr(at, 0, (size_t)(end - at)), *type;
        const char *stop = zero ? zero : end;
        struct pgk_type_row row = {0};
        if (zero && parse(at, stop, &row, &type)) {
            if (!take_type(rows, type, (size_t)(stop - type), &row.type) || !add(rows, &row))
                return false;
        } else if ((stop != at || !zero) && !n_bad++) {
            bad = at;
        }
        at = stop + 1;
    }
    if (n_bad)
        pgk_warn("%s: %zu row%s of " PGK_TYPES_SECTION " cannot be read, the first at offset "
                 "%" PRIu64 ": found '%.40s', expected GUID LINE COLUMN, a or c, and a type; types "
                 "of some objects stay unknown",
                 path, n_bad, n_bad == 1 ? "" : "s", (uint64_t)(bad - start),
                 memchr(bad, 0, (size_t)(end - bad)) ? bad : "a row without end");
    return true;
}

const struct pgk_type_row *pgk_type_rows_find(const struct pgk_type_rows *rows, uint64_t guid,
                                              uint64_t place, bool allocates)
{
    place &= PLACE_MASK;
    PGK_INDEX_FOR (&rows->index, hash_of(guid, place, allocates), i) {
        const struct pgk_type_row *row = &rows->list.v[i];
        if (row->guid == guid && row->place == place && row->allocates == allocates)
            return row;
    }
    return NULL;
}

uint32_t pgk_type_name_intern(struct pgk_intern *names, const char *name, size_t len)
{
    char *text = pgk_mem_alloc(len + 1, 1), *to = text;
    if (!text)
        return PGK_INDEX_NONE;
    while (len && name[len - 1] == ' ')
        len--;
    for (size_t i = 0; i < len; i++)
        if (name[i] != ' ' || !i || name[i - 1] != '>' || name[i + 1] != '>')
            *to++ = name[i];
    *to = 0;
    uint32_t id = pgk_intern_safe(names, text);
    pgk_mem_free(text);
    return id;
}
