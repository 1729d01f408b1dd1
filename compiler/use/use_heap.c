/* Calls that allocate get what LLVM's own pass gives them: the attribute "memprof" where all
 * contexts of a call are alike, else metadata of contexts by which functions are copied in a link.
 *
 * LLVM looks for contexts in the record of the function that has the call now, so it loses those
 * whose call is inlined where it was not. Here they are found by the place of the call itself: a
 * context belongs to a call if its stack begins with the chain of calls that this is inlined
 * through. */
#include "use_heap.h"

#include "plan_memory.h"
#include "use_chain.h"
#include "use_hint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A call with its place. */
struct site {
    LLVMValueRef call;
    uint64_t function; /* that it is in */
    struct pgc_place *chain;
    size_t n;
    size_t position;    /* of the chain, in the index */
    uint32_t *contexts; /* that belong to it */
    size_t n_contexts;
};

/* What a chain of the index is found in. */
struct match {
    uint32_t *contexts; /* of an allocation */
    size_t n, capacity;
    const struct pgc_frame *frames; /* of another call: the first with most exact places */
    size_t exact;
};
struct sites {
    struct site *all;
    size_t n, capacity;
    struct pgc_chains chains;
    struct match *matches; /* for each chain */
};

struct marking {
    struct pgc_heap_profile *profile;
    const struct pgc_use_options *options;
    struct pgc_report *report;
    struct sites allocating, others;
    uint8_t *longest;    /* for each context: places of the longest chain that it begins with */
    uint64_t *unlocated; /* functions with calls that allocate and have no place */
    size_t n_unlocated, unlocated_capacity;
    bool for_link;
};

/* LLVM keeps a context in the records of all functions that its call was inlined into. */
static bool in_record_of(const struct pgc_context *context, uint64_t function)
{
    for (size_t i = 0; i < context->n; i++) {
        if (context->frames[i].function == function)
            return true;
        if (!context->frames[i].inlined)
            return false;
    }
    return false;
}

/* ---- finding calls ---- */

static bool add_site(struct sites *sites, LLVMValueRef call, uint64_t function)
{
    struct pgc_place chain[PGC_PLACES];
    size_t n = pgc_places(call, chain, PGC_PLACES);
    if (!n)
        return false;
    struct site site = {.call = call, .function = function, .n = n,
                        .chain = pgc_zeroed(n, sizeof *chain)};
    memcpy(site.chain, chain, n * sizeof *chain);
    PGC_PUSH(sites->all, sites->n, sites->capacity, site);
    return true;
}

static void add_call(struct marking *m, LLVMValueRef call, uint64_t function)
{
    bool allocates = pgc_allocates(call, m->options->as_llvm);
    if (add_site(allocates ? &m->allocating : &m->others, call, function) || !allocates)
        return;
    pgc_report_count(m->report, PGC_UNLOCATED);
    PGC_PUSH(m->unlocated, m->n_unlocated, m->unlocated_capacity, function);
}

static void find_sites(struct marking *m, LLVMValueRef function)
{
    uint64_t id = pgc_function_id(function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if ((!LLVMIsACallInst(i) && !LLVMIsAInvokeInst(i)) || LLVMIsAIntrinsicInst(i))
                continue;
            add_call(m, i, id);
        }
}

static void free_sites(struct sites *sites)
{
    for (size_t i = 0; i < sites->n; i++) {
        free(sites->all[i].chain);
        free(sites->all[i].contexts);
    }
    for (size_t i = 0; sites->matches && i < sites->chains.n; i++)
        free(sites->matches[i].contexts);
    free(sites->matches);
    pgc_chains_close(&sites->chains);
    free(sites->all);
}

static bool is_known(const struct marking *m, const struct pgc_place *place, bool allocates)
{
    return pgc_heap_knows(m->profile, place, allocates, m->options->as_llvm);
}

/* Frames next to the leaf that the profile does not have: the program that was profiled had no
 * debug information there. */
