/* Function records, name tables and summaries for the binary formats. */
#ifndef PGK_RECORD_WRITER_H
#define PGK_RECORD_WRITER_H

#include "sample_order.h"
#include "used_names.h"

struct pgk_record_writer {
    const struct pgk_sample *p;
    struct pgk_used_names names;
    struct pgk_sample_order order;
    struct pgk_line *line;
    bool vtables;
    bool composite; /* lines in a block, with head samples */
};

static inline void pgk_put_name_index(struct pgk_record_writer *w, uint32_t name)
{
    pgk_line_uleb(w->line, w->names.index_of.v[name]);
}
static inline void pgk_put_loc(struct pgk_line *l, uint64_t loc)
{
    pgk_line_uleb(l, pgk_sample_line(loc));
    pgk_line_uleb(l, pgk_sample_discriminator(loc));
}
/* Writes the part after identity, and of a composite record head samples, too. */
void pgk_put_record(struct pgk_record_writer *w, uint32_t node);
/* In pieces to `out`, unless that is NULL: then all stays in the line. */
void pgk_put_string_names(struct pgk_record_writer *w, struct pgk_sink *out);
/* Of the first `n` tops by heat. */
PGK_MUST_USE int pgk_put_summary(struct pgk_record_writer *w, size_t n, struct pgk_err *err);
/* Inlinees of the node itself. */
uint64_t pgk_count_inlinees(const struct pgk_sample *p, uint32_t node);

#endif
