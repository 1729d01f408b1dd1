/* The forms in which a compiler can use a profile: each is built and measured, and kept if it is
 * sure to gain. */
#include "pgo_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A form replaces the flags of the one before, or adds to those of the best. */
struct form {
    const char *name;
    bool is_layer;                  /* adds, and only with --layers */
    bool if_none;                   /* without --layers only if none was kept before */
    bool if_known;                  /* what was not recorded must surely be cold */
    const char *clang, *rust, *gcc; /* NULL: not for it */
    unsigned long first, last;      /* releases of gcc; 0: any */
    unsigned long first_clang;
    bool is_lto; /* which cargo has an option of its own for */
    /* Before the build, flags that it finds out, and after it what is done to the programs;
     * false: *why it cannot be. */
    bool (*prepare)(const struct pgo_layering *l, char **flags, const char **why);
    bool (*finish)(const struct pgo_layering *l, const char **why);
};

static const struct form forms[] = {
    {"profile", .clang = "", .rust = "", .gcc = "", .first = 13},
    {"profile", .gcc = PGO_GCC_LEAN, .last = 12},
    /* Of the passes that the lean form turns off, loops over arrays need vectors only; unrolling
     * all loops makes bzip2 a third larger. */
    {"profile, vectors", .gcc = PGO_GCC_FEW_PASSES, .last = 12},
    {"profile, fewer passes", .if_none = true, .gcc = PGO_GCC_LEAN, .first = 13},
    /* What was not recorded is cold, which makes it small. */
    {"profile, small cold code", .if_none = true, .if_known = true,
     .clang = " -fprofile-sample-accurate", .rust = " -Cllvm-args=-profile-sample-accurate"},
    /* Objects hold machine code, too, so that any archiver can join them in libraries. */
    {"thin LTO", .is_layer = true, .is_lto = true, .first_clang = 17, .rust = "",
     .clang = " -flto=thin -ffat-lto-objects -fuse-ld=lld"},
    {"LTO", .is_layer = true, .gcc = " -flto=auto -ffat-lto-objects"},
    {"aligned functions", .is_layer = true, .clang = PGO_ALIGN, .rust = PGO_ALIGN_RUST,
     .gcc = PGO_ALIGN},
    {"heap hints", .is_layer = true, .clang = "", .prepare = pgo_hint_objects},
    {"order of functions", .is_layer = true, .clang = "", .rust = "", .gcc = "",
     .prepare = pgo_order_functions},
    {"llvm-bolt", .is_layer = true, .clang = PGO_BOLT_FLAGS, .rust = PGO_BOLT_RUST_FLAGS,
     .gcc = PGO_BOLT_GCC_FLAGS, .finish = pgo_run_bolt},
};

struct tries {
    const struct pgo_trying *of;
    struct pgk_trial *trial;
    size_t rows;
    bool kept, lto;     /* the best is; it is built so */
    char *flags, *rust; /* of the best */
    bool too_large;
    char advice[PGO_SENTENCE];
};

static bool fits(const struct form *f, const struct tries *t)
{
    const struct pgo_compiler *c = t->of->compiler;
    if (f->is_layer ? !t->of->limits->layers || !t->kept || c->align
                    : f->if_none && t->kept && !t->of->limits->layers)
        return false;
    if (f->if_known && t->of->figures->record_more > PGO_TOO_FEW)
        return false;
    if (f->prepare == pgo_order_functions && t->lto)
        return false; /* the linker sees one object */
    if (c->clang)
        return f->clang && (!c->cc || c->release >= f->first_clang);
    return f->gcc && c->release >= f->first && (!f->last || c->release <= f->last);
}

/* `more` are those that were found out. */
static void set_flags(const struct form *f, struct tries *t, const char *more)
{
    struct pgo_compiler *c = t->of->compiler;
    char *own = pgo_text("%s%s", c->clang ? f->clang : f->gcc, more);
    char *own_rust = pgo_rust_flags(f->rust ? f->rust : "", more);
    c->use = pgo_text("%s%s", f->is_layer ? t->flags : "", own);
    c->use_rust = pgo_text("%s%s", f->is_layer ? t->rust : "", own_rust);
    c->lto = f->is_lto || (f->is_layer && t->lto);
    free(own);
    free(own_rust);
}

/* The build is the best from now on; it stands where the one without a profile stood. */
static void keep(struct tries *t)
{
    free(t->flags);
    free(t->rust);
    t->flags = pgo_text("%s%s", t->of->compiler->use, "");
    t->rust = pgo_text("%s%s", t->of->compiler->use_rust, "");
    t->kept = true;
    t->lto = t->of->compiler->lto;
    pgo_promote(t->of->files);
    pgo_forget_best(t->of->layering);
}

static bool is_too_large(const struct tries *t, uint64_t bytes)
{
    enum { PAGE = 4096 }; /* that small programs may grow, unless the user says by how much */
    const struct pgo_limits *l = t->of->limits;
    const double plain = (double)t->of->plain_bytes, more = (double)bytes - plain;
    return plain > 0 && bytes && 100 * more / plain > l->max_growth &&
           (l->has_max_growth || more > PAGE);
}

