/* Names of functions and vtables, by spelling and by GUID. */
#include "sample_names.h"

#include "hash.h"

#include <assert.h>
#include <stdlib.h>

void pgk_sample_names_free(struct pgk_sample_names *t)
{
    pgk_arena_free(&t->arena);
    pgk_vec_free(&t->list);
    pgk_index_free(&t->by_spelling);
    pgk_index_free(&t->by_guid);
    t->guids = false;
}

bool pgk_sample_name_is_guid(const char *s, size_t len, uint64_t *guid)
{
    /* 2^32 has ten digits, 2^64 - 1 twenty. Functions named by such a number exist only
     * where a GUID was printed. */
    if (len < 10 || len > 20 || s[0] < '1' || s[0] > '9')
        return false;
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)s[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *guid = v;
    return v > UINT32_MAX;
}

static bool is_spelled(const struct pgk_sample_names *t, uint32_t id, const char *s, size_t len)
{
    return t->list.v[id].len == len && memcmp(t->list.v[id].s, s, len) == 0;
}

static uint32_t find_spelling(const struct pgk_sample_names *t, uint64_t hash, const char *s,
                              size_t len)
{
    PGK_INDEX_FOR (&t->by_spelling, hash, id)
        if (is_spelled(t, id, s, len))
            return id;
    return 0;
}

static uint32_t find_guid(const struct pgk_sample_names *t, uint64_t guid)
{
    PGK_INDEX_FOR (&t->by_guid, guid, id)
        if (t->list.v[id].guid == guid)
            return id;
    return 0;
}

static uint32_t push(struct pgk_sample_names *t, struct pgk_sample_name name)
{
    if (t->list.n == 0 && !pgk_vec_push(&t->list, (struct pgk_sample_name){0}))
        return 0;
    /* Ids leave the top bit to others, and stay below PGK_INDEX_NONE. */
    if (t->list.n > INT32_MAX || !pgk_vec_push(&t->list, name))
        return 0;
    return (uint32_t)(t->list.n - 1);
}

uint64_t pgk_sample_names_guid(struct pgk_sample_names *t, uint32_t id)
{
    assert(id && id < t->list.n);
    struct pgk_sample_name *name = &t->list.v[id];
    if (!name->has_guid) {
        name->guid = pgk_md5_low64(name->s, name->len);
        name->has_guid = true;
    }
    return name->guid;
}

uint64_t pgk_name_guid(const struct pgk_sample_name *name)
{
    return name->has_guid ? name->guid : pgk_md5_low64(name->s, name->len);
}

/* From the first GUID on, every name can be found by its GUID. */
static bool start_guids(struct pgk_sample_names *t)
{
    if (t->guids)
        return true;
    for (uint32_t id = 1; id < t->list.n; id++) {
        uint64_t guid = pgk_sample_names_guid(t, id);
        if (!find_guid(t, guid) && !pgk_index_add(&t->by_guid, guid, id))
            return false;
    }
    t->guids = true;
    return true;
}

uint32_t pgk_sample_names_add_guid(struct pgk_sample_names *t, uint64_t guid)
{
    if (!start_guids(t))
        return 0;
    uint32_t id = find_guid(t, guid);
    if (id)
        return id;
    id = push(t, (struct pgk_sample_name){.guid = guid, .has_guid = true});
    return id && pgk_index_add(&t->by_guid, guid, id) ? id : 0;
}

/* The new spelling of a name that was a GUID so far, or of a new name. */
static uint32_t add_spelling(struct pgk_sample_names *t, const char *copy, size_t len)
{
    struct pgk_sample_name name = {.s = copy, .len = (uint32_t)len};
    if (!t->guids)
        return push(t, name);
    name.guid = pgk_md5_low64(copy, len);
    name.has_guid = true;
    uint32_t id = find_guid(t, name.guid);
    if (id && !t->list.v[id].s) {
        t->list.v[id] = name;
        return id;
    }
    bool collides = id != 0;
    id = push(t, name);
    return id && (collides || pgk_index_add(&t->by_guid, name.guid, id)) ? id : 0;
}

static uint32_t add_hashed(struct pgk_sample_names *t, uint64_t hash, const char *s, size_t len)
{
    uint64_t guid;
    if (pgk_sample_name_is_guid(s, len, &guid))
        return pgk_sample_names_add_guid(t, guid);
    uint32_t id = find_spelling(t, hash, s, len);
    if (id)
        return id;
    const char *copy = len < UINT32_MAX ? pgk_arena_copy(&t->arena, s, len) : NULL;
    if (!copy)
        return 0;
    id = add_spelling(t, copy, len);
    return id && pgk_index_add(&t->by_spelling, hash, id) ? id : 0;
}