static void skip_unknown(const struct marking *m, struct site *site)
{
    size_t skip = 0;
    while (skip < site->n && !is_known(m, &site->chain[skip], true) &&
           !is_known(m, &site->chain[skip], false))
        skip++;
    site->n -= skip;
    memmove(site->chain, site->chain + skip, site->n * sizeof *site->chain);
}

static void index_sites(const struct marking *m, struct sites *sites)
{
    size_t *positions = pgc_zeroed(sites->n, sizeof *positions);
    sites->chains.columns = m->profile->whole.columns;
    sites->chains.exact = m->options->as_llvm;
    for (size_t i = 0; i < sites->n; i++)
        pgc_chains_add(&sites->chains, sites->all[i].chain, sites->all[i].n);
    pgc_chains_sort(&sites->chains, positions);
    for (size_t i = 0; i < sites->n; i++)
        sites->all[i].position = positions[i];
    sites->matches = pgc_zeroed(sites->chains.n, sizeof *sites->matches);
    free(positions);
}

/* ---- which contexts belong to which call ---- */

struct finding {
    struct marking *m;
    uint32_t context;
    const struct pgc_frame *frames;
};

static void add_context(void *arg, size_t position)
{
    const struct finding *finding = arg;
    struct marking *m = finding->m;
    struct match *match = &m->allocating.matches[position];
    const size_t n = m->allocating.chains.all[position].n;
    PGC_PUSH(match->contexts, match->n, match->capacity, finding->context);
    if (n > m->longest[finding->context])
        m->longest[finding->context] = (uint8_t)n;
}

static void match_contexts(struct marking *m)
{
    m->longest = pgc_zeroed(m->profile->n, sizeof *m->longest);
    for (uint32_t i = 0; i < m->profile->n; i++) {
        const struct pgc_context *context = &m->profile->contexts[i];
        struct finding finding = {.m = m, .context = i};
        pgc_chains_find(&m->allocating.chains, context->frames, context->n, add_context, &finding);
    }
}

/* Does a longer chain claim the context, and is the call gone by which the shorter one would be
 * reached? */
static bool is_inlined_away(const struct marking *m, const struct site *site, uint32_t number)
{
    const struct pgc_context *context = &m->profile->contexts[number];
    return m->longest[number] > site->n &&
           !pgc_chains_begin(&m->others.chains, &context->frames[site->n]);
}

/* All those that its chain matches, but for those of another call. */
static void take_contexts(const struct marking *m, struct site *site)
{
    const struct match *match = &m->allocating.matches[site->position];
    const bool as_llvm = m->options->as_llvm;
    site->contexts = pgc_zeroed(match->n, sizeof *site->contexts);
    for (size_t i = 0; i < match->n; i++) {
        const uint32_t number = match->contexts[i];
        if (as_llvm ? in_record_of(&m->profile->contexts[number], site->function)
                    : !is_inlined_away(m, site, number))
            site->contexts[site->n_contexts++] = number;
    }
    if (!site->n_contexts && match->n && !as_llvm) {
        memcpy(site->contexts, match->contexts, match->n * sizeof *match->contexts);
        site->n_contexts = match->n;
    }
}

/* ---- marks ---- */

static uint64_t id_of_frame(const struct pgc_frame *frame)
{
    return pgc_stack_id(frame->function, frame->line, frame->column);
}

static uint64_t *ids_of_chain(const struct marking *m, const struct site *site)
{
    uint64_t *ids = pgc_zeroed(site->n, sizeof *ids);
    for (size_t i = 0; i < site->n; i++)
        ids[i] = pgc_stack_id(site->chain[i].function, site->chain[i].line_offset,
                              m->profile->whole.columns ? site->chain[i].column : 0);
    return ids;
}

struct share {
    uint64_t bytes, cold, hot;
};

