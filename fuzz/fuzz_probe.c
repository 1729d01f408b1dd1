/* Fuzz target: the probe sections of an ELF image, and everything an index can be asked. */
#include "elf_priv.h"
#include "pgokit/log.h"
#include "probes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

/* Copies of a function are searched for among all nodes, so only for the first ones. */
static void use_nodes(const struct pgk_probe_index *ix)
{
    enum { FRAMES = 8, SOME = 64 };
    for (uint32_t n = 0; n < pgk_probe_node_count(ix) && n < SOME; n++) {
        struct pgk_probe_frame frames[FRAMES];
        struct pgk_probe_node node = pgk_probe_node_at(ix, n);
        (void)pgk_probe_context(ix, n, frames, FRAMES);
        (void)pgk_probe_next_copy(ix, node.guid, n);
    }
}

static void use_index(struct pgk_probe_index *ix)
{
    volatile uint64_t sum = 0;
    for (size_t i = 0; i < pgk_probe_count(ix); i++) {
        struct pgk_probe p = pgk_probe_get(ix, pgk_probe_by_address(ix, i));
        size_t first, n = pgk_probe_at(ix, p.addr, &first);
        sum += n + pgk_probe_call_at(ix, p.addr) + p.index + p.discriminator;
        if (i < 64)
            sum += pgk_probe_copies(ix, pgk_probe_by_address(ix, i));
    }
    (void)sum;
    (void)sum;
    use_nodes(ix);
    pgk_probe_index_close(&ix);
}

static void use_probes(struct pgk_probes *probes)
{
    struct pgk_probe_index *ix;
    struct pgk_probes_totals t = pgk_probes_totals(probes);
    struct pgk_probe_range range = {0, t.text_bytes};
    volatile uint64_t sum = 0;
    for (size_t i = 0; i < pgk_probe_descs(probes); i++) {
        struct pgk_probe_desc d = pgk_probe_desc_at(probes, i);
        sum += d.guid + (unsigned char)d.name[d.name_len - 1];
    }
    (void)sum;
    (void)sum;
    for (size_t i = 0; i < pgk_probe_roots(probes); i++) {
        struct pgk_probe_root root = pgk_probe_root_at(probes, i);
        range = (struct pgk_probe_range){root.low, root.high};
        if (i < 4 && pgk_probe_index_functions(&ix, probes, &root.guid, 1, NULL) == 0)
            use_index(ix);
    }
    if (pgk_probe_index_ranges(&ix, probes, &range, 1, NULL) == 0)
        use_index(ix);
    if (pgk_probe_index_all(&ix, probes, NULL) == 0)
        use_index(ix);
    (void)pgk_probes_check(probes, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pgk_elf *elf;
    struct pgk_probes *probes;
    pgk_log_set(ignore_message, NULL);
    if (pgk_elf_open_memory(&elf, data, size, "/nowhere/image", PGK_ELF_PROGRAM, NULL) < 0)
        return 0;
    if (pgk_probes_open_elf(&probes, elf, NULL) == 0) {
        use_probes(probes);
        pgk_probes_close(&probes);
    }
    pgk_elf_close(&elf);
    return 0;
}