uint32_t pgk_sample_names_add(struct pgk_sample_names *t, const char *s, size_t len)
{
    return add_hashed(t, pgk_hash_bytes(s, len), s, len);
}

/* Asks for the table, then for the names that it may mean, then for their spellings; sets each id
 * to what it probably is. */
static void prefetch(const struct pgk_sample_names *t, struct pgk_spelling *v, size_t n)
{
    const struct pgk_index *ix = &t->by_spelling;
    for (size_t i = 0; i < n; i++) {
        v[i].hash = pgk_hash_bytes(v[i].s, v[i].len);
        pgk_index_prefetch(ix, v[i].hash);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t at = 0, id = pgk_index_next(ix, v[i].hash, &at);
        v[i].id = id == PGK_INDEX_NONE ? 0 : id;
        if (v[i].id)
            __builtin_prefetch(&t->list.v[v[i].id]);
    }
    for (size_t i = 0; i < n; i++) {
        if (v[i].id) {
            const struct pgk_sample_name *name = &t->list.v[v[i].id];
            __builtin_prefetch(name->s);
            __builtin_prefetch(name->s + name->len);
        }
    }
}

bool pgk_sample_names_add_many(struct pgk_sample_names *t, struct pgk_spelling *v, size_t n)
{
    enum { BATCH = 64 };
    for (size_t done = 0; done < n;) {
        size_t end = n - done < BATCH ? n : done + BATCH;
        prefetch(t, v + done, end - done);
        for (; done < end; done++) {
            if (v[done].id && is_spelled(t, v[done].id, v[done].s, v[done].len))
                continue;
            v[done].id = add_hashed(t, v[done].hash, v[done].s, v[done].len);
            if (!v[done].id)
                return false;
        }
    }
    return true;
}

uint32_t pgk_sample_names_find(const struct pgk_sample_names *t, const char *s, size_t len)
{
    uint64_t guid;
    if (pgk_sample_name_is_guid(s, len, &guid))
        return t->guids ? find_guid(t, guid) : 0;
    uint32_t id = find_spelling(t, pgk_hash_bytes(s, len), s, len);
    if (!id && t->guids)
        id = find_guid(t, pgk_md5_low64(s, len));
    return id;
}

bool pgk_sample_names_spell(struct pgk_sample_names *t, const char *s, size_t len)
{
    uint32_t id = t->guids ? find_guid(t, pgk_md5_low64(s, len)) : 0;
    return !id || t->list.v[id].s || pgk_sample_names_add(t, s, len);
}

bool pgk_sample_names_unspelled(const struct pgk_sample_names *t)
{
    for (uint32_t id = 1; t->guids && id < t->list.n; id++)
        if (!t->list.v[id].s)
            return true;
    return false;
}

/* The suffixes in this order, each at the last place where it stands, and only if no further
 * dot follows it. */
size_t pgk_sample_drop_suffixes(const char *s, size_t len)
{
    static const char *const suffixes[] = {".llvm.", ".part."};
    for (size_t i = 0; i < PGK_COUNTOF(suffixes); i++) {
        size_t n = strlen(suffixes[i]);
        const char *last_dot = memrchr(s, '.', len);
        if (!last_dot || (size_t)(last_dot - s) + 1 < n)
            continue;
        const char *start = last_dot + 1 - n;
        if (!memcmp(start, suffixes[i], n))
            len = (size_t)(start - s);
    }
    return len;
}

size_t pgk_sample_drop_numbered(const char *s, size_t len, const char *const *suffixes, size_t n)
{
    size_t digits = len;
    while (digits && s[digits - 1] >= '0' && s[digits - 1] <= '9')
        digits--;
    for (size_t i = 0; digits < len && i < n; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (digits > suffix && !memcmp(s + digits - suffix, suffixes[i], suffix))
            return digits - suffix;
    }
    return len;
}

/* Length without one of the suffixes that gcc appends to clones and parts; a number follows most
 * of them. */
