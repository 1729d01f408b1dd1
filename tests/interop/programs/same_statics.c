/* Two files have a static function of one name. */
#include <stdlib.h>
void *volatile keep;
void other(void);
__attribute__((noinline)) static void make(int n)
{
    keep = malloc(n);
}
int main(void)
{
    make(10);
    other();
    return 0;
}
