/* Lists the formats that libpgokit knows: as small as a program that uses the library can be. */
#include <pgokit/pgokit.h>

#include <stdio.h>

int main(void)
{
    const struct pgk_format *format;
    for (size_t i = 0; (format = pgk_format_at(i)) != NULL; i++)
        puts(format->name);
    return 0;
}