static size_t drop_gcc_suffix(const char *s, size_t len)
{
    static const char *const suffixes[] = {".isra.", ".constprop.", ".part.", ".cold."};
    static const char cold[] = ".cold";
    size_t plain = pgk_sample_drop_numbered(s, len, suffixes, PGK_COUNTOF(suffixes));
    if (plain == len && len > strlen(cold) && !memcmp(s + len - strlen(cold), cold, strlen(cold)))
        plain -= strlen(cold);
    return plain;
}

size_t pgk_sample_drop_gcc_suffixes(const char *s, size_t len)
{
    for (size_t shorter; (shorter = drop_gcc_suffix(s, len)) < len;)
        len = shorter;
    return len;
}

/* ---- order ---- */

/* Eight bytes of a spelling as a big-endian number, zeros after its end: comparisons take place in
 * registers. Spellings that are equal up to there continue with their next eight. */
struct key {
    uint64_t word;   /* of a GUID: itself */
    const char *s;   /* NULL: a GUID */
    uint32_t len, id;
};

static uint64_t word_at(const struct key *k, size_t depth)
{
    uint64_t v = 0;
    size_t left = depth < k->len ? k->len - depth : 0;
    memcpy(&v, k->s + (left ? depth : 0), left < 8 ? left : 8);
    return __builtin_bswap64(v);
}

static int compare_keys(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;
    if (!a->s != !b->s)
        return a->s ? 1 : -1;
    if (!a->s)
        return a->word < b->word ? -1 : a->word > b->word;
    int c = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);
    if (c)
        return c;
    return a->len < b->len ? -1 : a->len > b->len;
}

static void swap_keys(struct key *a, struct key *b)
{
    struct key swapped = *a;
    *a = *b;
    *b = swapped;
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    if (a > b ? a < c : a > c)
        return a;
    return b > a ? (b < c ? b : c) : (b > c ? b : c);
}

static void insertion_sort(struct key *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && compare_keys(&v[k - 1], &v[k]) > 0; k--)
            swap_keys(&v[k - 1], &v[k]);
}

/* Spellings with the same first `depth` bytes, whose words are those that follow: quicksort
 * into less, equal and more. Where it halves too slowly, as inputs can be made to have it,
 * the library's sort takes over. */
static void sort_spellings(struct key *v, size_t n, size_t depth, unsigned budget)
{
    enum { FEW = 8 };
    for (bool ended = false; n > FEW && budget && !ended; depth += 8) {
        uint64_t pivot = median(v[0].word, v[n / 2].word, v[n - 1].word);
        size_t less = 0, at = 0, more = n;
        while (at < more) {
            if (v[at].word < pivot)
                swap_keys(&v[less++], &v[at++]);
            else if (v[at].word > pivot)
                swap_keys(&v[at], &v[--more]);
            else
                at++;
        }
        sort_spellings(v, less, depth, budget - 1);
        sort_spellings(v + more, n - more, depth, budget - 1);
        v += less;
        n = more - less;
        ended = true; /* then they differ only in NULs at their ends */
        for (size_t i = 0; i < n; i++) {
            ended &= v[i].len <= depth + 8;
            v[i].word = word_at(&v[i], depth + 8);
        }
    }
    if (n <= FEW)
        insertion_sort(v, n);
    else
        qsort(v, n, sizeof *v, compare_keys);
}

static void sort_keys(struct key *v, size_t n)
{
    size_t guids = 0;
    unsigned budget = 8;
    for (size_t i = 0; i < n; i++)
        if (!v[i].s)
            swap_keys(&v[guids++], &v[i]);
    qsort(v, guids, sizeof *v, compare_keys);
    for (size_t i = guids; i < n; i++)
        v[i].word = word_at(&v[i], 0);
    for (size_t half = n; half; half /= 2)
        budget += 2;
    sort_spellings(v + guids, n - guids, 0, budget);
}

static bool in_order(const struct key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) > 0)
            return false;
    return true;
}

bool pgk_sample_names_rank(const struct pgk_sample_names *t, uint32_t *rank)
{
    size_t n = t->list.n ? t->list.n - 1 : 0;
    if (!n)
        return true;
    struct key *keys = pgk_mem_alloc(n, sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct pgk_sample_name *name = &t->list.v[i + 1];
        keys[i] = (struct key){.word = name->guid, .s = name->s, .len = name->len,
                               .id = (uint32_t)(i + 1)};
    }
    if (!in_order(keys, n))
        sort_keys(keys, n);
    rank[0] = 0;
    for (size_t i = 0; i < n; i++)
        rank[keys[i].id] = (uint32_t)(i + 1);
    pgk_mem_free(keys);
    return true;
}
