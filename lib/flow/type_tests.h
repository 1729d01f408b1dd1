/* Finds the places where code compares the type of an object: its first word, the address of a
 * virtual table, with that of a known one. So compilers call the function of a frequent type
 * directly, and the table is no longer read.
 *
 *     mov (%rdi),%rax
 *     lea _ZTV6Square+16(%rip),%rcx
 *     cmp %rcx,%rax
 *     jne otherwise */
#ifndef PGK_TYPE_TESTS_H
#define PGK_TYPE_TESTS_H

#include "code.h"
#include "vtable_symbols.h"

struct pgk_type_test {
    uint64_t at;     /* the comparison */
    uint64_t branch; /* that depends on it */
    uint64_t target; /* of the branch */
    uint64_t behind; /* the branch: where control goes else */
    bool if_equal;   /* it branches if the object is of this type */
    bool no_branch;  /* instead, `branch` chooses a value: how often it was equal is not known */
    bool is_read;    /* the object's table was read before, so its loads show the type, too */
    uint32_t tables; /* so many are compared before the branch, and equality with any counts */
    const char *table; /* name of the symbol, which belongs to the binary */
    size_t table_len;
};

struct pgk_type_tests {
    PGK_VEC(struct pgk_type_test) list; /* ascending by branch */
};

/* Looks at the code between symbols wherever there is one of the addresses, which ascend. */
int pgk_type_tests_find(struct pgk_type_tests *tests, struct pgk_code *code,
                        const struct pgk_vtable_symbols *tables, const uint64_t *addrs, size_t n,
                        struct pgk_err *err);
void pgk_type_tests_free(struct pgk_type_tests *tests);
/* Position of the first test with a branch at `addr` or after it. */
size_t pgk_type_tests_from(const struct pgk_type_tests *tests, uint64_t addr);

/* The indirect call that is made if the object is of none of the types that are compared for it;
 * `at` itself if there is none close by. */
uint64_t pgk_type_test_call(const struct pgk_type_tests *tests, struct pgk_code *code,
                            const struct pgk_type_test *test);

#endif
