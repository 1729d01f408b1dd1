/* Options of indexed profiles on the command line. */
#include "output_indexed.h"

#include <stdio.h>
#include <string.h>

static const char any[] = "any";

static bool is_other(const struct indexed_output *o, const char *name)
{
    size_t i = 0;
    while (o->others[i] && strcmp(o->others[i], name))
        i++;
    return o->others[i] != NULL;
}

/* A release that came before the first version that can hold such a profile has a row all the same,
 * because it reads profiles of another kind. */
static void choose_target(struct indexed_output *o, const struct option_given *given)
{
    const char *name = given->value;
    o->other = is_other(o, name) ? name : NULL;
    const struct pgk_indexed_target *to = pgk_indexed_target(o->other ? any : name);
    if (!to)
        option_refuse(given, "--to accepts %s", o->takes);
    if (to->index_version < cli_format(CLI_INDEXED, o->kind)->write.first)
        cli_usage(o->verb, "%s cannot read %s; --to accepts %s", name, pgk_kind_plural(o->kind),
                  o->takes);
    o->target = *to;
}

const char *indexed_output_word(enum pgk_kind kind, const char *const *others, size_t i)
{
    static char name[16];
    const struct pgk_indexed_target *to;
    if (!i--)
        return any;
    for (unsigned release = 1; release <= PGK_LLVM_NEWEST; release++) {
        snprintf(name, sizeof name, "llvm%u", release);
        to = pgk_indexed_target(name);
        if (to && to->index_version >= cli_format(CLI_INDEXED, kind)->write.first && !i--)
            return to->name;
    }
    while (*others && i) {
        others++;
        i--;
    }
    return *others;
}

void indexed_output_to(const struct option_given *given)
{
    struct indexed_output *o = given->into;
    choose_target(o, given);
    o->has_target = true;
}

static void take_index(const struct option_given *given)
{
    struct indexed_output *o = given->into;
    o->index = cli_version("--index-version", given->value, CLI_INDEXED, o->kind);
}

static void take_memprof(const struct option_given *given)
{
    *(long *)given->into = cli_memprof_version(given->value);
}

static const struct option_row version_rows[] = {
    {"index-version", 0, "N", "one that pgokit formats lists, instead of what --to means",
     OPTION_CALL(take_index), OPTION_GIVEN(struct indexed_output, has_versions)},
    {"memprof-version", 0, "N", "version of the heap data, instead of what --to means",
     OPTION_CALL_FOR(struct indexed_output, memprof, take_memprof),
     OPTION_GIVEN(struct indexed_output, has_versions)},
    {0},
};
const struct option_table indexed_version_options = {"indexed versions", NULL, version_rows};

bool indexed_output_is_for_any(const struct indexed_output *o)
{
    return o->index == INDEXED_NOT_GIVEN && (!o->has_target || !strcmp(o->target.name, any));
}

void indexed_output_check_partial(const struct indexed_output *o, bool partial, bool others)
{
    if (partial && (others || o->has_target || o->has_versions || o->has_fields))
        cli_usage(o->verb, "--partial writes everything; give options of the output when the "
                           "partial profiles are merged");
}

struct pgk_indexed_write_opts indexed_output_opts(const struct indexed_output *o, unsigned threads)
{
    struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts,
        .target = o->has_target ? o->target : *pgk_indexed_target(any),
        .full_schema = o->full_schema,
        .threads = threads,
    };
    if (o->index != INDEXED_NOT_GIVEN)
        opts.target.index_version = (uint32_t)o->index;
    if (o->memprof != INDEXED_NOT_GIVEN)
        opts.target.memprof_version = (uint32_t)o->memprof;
    return opts;
}