static void report_site(const struct marking *m, const struct site *site,
                        const struct share *share, bool marked)
{
    char text[160];
    uint64_t bytes = share->hot > share->cold ? share->hot : share->cold;
    const char *what = share->hot > share->cold ? "hot" : "cold";
    if (!bytes)
        return;
    if (marked) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " of %" PRIu64 " bytes are %s, and the others are told apart only by "
                 "their callers, in a link", bytes, share->bytes, what);
        pgc_remark(site->call, true, "Contexts", text);
        pgc_report_count(m->report, PGC_MISSED);
        return;
    }
    snprintf(text, sizeof text, "allocates %s objects: %zu context%s, %" PRIu64 " bytes", what,
             site->n_contexts, site->n_contexts == 1 ? "" : "s", bytes);
    pgc_remark(site->call, false, "Allocation", text);
    pgc_report_count(m->report, PGC_GIVEN);
}

/* The contexts of a call are used, or left to a link. */
static void settle(const struct marking *m, const struct site *site, bool marked)
{
    enum pgk_use use = !pgc_may_hint(site->call) ? PGK_USE_BY_NAME
                       : !marked                 ? PGK_USE_HINTED
                       : m->for_link             ? PGK_USE_IN_LINK
                                                 : PGK_USE_CALLERS;
    for (size_t i = 0; i < site->n_contexts; i++) {
        struct pgc_context *context = &m->profile->contexts[site->contexts[i]];
        if (context->use <= use)
            continue;
        context->use = use;
        context->place = pgc_place_key(site->chain, site->n, 0);
    }
}

static void mark(const struct marking *m, const struct site *site)
{
    struct share share = {0};
    uint64_t *ids = ids_of_chain(m, site);
    struct pgc_trie *trie = pgc_trie_new();
    for (size_t i = 0; i < site->n_contexts; i++) {
        const struct pgc_context *context = &m->profile->contexts[site->contexts[i]];
        uint64_t *stack = pgc_zeroed(context->n, sizeof *stack);
        memcpy(stack, ids, site->n * sizeof *ids);
        for (size_t k = site->n; k < context->n; k++)
            stack[k] = id_of_frame(&context->frames[k]);
        pgc_trie_add(trie, (int)context->is, stack, context->n);
        share.bytes += context->bytes;
        share.cold += context->is == PGC_COLD ? context->bytes : 0;
        share.hot += context->is == PGC_HOT ? context->bytes : 0;
        free(stack);
    }
    bool marked = pgc_trie_attach(trie, site->call, ids, site->n);
    report_site(m, site, &share, marked);
    settle(m, site, marked);
    free(ids);
}

/* Of calls without a line only where no others are. */
static void choose_frames(void *arg, size_t position)
{
    const struct finding *finding = arg;
    struct sites *others = &finding->m->others;
    struct match *match = &others->matches[position];
    const size_t exact = pgc_chain_exact(&others->chains.all[position], finding->frames);
    if (match->frames && exact <= match->exact)
        return;
    match->frames = finding->frames;
    match->exact = exact;
}

static void match_calls(struct marking *m)
{
    for (uint32_t i = 0; i < m->profile->n; i++) {
        const struct pgc_context *context = &m->profile->contexts[i];
        for (size_t k = 1; k < context->n; k++) {
            struct finding finding = {.m = m, .frames = context->frames + k};
            pgc_chains_find(&m->others.chains, finding.frames, context->n - k, choose_frames,
                            &finding);
        }
    }
}

/* Calls on the path to an allocation are known by the frames of the profile. */
static void mark_call(const struct marking *m, const struct site *site)
{
    const struct pgc_frame *frames = m->others.matches[site->position].frames;
    if (!frames)
        return;
    uint64_t *ids = pgc_zeroed(site->n, sizeof *ids);
    for (size_t k = 0; k < site->n; k++)
        ids[k] = id_of_frame(&frames[k]);
    pgc_set_callsite(site->call, ids, site->n);
    free(ids);
}

