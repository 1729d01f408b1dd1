#include "machine.h"

#include "fail.h"

#include <elf.h>
#include <stdio.h>

static const struct pgk_machine machines[] = {
#define MACHINE(...) {__VA_ARGS__},
#include "machines.def"
#undef MACHINE
};

#if defined __x86_64__
static const uint16_t host = EM_X86_64;
#elif defined __aarch64__
static const uint16_t host = EM_AARCH64;
#else
static const uint16_t host = EM_NONE;
#endif

const struct pgk_machine *pgk_machine_find(uint16_t number)
{
    for (size_t i = 0; i < PGK_COUNTOF(machines); i++)
        if (machines[i].number == number)
            return &machines[i];
    return NULL;
}

const struct pgk_machine *pgk_machine_of_host(void)
{
    return pgk_machine_find(host);
}

const char *pgk_machine_names(char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (size_t i = 0; i < PGK_COUNTOF(machines) && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s (%u)", i ? " or " : "", machines[i].name,
                              machines[i].number);
    return text;
}
