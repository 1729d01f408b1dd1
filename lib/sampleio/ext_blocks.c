/* Counts the blocks of composite profiles, going from record to record. */
#include "ext_blocks.h"

#include "sample_records.h"

#define DAMAGED "the file is damaged; copy it again, or create it again"

static void count(struct pgk_ext_blocks *blocks, uint64_t type, uint64_t size)
{
    size_t i = 0;
    while (i < blocks->n && blocks->v[i].type != type)
        i++;
    if (i == PGK_EXT_BLOCK_TYPES) {
        blocks->others++;
        return;
    }
    if (i == blocks->n)
        blocks->v[blocks->n++] = (struct pgk_ext_block){.type = type};
    blocks->v[i].number++;
    blocks->v[i].bytes += size;
}

/* A function after its index. Types of objects, if there are any, end a record. */
static int count_node(struct pgk_cursor *c, bool vtables, unsigned depth,
                      struct pgk_ext_blocks *blocks, struct pgk_err *err)
{
    uint64_t type, size;
    for (uint64_t n = pgk_sample_uleb(c, "number of blocks"); n && !c->failed; n--) {
        PGK_TRY(pgk_sample_read_block(c, &type, &size, err));
        count(blocks, type, size);
        c->at += size;
    }
    uint64_t off = pgk_cur_off(c), n = pgk_sample_uleb(c, "number of inlinees");
    if (n && depth >= PGK_SAMPLE_MAX_DEPTH)
        return pgk_cur_reject(c, err, PGK_E_LIMIT, off, .record = "composite profiles",
                              .field = "number of inlinees",
                              .found = "inlinees nested deeper than 1000 levels",
                              .expected = "at most 1000", .hint = DAMAGED);
    for (; n && !c->failed; n--) {
        pgk_sample_skip_ulebs(c, 3); /* place and name */
        PGK_TRY(count_node(c, vtables, depth + 1, blocks, err));
    }
    uint64_t places = vtables ? pgk_sample_uleb(c, "number of places with vtables") : 0;
    for (; places && !c->failed; places--) {
        pgk_sample_skip_ulebs(c, 2);
        for (uint64_t types = pgk_sample_uleb(c, "number of vtables"); types && !c->failed; types--)
            pgk_sample_skip_ulebs(c, 2);
    }
    return pgk_cur_check(c, err, "composite profiles");
}

int pgk_ext_count_blocks(struct pgk_ext_sections *s, struct pgk_ext_blocks *blocks,
                         struct pgk_err *err)
{
    *blocks = (struct pgk_ext_blocks){.n = 0};
    struct pgk_ext_section *summary = pgk_ext_find(s, PGK_SEC_SUMMARY, 0), *section;
    bool vtables = summary && summary->flags & PGK_SECF_SUMMARY_VTABLES;
    for (unsigned nth = 0; (section = pgk_ext_find(s, PGK_SEC_COMPOSITE, nth)); nth++) {
        struct pgk_cursor c;
        PGK_TRY(pgk_ext_cursor(s, section, &c, err));
        while (pgk_cur_left(&c)) {
            pgk_sample_skip_ulebs(&c, 1); /* function */
            PGK_TRY(count_node(&c, vtables, 0, blocks, err));
        }
    }
    return 0;
}
