/* Calls that allocate get what LLVM's own pass gives them: the attribute "memprof" where all
 * contexts of a call are alike, else metadata of contexts by which functions are copied in a link.
 *
 * LLVM looks for contexts in the record of the function that has the call now, so it loses those
 * whose call is inlined where it was not. Here they are found by the place of the call itself: a
 * context belongs to a call if its stack begins with the chain of calls that this is inlined
 * through. */
#include "use_heap.h"

#include "plan_memory.h"
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
    uint32_t *contexts; /* that belong to it */
    size_t n_contexts;
};
struct sites {
    struct site *all;
    size_t n, room;
};

struct marking {
    struct pgc_heap_profile *profile;
    const struct pgc_use_options *options;
    struct pgc_report *report;
    struct sites allocating, others;
    uint64_t *unlocated; /* functions with calls that allocate and have no place */
    size_t n_unlocated, unlocated_room;
    bool for_link;
};

/* ---- places ---- */

static bool is_exactly_at(const struct marking *m, const struct pgc_frame *frame,
                          const struct pgc_place *place)
{
    return frame->function == place->function && frame->line == place->line_offset &&
           (!m->profile->whole.columns || frame->column == place->column);
}

/* Calls that optimisation merged have no line: they may be any of the function. */
static bool is_at(const struct marking *m, const struct pgc_frame *frame,
                  const struct pgc_place *place)
{
    return is_exactly_at(m, frame, place) ||
           (!m->options->as_llvm && frame->function == place->function &&
            (place->line_zero || frame->line == place->no_line));
}

static bool begins_with(const struct marking *m, const struct pgc_frame *frames, size_t n_frames,
                        const struct site *site)
{
    if (n_frames < site->n)
        return false;
    for (size_t i = 0; i < site->n; i++)
        if (!is_at(m, &frames[i], &site->chain[i]))
            return false;
    return true;
}

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
    sites->all = pgc_room(sites->all, sites->n, &sites->room, sizeof *sites->all);
    struct site *site = &sites->all[sites->n++];
    *site = (struct site){.call = call, .function = function, .n = n,
                          .chain = pgc_zeroed(n, sizeof *chain)};
    memcpy(site->chain, chain, n * sizeof *chain);
    return true;
}

static void add_call(struct marking *m, LLVMValueRef call, uint64_t function)
{
    bool allocates = pgc_allocates(call, m->options->as_llvm);
    if (add_site(allocates ? &m->allocating : &m->others, call, function) || !allocates)
        return;
    pgc_report_count(m->report, PGC_UNLOCATED);
    m->unlocated = pgc_room(m->unlocated, m->n_unlocated, &m->unlocated_room,
                            sizeof *m->unlocated);
    m->unlocated[m->n_unlocated++] = function;
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
    free(sites->all);
}

/* ---- which contexts belong to which call ---- */

static bool belongs(const struct marking *m, const struct pgc_context *context,
                    const struct site *site)
{
    return begins_with(m, context->frames, context->n, site) &&
           (!m->options->as_llvm || in_record_of(context, site->function));
}

static bool is_known(const struct marking *m, const struct pgc_place *place, bool allocates)
{
    size_t n;
    const struct pgc_call_row *rows = pgc_heap_calls(m->profile, place->function, allocates, &n);
    for (size_t i = 0; i < n; i++)
        if (is_at(m, &m->profile->contexts[rows[i].context].frames[rows[i].frame], place))
            return true;
    return false;
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

static void match(const struct marking *m, struct site *site)
{
    size_t n;
    skip_unknown(m, site);
    if (!site->n)
        return;
    const struct pgc_call_row *rows = pgc_heap_calls(m->profile, site->chain->function, true, &n);
    site->contexts = pgc_zeroed(n, sizeof *site->contexts);
    for (size_t i = 0; i < n; i++) {
        const struct pgc_context *context = &m->profile->contexts[rows[i].context];
        if (!belongs(m, context, site))
            continue;
        site->contexts[site->n_contexts++] = rows[i].context;
    }
}

/* Is there code of the call in the context that the function of the site is called by? */
static bool is_called(const struct marking *m, const struct pgc_context *context, size_t frame)
{
    for (size_t i = 0; i < m->others.n; i++)
        if (is_at(m, &context->frames[frame], &m->others.all[i].chain[0]))
            return true;
    return false;
}

/* Does a longer chain claim the context, and is the call gone by which the shorter one would be
 * reached? */
static bool is_inlined_away(const struct marking *m, const struct site *site, uint32_t number)
{
    const struct pgc_context *context = &m->profile->contexts[number];
    for (size_t i = 0; i < m->allocating.n; i++) {
        const struct site *other = &m->allocating.all[i];
        if (site->n && other->n > site->n && begins_with(m, context->frames, context->n, other))
            return !is_called(m, context, site->n);
    }
    return false;
}

static void drop_inlined_away(const struct marking *m, struct site *site)
{
    size_t kept = 0;
    uint32_t *left = pgc_zeroed(site->n_contexts, sizeof *left);
    for (size_t i = 0; i < site->n_contexts; i++)
        if (!is_inlined_away(m, site, site->contexts[i]))
            left[kept++] = site->contexts[i];
    if (kept) {
        memcpy(site->contexts, left, kept * sizeof *left);
        site->n_contexts = kept;
    }
    free(left);
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

static void tell(const struct marking *m, const struct site *site, const struct share *share,
                 bool marked)
{
    char text[160];
    uint64_t told = share->hot > share->cold ? share->hot : share->cold;
    const char *what = share->hot > share->cold ? "hot" : "cold";
    if (!told)
        return;
    if (marked) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " of %" PRIu64 " bytes are %s, and the others are told apart only by "
                 "their callers, in a link", told, share->bytes, what);
        pgc_remark(site->call, true, "Contexts", text);
        pgc_report_count(m->report, PGC_MISSED);
        return;
    }
    snprintf(text, sizeof text, "allocates %s objects: %zu context%s, %" PRIu64 " bytes", what,
             site->n_contexts, site->n_contexts == 1 ? "" : "s", told);
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
    tell(m, site, &share, marked);
    settle(m, site, marked);
    free(ids);
}