/* Surely faster; in place of another form also one that is smaller and surely not slower. */
static bool is_better(const struct tries *t, const struct pgk_trial_result *r)
{
    const struct pgo_limits *l = t->of->limits;
    if (r->verdict == PGK_TRIAL_FASTER)
        return t->kept || !l->has_min_gain || r->gain >= l->min_gain;
    return t->kept && pgo_is_smaller(r) && r->low > -PGO_MATTERS;
}

static void end_row(struct tries *t, const struct pgk_trial_result *r, bool better)
{
    char why[PGO_SENTENCE] = "", advice[PGO_SENTENCE] = "";
    const struct pgo_why about = {.result = r,
                                  .limits = t->of->limits,
                                  .figures = t->of->figures,
                                  .plain_bytes = t->of->plain_bytes,
                                  .runs = t->of->runs,
                                  .other_input = t->of->other_input,
                                  .clang = t->of->compiler->clang};
    if (!better)
        pgo_explain(&about, why, advice);
    if (!better && t->kept)
        *advice = '\0'; /* nothing is to be done about a form that is no better */
    if (pgk_trial_end(t->trial, better, *why ? why : NULL, *advice ? advice : NULL, NULL))
        pgo_stop("out of memory");
    pgk_trial_print_row(t->trial, t->rows, t->of->human);
    fprintf(t->of->human, "  %s%s\n", better ? "kept" : "not kept: ", why);
    fflush(t->of->human); /* before what is said next */
    if (!t->kept)
        memcpy(t->advice, advice, sizeof advice);
    if (better)
        keep(t);
    t->rows++;
}

/* A row without turns. */
static void end_untried(struct tries *t, const struct form *f, const char *why)
{
    if (pgk_trial_begin(t->trial, f->name, 0, NULL) ||
        pgk_trial_end(t->trial, false, why, NULL, NULL))
        pgo_stop("out of memory");
    fprintf(t->of->human, "%s: not kept: %s\n", f->name, why);
    fflush(t->of->human);
    t->rows++;
}

static void measure_form(const struct form *f, struct tries *t)
{
    struct pgk_trial_result r = {.struct_size = sizeof r};
    const uint64_t bytes = pgo_code_bytes(t->of->files);
    if (pgk_trial_begin(t->trial, f->name, bytes, NULL))
        pgo_stop("out of memory");
    const bool too_large = is_too_large(t, bytes);
    struct pgo_limits limits = *t->of->limits;
    limits.or_smaller = t->kept;
    t->too_large |= too_large;
    if (too_large)
        pgk_trial_result(t->trial, t->rows, &r);
    else
        r = pgo_measure(t->trial, t->rows, t->of->files, t->of->measure, &limits, t->of->quiet);
    end_row(t, &r, !too_large && is_better(t, &r));
}

/* Builds one form; false: *why it cannot be measured. NULL: it is the same programs again. */
static bool build_form(const struct form *f, struct tries *t, const char **why)
{
    char *more = NULL;
    if (f->is_layer)
        t->of->compiler->use = t->flags; /* of the best, which may be built for the layer */
    if (f->prepare && !f->prepare(t->of->layering, &more, why)) {
        free(more);
        return false;
    }
    set_flags(f, t, more ? more : "");
    free(more);
    const enum pgo_built built = t->of->build(t->of->ctx, t->rows == 0, f->is_layer);
    *why = built == PGO_BUILT_NOT ? "it cannot be built so" : NULL;
    if (built != PGO_BUILT)
        return false;
    if (f->finish && !f->finish(t->of->layering, why))
        return false;
    pgo_keep(t->of->files, t->of->layering->load->scratch, true);
    return true;
}

static void try_form(const struct form *f, struct tries *t)
{
    char bolt[PGO_BOLT_NAME];
    const char *why = NULL;
    if (f->finish == pgo_run_bolt && !pgo_find_bolt(bolt))
        end_untried(t, f, "llvm-bolt is not installed");
    else if (build_form(f, t, &why))
        measure_form(f, t);
    else if (why)
        end_untried(t, f, why);
}

bool pgo_try(const struct pgo_trying *trying, struct pgk_trial *trial, bool *refused)
{
    struct tries t = {.of = trying, .trial = trial};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (fits(&forms[i], &t))
            try_form(&forms[i], &t);
    pgo_place(trying->files, false); /* the best */
    if (t.kept) {
        trying->compiler->use = t.flags;
        trying->compiler->use_rust = t.rust;
        trying->compiler->lto = t.lto;
    }
    if (!t.kept) {
        fputs("the build without the profile is in place again\n", trying->human);
        if (*t.advice)
            fprintf(trying->human, "next: %s\n", t.advice);
    }
    fflush(trying->human);
    *refused = !t.kept && (t.too_large || trying->limits->has_min_gain);
    return t.kept;
}
