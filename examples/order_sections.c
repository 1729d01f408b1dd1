/* Prints sections in the order in which a linker should place them so that a program starts on few
 * pages, for gold --section-ordering-file. The program has to be compiled with -ffunction-sections.
 * (pgokit order writes the list of symbols that lld takes.)
 *
 *     cc order_sections.c $(pkg-config --cflags --libs pgokit) -o order_sections
 *     ./order_sections app.profdata > sections */
#include <pgokit/pgokit.h>

#include <stdio.h>

/* Local functions have their file and a semicolon before the symbol. */
static void print_sections(const struct pgk_function_order *order)
{
    for (size_t i = 0; i < pgk_function_order_size(order); i++) {
        size_t file_len;
        const char *name = pgk_function_order_at(order, i, &file_len);
        printf(".text.%s\n", file_len ? name + file_len + 1 : name);
    }
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_instr *profile = NULL;
    struct pgk_function_order *order = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PROFILE\n", argv[0]);
        return 1;
    }
    int status = pgk_instr_new(&profile, &err);
    if (!status)
        status = pgk_instr_read(profile, argv[1], 1, &err);
    if (!status)
        status = pgk_instr_order_functions(&order, profile, NULL, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        print_sections(order);
    }
    pgk_function_order_close(&order);
    pgk_instr_close(&profile);
    return status != 0;
}
