/* What the fuzz targets of instrumentation profiles share: what was read can be written as text,
 * and that text reads back and is written the same. */
#ifndef INSTR_FUZZ_H
#define INSTR_FUZZ_H

#include "instr_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads by `read` into a fresh profile; NULL if it was refused, which must tell where. */
typedef int fuzz_read_fn(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                         struct pgk_err *err);

static inline struct pgk_instr *fuzz_read(fuzz_read_fn *read, const uint8_t *bytes, size_t size)
{
    struct pgk_instr *p;
    struct pgk_instr_adder a;
    struct pgk_err err = {0};
    if (pgk_instr_new(&p, NULL))
        abort();
    if (!pgk_instr_adder_init(&a, p, "fuzz", 3))
        abort();
    int status = read(&a, bytes, size, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    if (status || pgk_instr_drop_conflicts(p, NULL) || !pgk_instr_functions(p))
        pgk_instr_close(&p);
    return p;
}

static inline int fuzz_read_text(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                                 struct pgk_err *err)
{
    struct pgk_source src = {.file = "fuzz", .format = "text counters"};
    a->weight = 1;
    return pgk_instr_text_read(a, bytes, size, &src, err);
}

/* Names that the text cannot hold, with line ends, commas, blanks around or as numbers, are left
 * alone. */
static inline bool fuzz_is_plain(const struct pgk_instr *p)
{
    const struct pgk_instr_names *tables[] = {&p->names, &p->vtables};
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t]->list.n; i++) {
            const struct pgk_instr_name *n = &tables[t]->list.v[i];
            if (!n->len || n->s[0] == '#' || n->s[0] == ':' || n->s[0] == '$' ||
                n->s[n->len - 1] == '\r' || memchr(n->s, '\n', n->len) ||
                memchr(n->s, ',', n->len) || n->s[0] == ' ' || n->s[0] == '\t' ||
                n->s[n->len - 1] == ' ' || n->s[n->len - 1] == '\t' ||
                strspn(n->s, "0123456789") == n->len)
                return false;
        }
    return true;
}

typedef int fuzz_write_fn(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err);

static inline struct pgk_sink *fuzz_written(const struct pgk_instr *p, fuzz_write_fn *write)
{
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL) || write(p, out, NULL))
        abort();
    return out;
}

/* What is written reads back, and is written the same. */
static inline void fuzz_write_and_read(const struct pgk_instr *p, fuzz_write_fn *write,
                                       fuzz_read_fn *read)
{
    size_t n, m;
    struct pgk_sink *first = fuzz_written(p, write);
    const uint8_t *a = pgk_sink_data(first, &n);
    struct pgk_instr *back = fuzz_read(read, a, n);
    if (!back)
        abort(); /* we must read what we write */
    struct pgk_sink *second = fuzz_written(back, write);
    const uint8_t *b = pgk_sink_data(second, &m);
    if (n != m || memcmp(a, b, n))
        abort();
    pgk_sink_drop(&first);
    pgk_sink_drop(&second);
    pgk_instr_close(&back);
}

static inline void fuzz_round_trip(struct pgk_instr *p)
{
    if (p && fuzz_is_plain(p))
        fuzz_write_and_read(p, pgk_instr_text_write, fuzz_read_text);
    pgk_instr_close(&p);
}

#endif
