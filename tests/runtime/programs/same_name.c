/* Two calls of malloc that have one name without line numbers: objects of one are gone at once,
 * those of the other live long enough for a mean of both that is long. */
#include <stdlib.h>
#include <unistd.h>

enum { BRIEF = 10000, LONG = 1000 };

int main(void)
{
    static char *volatile kept[LONG];
    for (int i = 0; i < BRIEF; i++) {
        char *volatile brief = malloc(500);
        *brief = 1;
        free(brief);
    }
    for (int i = 0; i < LONG; i++)
        *(kept[i] = malloc(1000)) = 1;
    sleep(1);
    for (int i = 0; i < LONG; i++)
        free(kept[i]);
    return 0;
}
