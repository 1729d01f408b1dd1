/* Makes a large sample profile as text, shaped like that of a big C++ program:
 *
 *   gen_sample --functions N --kind nested|contexts|probes [--vtables] --run R -o FILE
 *
 * Which functions there are, their names, lines, call targets and inlinees are the same for every
 * run R; which of them a run mentions, and how often, differs: what a fleet of machines that
 * sample one program gives. Heat follows Zipf's law, names are mangled and a tenth are long, a
 * third of the lines have call targets, a quarter of the functions have inlinees, up to four
 * deep. The same arguments give the same bytes everywhere. */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTOF(a) (sizeof(a) / sizeof *(a))

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "gen_sample: %s\n", what);
    exit(2);
}

/* ---- chance ---- */

/* splitmix64; good enough and the same on every machine. */
struct chance {
    uint64_t state;
};

static uint64_t next(struct chance *c)
{
    uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One that goes its own way, however often the other is asked. */
static struct chance branch(struct chance *c)
{
    return (struct chance){next(c)};
}

/* In [0, 1). */
static double fraction(struct chance *c)
{
    return (double)(next(c) >> 11) * 0x1p-53;
}

static unsigned between(struct chance *c, unsigned low, unsigned high)
{
    return low + (unsigned)(next(c) % (high - low + 1));
}

static double log_normal(struct chance *c, double mean, double deviation)
{
    double angle = 6.283185307179586 * fraction(c), u = 1 - fraction(c);
    return exp(mean + deviation * sqrt(-2 * log(u)) * cos(angle));
}

/* ---- text ---- */

struct text {
    char *s;
    size_t n, capacity;
};

static void reserve(struct text *t, size_t more)
{
    if (t->capacity - t->n >= more)
        return;
    t->capacity = 2 * t->capacity + more;
    t->s = realloc(t->s, t->capacity);
    if (!t->s)
        die("out of memory");
}

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list args;
    reserve(t, 4096);
    va_start(args, format);
    int n = vsnprintf(t->s + t->n, 4096, format, args);
    va_end(args);
    if (n < 0 || n >= 4096)
        die("a line too long");
    t->n += (size_t)n;
}

/* Puts what stands behind `split` before what is between `at` and it: a head is known when its
 * lines are. */
static void bring_forward(struct text *t, size_t at, size_t split)
{
    size_t n = t->n - split;
    reserve(t, n);
    memcpy(t->s + t->n, t->s + split, n);
    memmove(t->s + at + n, t->s + at, split - at);
    memcpy(t->s + at, t->s + t->n, n);
}

/* ---- names ---- */

static const char *const scopes[] = {"base", "net", "storage", "proto", "index",
                                     "rpc", "cache", "std", "absl", "internal"};
static const char *const classes[] = {"Buffer", "Reader", "Session", "Scheduler",
                                      "Table", "Iterator", "Parser", "Allocator"};
static const char *const verbs[] = {"get", "insert", "erase", "lookup", "flush",
                                    "parse", "visit", "resize", "encode", "run"};
static const char *const tails[] = {"v", "i", "Pv", "PKc", "RKS_", "jj",
                                    "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcEE"};

#define ONE_OF(c, list) (list)[next(c) % COUNTOF(list)]

static void put_identifier(struct text *t, const char *s)
{
    put(t, "%zu%s", strlen(s), s);
}

static char *function_name(unsigned i)
{
    struct chance c = {i * UINT64_C(2654435761)};
    struct text t = {0};
    char verb[32];
    put(&t, "_ZN");
    for (unsigned n = between(&c, 1, 3); n; n--)
        put_identifier(&t, ONE_OF(&c, scopes));
    put_identifier(&t, ONE_OF(&c, classes));
    if (fraction(&c) < 0.3) {
        put(&t, "I");
        for (unsigned n = between(&c, 1, 5); n; n--)
            put(&t, "%c", "ijmdc"[next(&c) % 5]);
        put(&t, "E");
    }
    snprintf(verb, sizeof verb, "%s%u", ONE_OF(&c, verbs), i);
    put_identifier(&t, verb);
    put(&t, "E%s", ONE_OF(&c, tails));
    if (fraction(&c) < 0.1) {
        put(&t, "I");
        for (unsigned n = between(&c, 3, 12); n; n--)
            put(&t, "NS%u_IPKcE", between(&c, 1, 9));
        put(&t, "E");
    }
    return t.s;
}

