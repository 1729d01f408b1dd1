/* The listing of llvm-profgen 22: --show-disassembly-only, with --show-pseudo-probe and
 * --show-source-locations. Byte for byte; docs/man/pgokit-disasm.md lists what is not. */
#include "disasm_priv.h"
#include "discriminator.h"
#include "llvm_sort.h"

#include "mem.h"

static int print_descs(struct pgk_disasm *d, struct pgk_err *err)
{
    size_t n = pgk_probe_descs(d->probes);
    struct pgk_text_out *o = &d->out;
    struct pgk_probe_desc *descs = pgk_mem_alloc(n + 1, sizeof *descs);
    if (!descs)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        descs[i] = pgk_probe_desc_at(d->probes, i);
    pgk_llvm_sort_descs(descs, n);
    pgk_text_lit(o, "Pseudo Probe Desc:\n");
    for (size_t i = 0; i < n; i++) {
        pgk_text_lit(o, "GUID: ");
        pgk_text_u64(o, descs[i].guid);
        pgk_text_lit(o, " Name: ");
        pgk_text_bytes(o, descs[i].name, descs[i].name_len);
        pgk_text_lit(o, "\nHash: ");
        pgk_text_u64(o, descs[i].hash);
        pgk_text_lit(o, "\n");
    }
    pgk_mem_free(descs);
    return 0;
}

static int begin(struct pgk_disasm *d, struct pgk_err *err)
{
    if (d->probes)
        PGK_TRY(print_descs(d, err));
    pgk_text_lit(&d->out, "\nDisassembly of ");
    pgk_text_str(&d->out, d->path);
    pgk_text_lit(&d->out, ":\n");
    return 0;
}

static void section(struct pgk_disasm *d, const struct pgk_elf_section_info *s)
{
    pgk_text_lit(&d->out, "\nDisassembly of section ");
    pgk_text_str(&d->out, s->name);
    pgk_text_lit(&d->out, " [0x");
    pgk_text_hex(&d->out, s->addr, 0);
    pgk_text_lit(&d->out, ", 0x");
    pgk_text_hex(&d->out, s->addr + s->size, 0);
    pgk_text_lit(&d->out, "]:\n\n");
}

static void function(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    pgk_text_lit(&d->out, "<");
    pgk_text_str(&d->out, f->symbol->name);
    pgk_text_lit(&d->out, ">:\n");
}

static void function_end(struct pgk_disasm *d)
{
    pgk_text_lit(&d->out, "\n");
}

static void print_name(struct pgk_disasm *d, uint32_t desc)
{
    struct pgk_probe_desc name = pgk_probe_desc_at(d->probes, desc);
    pgk_text_bytes(&d->out, name.name, name.name_len);
}

static void print_probe(struct pgk_disasm *d, uint32_t number)
{
    struct pgk_text_out *o = &d->out;
    struct pgk_probe p = pgk_probe_get(d->index, number);
    struct pgk_probe_frame frames[PGK_PROBE_MAX_DEPTH];
    pgk_text_lit(o, " [Probe]:\tFUNC: ");
    print_name(d, pgk_probe_function(d->index, p.node));
    pgk_text_lit(o, " Index: ");
    pgk_text_u64(o, p.index);
    if (p.discriminator) {
        pgk_text_lit(o, "  Discriminator: ");
        pgk_text_u64(o, p.discriminator);
    }
    pgk_text_lit(o, "  Type: ");
    pgk_text_str(o, pgk_probe_type_name(p.type));
    pgk_text_lit(o, "  ");
    size_t depth = pgk_probe_context(d->index, p.node, frames, PGK_PROBE_MAX_DEPTH);
    for (size_t i = 0; i < depth; i++) {
        pgk_text_str(o, i ? " @ " : "Inlined: @ ");
        print_name(d, frames[i].desc);
        pgk_text_lit(o, ":");
        pgk_text_u64(o, frames[i].site);
    }
    pgk_text_lit(o, "\n");
}

static void print_source(struct pgk_disasm *d, const struct pgk_disasm_row *row)
{
    enum { COLUMNS = 40 };
    struct pgk_text_out *o = &d->out;
    size_t width = row->text_len + 1; /* with the tab in front */
    if (width < COLUMNS)
        pgk_text_fill(o, ' ', COLUMNS - width);
    for (uint32_t i = 0; i < row->source->count; i++) {
        const struct pgk_sym_frame *f = &row->source->frames[i];
        if (!f->function)
            break;
        if (i)
            pgk_text_lit(o, " @ ");
        pgk_text_str(o, f->function);
        pgk_text_lit(o, ":");
        if (d->opts->probes) {
            pgk_text_u64(o, pgk_discriminator_probe(f->discriminator));
            continue;
        }
        pgk_text_u64(o, (f->line - f->decl_line) & 0xffff);
        if (f->discriminator) {
            pgk_text_lit(o, ".");
            pgk_text_u64(o, f->discriminator);
        }
    }
}

static void insn(struct pgk_disasm *d, const struct pgk_disasm_row *row)
{
    for (size_t i = 0; i < row->n_probes; i++)
        print_probe(d, pgk_probe_by_address(d->index, row->first_probe + i));
    pgk_text_hex(&d->out, row->insn.addr, 8);
    pgk_text_lit(&d->out, ":\t");
    pgk_text_bytes(&d->out, row->text, row->text_len);
    if (row->source)
        print_source(d, row);
    pgk_text_lit(&d->out, "\n");
}

const struct pgk_disasm_style pgk_disasm_llvm = {
    .insns = PGK_INSN_LLVM,
    .every_symbol = true,
    .begin = begin,
    .section = section,
    .function = function,
    .insn = insn,
    .function_end = function_end,
};