/* ---- the record ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_numbers(uint64_t *all, size_t n)
{
    if (n)
        qsort(all, n, sizeof *all, by_number);
}

static enum pgk_use why_not(const struct marking *m, const struct pgc_context *context)
{
    if (pgc_chains_begin(&m->allocating.chains, context->frames))
        return PGK_USE_OTHER_CALLER;
    if (m->n_unlocated && bsearch(&context->frames->function, m->unlocated, m->n_unlocated,
                                  sizeof *m->unlocated, by_number))
        return PGK_USE_NO_PLACE;
    return PGK_USE_NO_CALL;
}

/* Contexts of a function whose call was not found. */
static void miss_function(const struct marking *m, uint64_t function)
{
    size_t n;
    const struct pgc_call_row *rows = pgc_heap_calls(m->profile, function, true, &n);
    for (size_t i = 0; i < n; i++) {
        struct pgc_context *context = &m->profile->contexts[rows[i].context];
        if (context->use == PGK_USE_NO_FUNCTION)
            context->use = why_not(m, context);
    }
}

struct functions {
    uint64_t *all;
    size_t n, capacity;
};

static void add_function(struct functions *f, uint64_t function)
{
    PGC_PUSH(f->all, f->n, f->capacity, function);
}

/* Of all functions of the module, and of those that are inlined into them. */
static void miss_functions(const struct marking *m, LLVMModuleRef module)
{
    struct functions functions = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            add_function(&functions, pgc_function_id(f));
    for (const struct sites *s = &m->allocating; s; s = s == &m->others ? NULL : &m->others)
        for (size_t i = 0; i < s->n; i++)
            for (size_t k = 0; k < s->all[i].n; k++)
                add_function(&functions, s->all[i].chain[k].function);
    sort_numbers(functions.all, functions.n);
    for (size_t i = 0; i < functions.n; i++)
        if (!i || functions.all[i] != functions.all[i - 1])
            miss_function(m, functions.all[i]);
    free(functions.all);
}

static void report(const struct marking *m, LLVMModuleRef module)
{
    const struct pgc_heap_profile *p = m->profile;
    if (!m->report)
        return;
    sort_numbers(m->unlocated, m->n_unlocated);
    miss_functions(m, module);
    pgc_report_of(m->report, "heap", p->whole.contexts, p->whole.bytes);
    pgc_report_limits(m->report, &m->options->limits);
    for (size_t i = 0; i < p->n; i++)
        if (p->contexts[i].use != PGK_USE_NO_FUNCTION && p->contexts[i].is != PGC_NOT_COLD)
            pgc_report_use(m->report, p->contexts[i].use, p->contexts[i].key,
                           p->contexts[i].place);
}

/* How many calls have contexts. */
static size_t mark_all(struct marking *m)
{
    size_t marked = 0;
    for (size_t i = 0; i < m->allocating.n; i++)
        skip_unknown(m, &m->allocating.all[i]);
    index_sites(m, &m->allocating);
    index_sites(m, &m->others);
    match_contexts(m);
    for (size_t i = 0; i < m->allocating.n; i++) {
        struct site *site = &m->allocating.all[i];
        take_contexts(m, site);
        if (site->n_contexts)
            mark(m, site);
        marked += site->n_contexts != 0;
    }
    if (m->for_link)
        match_calls(m);
    for (size_t i = 0; m->for_link && i < m->others.n; i++)
        mark_call(m, &m->others.all[i]);
    return marked;
}

size_t pgc_mark_allocations(LLVMModuleRef module, struct pgc_heap_profile *profile,
                            const struct pgc_use_options *options, struct pgc_report *into)
{
    struct marking m = {.profile = profile, .options = options, .report = into,
                        .for_link = pgc_is_for_link(module)};
    if (!options->as_llvm)
        pgc_keep_all_contexts();
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        find_sites(&m, f);
    size_t known = mark_all(&m);
    for (size_t i = 0; i < m.others.n; i++)
        known += is_known(&m, m.others.all[i].chain, false);
    report(&m, module);
    free_sites(&m.allocating);
    free_sites(&m.others);
    free(m.unlocated);
    free(m.longest);
    return known;
}
