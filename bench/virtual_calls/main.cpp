// Virtual calls, one kind at a time: main KIND ROUNDS. Without KIND, or with "all", every kind.
#include "shapes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum { OBJECTS = 997 };

struct Own : Shape {
    unsigned area(unsigned x) const override { return x * 5 + width; }
};
struct Other : Shape {
    unsigned area(unsigned x) const override { return x * 13 ^ width; }
};

Shape *make_own(int kind)
{
    if (kind)
        return new Other;
    return new Own;
}

// So many of 20 objects are of each kind, in an order drawn by chance that is always the same.
typedef Shape *Maker(int kind);
struct Mix {
    Maker *make;
    int shares[8];
};

void fill(Shape **objects, const Mix &mix)
{
    unsigned dice = 12345;
    for (int i = 0; i < OBJECTS; i++) {
        dice = dice * 1103515245 + 12345;
        int at = int(dice >> 16) % 20, kind = 0;
        while (kind < 7 && at >= mix.shares[kind])
            at -= mix.shares[kind++];
        objects[i] = mix.make(kind);
    }
}

// A function of its own for each kind of calls, so that each has types of its own.
#define CALLS(name, function)                                                                      \
    __attribute__((noinline)) unsigned name(Shape **objects, unsigned rounds)                      \
    {                                                                                              \
        unsigned sum = 0;                                                                          \
        for (unsigned i = 0; i < rounds; i++)                                                      \
            for (unsigned k = 0; k < OBJECTS; k++)                                                 \
                sum += objects[k]->function(sum ^ k);                                              \
        return sum;                                                                                \
    }
CALLS(one_of_another_module, area)
CALLS(two_of_another_module, area)
CALLS(one_local, area)
CALLS(one_local_elsewhere, area)
CALLS(two_of_a_template, edge)
CALLS(four_that_share, area)
CALLS(eight_alike, area)

// Two calls of each object, so that one look at its type may do for both.
__attribute__((noinline)) unsigned two_calls(Shape **objects, unsigned rounds)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned k = 0; k < OBJECTS; k++)
            sum += objects[k]->area(sum ^ k) + objects[k]->edge(k);
    return sum;
}

const struct Kind {
    const char *name;
    unsigned (*call)(Shape **objects, unsigned rounds);
    Mix mix;
} kinds[] = {
    {"module", one_of_another_module, {make_plain, {20}}},
    {"modules", two_of_another_module, {make_plain, {14, 6}}},
    {"local", one_local, {make_own, {19, 1}}},
    {"elsewhere", one_local_elsewhere, {make_local, {20}}},
    {"template", two_of_a_template, {make_of_template, {15, 5}}},
    {"calls", two_calls, {make_of_template, {20}}},
    {"shared", four_that_share, {make_plain, {0, 0, 5, 5, 5, 5}}},
    {"alike", eight_alike, {make_of_template, {3, 3, 3, 3, 2, 2, 2, 2}}},
};

} // namespace

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "all";
    const unsigned rounds = argc > 2 ? unsigned(atoi(argv[2])) : 1000;
    unsigned sum = 0;
    for (const Kind &kind : kinds)
        if (!strcmp(wanted, "all") || !strcmp(wanted, kind.name)) {
            Shape *objects[OBJECTS];
            fill(objects, kind.mix);
            sum += kind.call(objects, rounds);
            for (Shape *object : objects)
                delete object;
        }
    printf("%u\n", sum);
    return 0;
}
