/* Sample profiles as text: any bytes are read or refused with a message that names a place, and
 * what is read is printed so that it reads the same again. */
#include "sample_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct pgk_sink *print(struct pgk_sample *p, const uint8_t **text, size_t *size)
{
    struct pgk_sink *out;
    if (pgk_sample_finish(p, NULL) || pgk_sink_memory(&out, NULL) ||
        pgk_sample_text_write(p, p->by_heat.n, false, true, out, NULL))
        abort();
    *text = pgk_sink_data(out, size);
    return out;
}

/* Names that hold the marks of another line read back as that line, in LLVM, too. */
static bool has_odd_names(const struct pgk_sample *p)
{
    for (size_t i = 1; i < p->names.list.n; i++) {
        const struct pgk_sample_name *n = &p->names.list.v[i];
        if (!n->s)
            continue;
        if (!n->len || n->s[0] == '[' || strpbrk(n->s, " :@!\r") || strlen(n->s) != n->len ||
            (n->s[0] >= '0' && n->s[0] <= '9') || n->s[0] == '#')
            return true;
    }
    return false;
}

/* That a profile is by probes, a text tells by the checksums of its functions alone, as in LLVM;
 * a partial profile has a mark for it. */
static bool lacks_checksums(const struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (pgk_sample_is_top(p, id) && p->nodes.v[id].checksum)
            return false;
    return p->kind.probes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_sample *p, *again;
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "text sample profile"};
    pgk_sample_text_sniff(bytes, size);
    if (pgk_sample_new(&p, &err))
        return 0;
    int status = pgk_sample_text_read(p, bytes, size, &src, 1, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    if (!status && !has_odd_names(p) && !lacks_checksums(p)) {
        const uint8_t *text, *text2;
        size_t n, n2;
        struct pgk_sink *out = print(p, &text, &n);
        if (pgk_sample_new(&again, &err) ||
            pgk_sample_text_read(again, text, n, &src, 1, &err))
            abort();
        struct pgk_sink *out2 = print(again, &text2, &n2);
        if (n != n2 || memcmp(text, text2, n))
            abort();
        pgk_sink_drop(&out);
        pgk_sink_drop(&out2);
        pgk_sample_close(&again);
    }
    pgk_sample_close(&p);
    return 0;
}
