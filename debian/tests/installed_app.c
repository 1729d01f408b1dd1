/* Allocates in two functions, one of them hot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
    struct word *next;
    char text[24];
};

__attribute__((noinline)) static struct word *keep(struct word *list, unsigned number)
{
    struct word *word = malloc(sizeof *word);
    if (!word)
        exit(1);
    snprintf(word->text, sizeof word->text, "word %u", number);
    word->next = list;
    return word;
}

__attribute__((noinline)) static unsigned long measure(const struct word *list)
{
    unsigned long sum = 0;
    for (int round = 0; round < 20000; round++)
        for (const struct word *w = list; w; w = w->next)
            sum += strlen(w->text) * (unsigned long)(round % 3);
    return sum;
}

int main(void)
{
    struct word *list = NULL;
    for (unsigned i = 0; i < 1000; i++)
        list = keep(list, i);
    printf("%lu\n", measure(list));
    while (list) {
        struct word *next = list->next;
        free(list);
        list = next;
    }
}
