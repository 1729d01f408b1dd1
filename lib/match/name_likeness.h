/* How alike two names are, for functions that were renamed. */
#ifndef PGK_NAME_LIKENESS_H
#define PGK_NAME_LIKENESS_H

/* Per cent of the characters of the longer name that both have in the same order, of names as
 * programmers write them, without parameters; at most that if they are not alike. */
unsigned pgk_name_likeness(const char *linkage_a, const char *linkage_b);

/* The similarity that a renamed function needs, unless more than its name shows that it is the
 * same. */
enum { PGK_NAMES_ALIKE = 60 };

#endif
