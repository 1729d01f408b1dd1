/* Structs of options and of results that grow. */
#include "opts.h"

#include <string.h>

/* No struct of options will ever be this large; an unset struct_size often is. */
enum { ABSURD_SIZE = 1 << 16 };

int pgk_opts_take(void *into, size_t known_size, const void *given, const char *function,
                  struct pgk_err *err)
{
    size_t size = sizeof size;
    if (given)
        memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > ABSURD_SIZE)
        return pgk_fail(err, PGK_E_ARG, .record = PGK_F("options of %s", function),
                        .field = "struct_size", .found = PGK_F("%zu", size),
                        .expected = PGK_F("%zu, the size of the struct", known_size),
                        .hint = "set it to the sizeof of the struct of options");
    const unsigned char *bytes = given;
    for (size_t i = known_size; i < size; i++)
        if (bytes[i])
            return pgk_fail(
                err, PGK_E_ARG, .record = PGK_F("options of %s", function),
                .field = PGK_F("byte %zu", i), .found = "an option that this library does not know",
                .expected = PGK_F("%zu bytes of options, or zeros after them", known_size),
                .hint = "run the program with a newer libpgokit, or leave that option "
                        "out");
    memset(into, 0, known_size);
    if (given)
        memcpy(into, given, size < known_size ? size : known_size);
    memcpy(into, &known_size, sizeof known_size);
    return 0;
}

void pgk_result_give(void *into, const void *result, size_t known_size)
{
    size_t size;
    if (!into)
        return;
    memcpy(&size, into, sizeof size);
    if (size > known_size)
        memset((unsigned char *)into + known_size, 0, size - known_size);
    size_t both = size < known_size ? size : known_size;
    if (both > sizeof size)
        memcpy((unsigned char *)into + sizeof size, (const unsigned char *)result + sizeof size,
               both - sizeof size);
}