static char *type_name(unsigned i)
{
    struct text t = {0};
    char name[32];
    snprintf(name, sizeof name, "%s%u", classes[i % 2], i / 2);
    put(&t, "_ZTV");
    put_identifier(&t, name);
    return t.s;
}

static char **make_names(unsigned n, char *(*make)(unsigned))
{
    char **names = calloc(n, sizeof *names);
    if (!names)
        die("out of memory");
    for (unsigned i = 0; i < n; i++)
        names[i] = make(i);
    return names;
}

/* ---- profiles ---- */

enum kind { NESTED, CONTEXTS, PROBES };
enum { MAX_INLINE_DEPTH = 4, MAX_TARGETS = 6 };

struct profile {
    enum kind kind;
    int vtables;
    unsigned n_functions, n_types;
    char **functions, **types;
    struct chance counts; /* what this run saw */
    struct text text;     /* of one function */
};

/* Few functions are called by many. */
static unsigned callee(const struct profile *p, struct chance *shape)
{
    double u = fraction(shape);
    return (unsigned)(p->n_functions * u * u * u);
}

static uint64_t checksum(unsigned function)
{
    return (function * UINT64_C(0x9e3779b97f4a7c15) & UINT64_C(0xffffffffffff)) | 1;
}

static uint64_t share_of(struct profile *p, uint64_t count)
{
    return (uint64_t)((double)count * fraction(&p->counts));
}

/* Draws `n` that differ out of `among`; returns how many there are of them. */
static unsigned draw(const struct profile *p, struct chance *shape, unsigned n, int types,
                     unsigned *drawn)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned one = types ? between(shape, 0, p->n_types - 1) : callee(p, shape), k = 0;
        while (k < kept && drawn[k] != one)
            k++;
        drawn[k] = one;
        kept += k == kept;
    }
    return kept;
}

static uint64_t put_line(struct profile *p, struct chance *shape, int depth, unsigned line,
                         double weight)
{
    unsigned targets[MAX_TARGETS], types[MAX_TARGETS], n_targets = 0, n_types = 0;
    if (fraction(shape) < 0.3)
        n_targets = draw(p, shape, fraction(shape) < 0.8 ? 1 : between(shape, 2, MAX_TARGETS), 0,
                         targets);
    if (p->vtables && n_targets > 1)
        n_types = draw(p, shape, n_targets, 1, types);
    if (fraction(&p->counts) >= 0.9)
        return 0;
    uint64_t count = (uint64_t)(weight * 2 * fraction(&p->counts)) + (weight >= 1);
    put(&p->text, "%*s%u: %llu", depth, "", line, (unsigned long long)count);
    for (unsigned i = 0; i < n_targets; i++)
        put(&p->text, " %s:%llu", p->functions[targets[i]],
            (unsigned long long)share_of(p, count));
    put(&p->text, "\n");
    if (n_types) {
        put(&p->text, "%*s%u: vtables ", depth, "", line);
        for (unsigned i = 0; i < n_types; i++)
            put(&p->text, "%s:%llu ", p->types[types[i]], (unsigned long long)share_of(p, count));
        put(&p->text, "\n");
    }
    return count;
}

static uint64_t put_body(struct profile *p, struct chance *shape, int depth, double weight,
                         int nest);

static uint64_t put_inlinee(struct profile *p, struct chance *shape, int depth, double weight,
                            unsigned line)
{
    unsigned function = callee(p, shape);
    struct chance inner = branch(shape);
    if (fraction(&p->counts) > 0.9)
        return 0;
    size_t at = p->text.n;
    uint64_t total = put_body(p, &inner, depth + 1, weight * (0.2 + fraction(&p->counts)), 1);
    if (p->kind == PROBES)
        put(&p->text, "%*s!CFGChecksum: %llu\n", depth + 1, "",
            (unsigned long long)checksum(function));
    size_t split = p->text.n;
    put(&p->text, "%*s%u: %s:%llu\n", depth, "", line, p->functions[function],
        (unsigned long long)total);
    bring_forward(&p->text, at, split);
    return total;
}