static size_t exact_frames(const struct marking *m, const struct pgc_frame *frames,
                           const struct site *site)
{
    size_t n = 0;
    for (size_t i = 0; i < site->n; i++)
        n += is_exactly_at(m, &frames[i], &site->chain[i]);
    return n;
}

/* The frames of the profile that a call is at: of calls without a line only where no others are. */
static const struct pgc_frame *frames_of_call(const struct marking *m, const struct site *site)
{
    size_t n, most = 0;
    const struct pgc_frame *best = NULL;
    const struct pgc_call_row *rows = pgc_heap_calls(m->profile, site->chain->function, false, &n);
    for (size_t i = 0; i < n && most < site->n; i++) {
        const struct pgc_context *context = &m->profile->contexts[rows[i].context];
        const struct pgc_frame *frames = context->frames + rows[i].frame;
        if (!begins_with(m, frames, context->n - rows[i].frame, site))
            continue;
        size_t exact = exact_frames(m, frames, site);
        if (!best || exact > most) {
            best = frames;
            most = exact;
        }
    }
    return best;
}

/* Calls on the way to an allocation are known by the frames of the profile. */
static void mark_call(const struct marking *m, const struct site *site)
{
    const struct pgc_frame *frames = frames_of_call(m, site);
    if (!frames)
        return;
    uint64_t *ids = pgc_zeroed(site->n, sizeof *ids);
    for (size_t k = 0; k < site->n; k++)
        ids[k] = id_of_frame(&frames[k]);
    pgc_set_callsite(site->call, ids, site->n);
    free(ids);
}

/* ---- the record ---- */

static enum pgk_use why_not(const struct marking *m, const struct pgc_context *context)
{
    for (size_t i = 0; i < m->allocating.n; i++)
        if (m->allocating.all[i].n && is_at(m, context->frames, m->allocating.all[i].chain))
            return PGK_USE_OTHER_CALLER;
    for (size_t i = 0; i < m->n_unlocated; i++)
        if (m->unlocated[i] == context->frames->function)
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

static void report(const struct marking *m, LLVMModuleRef module)
{
    const struct pgc_heap_profile *p = m->profile;
    if (!m->report)
        return;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            miss_function(m, pgc_function_id(f));
    for (const struct sites *s = &m->allocating; s; s = s == &m->others ? NULL : &m->others)
        for (size_t i = 0; i < s->n; i++)
            for (size_t k = 0; k < s->all[i].n; k++)
                miss_function(m, s->all[i].chain[k].function);
    pgc_report_of(m->report, "heap", p->whole.contexts, p->whole.bytes);
    pgc_report_limits(m->report, &m->options->limits);
    for (size_t i = 0; i < p->n; i++)
        if (p->contexts[i].use != PGK_USE_NO_FUNCTION && p->contexts[i].is != PGC_NOT_COLD)
            pgc_report_use(m->report, p->contexts[i].use, p->contexts[i].key,
                           p->contexts[i].place);
}

static void mark_all(struct marking *m)
{
    for (size_t i = 0; i < m->allocating.n; i++)
        match(m, &m->allocating.all[i]);
    for (size_t i = 0; !m->options->as_llvm && i < m->allocating.n; i++)
        drop_inlined_away(m, &m->allocating.all[i]);
    for (size_t i = 0; i < m->allocating.n; i++)
        if (m->allocating.all[i].n_contexts)
            mark(m, &m->allocating.all[i]);
    for (size_t i = 0; m->for_link && i < m->others.n; i++)
        mark_call(m, &m->others.all[i]);
}

size_t pgc_mark_allocations(LLVMModuleRef module, struct pgc_heap_profile *profile,
                            const struct pgc_use_options *options, struct pgc_report *into)
{
    struct marking m = {.profile = profile, .options = options, .report = into,
                        .for_link = pgc_is_for_link(module)};
    size_t known = 0;
    if (!options->as_llvm)
        pgc_keep_all_contexts();
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        find_sites(&m, f);
    mark_all(&m);
    for (size_t i = 0; i < m.allocating.n; i++)
        known += m.allocating.all[i].n_contexts != 0;
    for (size_t i = 0; i < m.others.n; i++)
        known += is_known(&m, m.others.all[i].chain, false);
    report(&m, module);
    free_sites(&m.allocating);
    free_sites(&m.others);
    free(m.unlocated);
    return known;
}
