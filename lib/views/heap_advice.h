/* Advice from a heap profile, by rules on single contexts. */
#ifndef PGK_HEAP_ADVICE_H
#define PGK_HEAP_ADVICE_H

#include "fail.h"
#include "mib.h"
#include "pgokit/format.h"
#include "pgokit/heap.h"

enum pgk_advice_rule {
    PGK_ADVICE_UNUSED,       /* memory that is never read or written */
    PGK_ADVICE_LEAKED,       /* many objects that were not freed */
    PGK_ADVICE_TEMPORARY,    /* many objects that are freed before anything else is allocated */
    PGK_ADVICE_SHORT_LIVED,  /* many others that live for a moment */
    PGK_ADVICE_COLD_PART,    /* untouched bytes between busy ones */
    PGK_ADVICE_TOO_LARGE,    /* objects of which a part is never reached */
    PGK_ADVICE_FOREIGN_FREE, /* freed on another CPU than allocated on */
    PGK_ADVICE_COLD,         /* worth a cold hint */
    PGK_ADVICE_HOT,          /* worth a hot hint */
    PGK_ADVICE_RULES
};

struct pgk_advice_text {
    const char *name;   /* "short-lived": in JSON */
    const char *title;  /* what is wrong: "Gone within 10 ms" */
    const char *says;   /* the same of the bytes at stake: "live for less than 10 ms" */
    const char *action; /* what to do, one sentence */
    const char *rule;   /* how contexts are chosen and bytes counted */
    const char *example; /* what such a change looks like, as lines of a diff */
};
extern const struct pgk_advice_text pgk_advice_texts[PGK_ADVICE_RULES];

struct pgk_advice_stake {
    uint64_t bytes; /* at stake */
    uint32_t context;
};

struct pgk_advice {
    enum pgk_advice_rule rule;
    uint64_t bytes;   /* at stake in all its contexts */
    uint64_t whole;   /* all bytes of its contexts */
    uint64_t objects; /* of its contexts */
    size_t first, n;  /* its contexts in `stakes` */
};

/* Rules that found something, most bytes first, hints last; contexts of a rule by bytes. */
struct pgk_advice_list {
    struct pgk_advice v[PGK_ADVICE_RULES];
    size_t n;
    struct pgk_advice_stake *stakes;
};

/* Bytes that a rule sees at stake in a context; 0: the rule does not apply. */
uint64_t pgk_advice_stake(enum pgk_advice_rule rule, const struct pgk_mib *m);

/* `info` of the profile's file may be NULL. */
PGK_MUST_USE int pgk_heap_advise(const struct pgk_heap *heap, const struct pgk_file_info *info,
                                 struct pgk_advice_list *list, struct pgk_err *err);
void pgk_advice_free(struct pgk_advice_list *list);

#endif