/* `shape` says what there is, p->counts what this run saw of it. Returns the samples. */
static uint64_t put_body(struct profile *p, struct chance *shape, int depth, double weight,
                         int nest)
{
    static const unsigned steps[] = {1, 1, 1, 2, 3, 8}, inlinees[] = {0, 0, 0, 1, 1, 2, 3};
    uint64_t total = 0;
    unsigned line = 0;
    double lines = log_normal(shape, depth == 1 ? 2.1 : 1.2, 0.8);
    for (unsigned n = 1 + (lines < 300 ? (unsigned)lines : 300); n; n--) {
        line += p->kind == PROBES ? 1 : ONE_OF(shape, steps);
        total += put_line(p, shape, depth, line, weight);
    }
    if (!nest || depth > MAX_INLINE_DEPTH)
        return total;
    for (unsigned n = ONE_OF(shape, inlinees); n; n--) {
        line += between(shape, 1, 4);
        total += put_inlinee(p, shape, depth, weight, line);
    }
    return total;
}

static void put_context(struct profile *p, struct chance *shape, unsigned function)
{
    put(&p->text, "[");
    for (unsigned n = between(shape, 0, 6); n; n--) {
        unsigned caller = callee(p, shape);
        put(&p->text, "%s:%u @ ", p->functions[caller], between(shape, 1, 60));
    }
    put(&p->text, "%s]", p->functions[function]);
}

static void put_function(struct profile *p, unsigned function)
{
    struct chance shape = {function * UINT64_C(97531)};
    double heat = 3e7 / pow((double)(function * UINT64_C(7) % p->n_functions) + 1, 1.05);
    double more = -log(1 - fraction(&shape)) / 0.7;
    unsigned contexts = p->kind == CONTEXTS ? 1 + (more < 40 ? (unsigned)more : 40) : 1;
    for (; contexts; contexts--) {
        struct chance inner = branch(&shape), callers = branch(&shape);
        int nest = p->kind != CONTEXTS && fraction(&shape) < 0.25;
        if (fraction(&p->counts) > 0.85)
            continue;
        size_t at = p->text.n;
        uint64_t total = put_body(p, &inner, 1, heat * fraction(&p->counts), nest);
        if (p->kind == PROBES)
            put(&p->text, " !CFGChecksum: %llu\n", (unsigned long long)checksum(function));
        size_t split = p->text.n;
        if (p->kind == CONTEXTS)
            put_context(p, &callers, function);
        else
            put(&p->text, "%s", p->functions[function]);
        put(&p->text, ":%llu:%llu\n", (unsigned long long)total,
            (unsigned long long)(heat * fraction(&p->counts)));
        bring_forward(&p->text, at, split);
    }
}

static void write_profile(struct profile *p, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        die("the output cannot be opened");
    for (unsigned i = 0; i < p->n_functions; i++) {
        if (fraction(&p->counts) >= 0.8)
            continue;
        p->text.n = 0;
        put_function(p, i);
        if (p->text.n && fwrite(p->text.s, p->text.n, 1, f) != 1)
            die("the output cannot be written");
    }
    if (fclose(f))
        die("the output cannot be written");
}

/* ---- arguments ---- */

static enum kind parse_kind(const char *text)
{
    static const char *const kinds[] = {"nested", "contexts", "probes"};
    for (unsigned i = 0; i < COUNTOF(kinds); i++)
        if (!strcmp(text, kinds[i]))
            return (enum kind)i;
    die("--kind takes nested, contexts or probes");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"functions", required_argument, NULL, 'f'}, {"kind", required_argument, NULL, 'k'},
        {"vtables", no_argument, NULL, 'v'},         {"run", required_argument, NULL, 'r'},
        {"output", required_argument, NULL, 'o'},    {0}};
    static struct profile p = {.n_functions = 20000};
    const char *path = NULL;
    for (int c; (c = getopt_long(argc, argv, "o:", options, NULL)) != -1;) {
        switch (c) {
        case 'f': p.n_functions = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'k': p.kind = parse_kind(optarg); break;
        case 'v': p.vtables = 1; break;
        case 'r': p.counts.state = strtoull(optarg, NULL, 10) + 1; break;
        case 'o': path = optarg; break;
        default: return 2;
        }
    }
    if (!path || !p.n_functions || optind != argc)
        die("usage: gen_sample --functions N --kind KIND [--vtables] --run R -o FILE");
    p.counts.state *= UINT64_C(0xd6e8feb86659fd93);
    p.n_types = p.n_functions / 50 < 100 ? 100 : p.n_functions / 50;
    p.functions = make_names(p.n_functions, function_name);
    p.types = make_names(p.n_types, type_name);
    write_profile(&p, path);
    return 0;
}
