/* Shared by the views of matches: of heap profiles by contexts, of others by functions. */
#ifndef PGK_MATCH_VIEW_H
#define PGK_MATCH_VIEW_H

#include "fail.h"
#include "heap_stack_text.h"
#include "json_out.h"
#include "pgokit/match.h"
#include "shown_names.h"

#include <stdio.h>

/* Per cent of the whole; 0 of nothing. */
static inline double pgk_match_share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* How many of so many changes are shown. */
static inline size_t pgk_match_top(const struct pgk_match_print_opts *opts, size_t changes)
{
    return opts->top && opts->top < changes ? opts->top : changes;
}

/* A view for people: on a terminal, or as tables of Markdown. */
struct pgk_match_view {
    struct pgk_match_print_opts opts; /* with titles */
    struct pgk_text_style style;
    struct pgk_shown_names names;
};
/* Of a zeroed struct with the options as the caller of the library gave them. */
void pgk_match_view_begin(struct pgk_match_view *v, FILE *out);
/* "PROFILE in BUILD: 98.1 % of the bytes found, " and the rest of the sentence. */
void pgk_match_view_title(const struct pgk_match_view *v, double percent, const char *of_what,
                          const char *rest);
void pgk_match_view_heading(const struct pgk_match_view *v, const char *text); /* on a terminal */
/* The name as a programmer writes it; without one the GUID. */
const char *pgk_match_view_name(struct pgk_match_view *v, const char *linkage, uint64_t guid);
/* Ends a row of a table, after its numbers or, where those leave too few columns, below them. */
void pgk_match_view_meaning(const struct pgk_match_view *v, const char *meaning);
void pgk_match_view_left(const struct pgk_match_view *v, size_t left); /* "7 more" if any */
PGK_MUST_USE int pgk_match_view_end(struct pgk_match_view *v, struct pgk_err *err);

/* A view for programs, see docs/formats/match-json.md. `put_totals` writes those of a level, or
 * with PGK_MATCH_LEVELS of all, into an object. */
struct pgk_match_json {
    struct pgk_json j;
    struct pgk_text_out text;
};
typedef void pgk_match_totals_fn(struct pgk_json *j, const void *match, enum pgk_match_level level);
void pgk_match_json_begin(struct pgk_match_json *m, const char *schema, double found_percent,
                          const void *match, pgk_match_totals_fn *put_totals, FILE *out);
/* A function under `key` with its GUID, and what it calls unless `callee` is NULL. */
void pgk_match_json_call(struct pgk_json *j, const char *key, const char *function, uint64_t guid,
                         const char *callee, uint64_t callee_guid);
void pgk_match_json_end(struct pgk_match_json *m);

void pgk_match_print_json(const struct pgk_match *match, const struct pgk_match_print_opts *opts,
                          FILE *out);
void pgk_function_match_json(const struct pgk_function_match *match,
                             const struct pgk_match_print_opts *opts, FILE *out);

#endif
