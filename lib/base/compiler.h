/* Compiler attributes, and nothing else. */
#ifndef PGK_COMPILER_H
#define PGK_COMPILER_H

#define PGK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PGK_MUST_USE __attribute__((warn_unused_result))
#define PGK_LIKELY(x) __builtin_expect(!!(x), 1)
#define PGK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PGK_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

#endif
