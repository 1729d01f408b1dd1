/* Which objects no pointer leads to. Roots are the variables of all modules and threads, stacks and
 * registers, and memory that the program maps itself; from there over all objects that a word
 * points into. */
#include "runtime_reach.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"
#include "guest_text.h"
#include "runtime_heap.h"
#include "runtime_reach_maps.h"
#include "runtime_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>

enum {
    RANGES_MAX = 16384,
    MAPS_MAX = 65536, /* mappings: as many as the system lets a process have by default */
    CHUNK = 64 << 10, /* bytes that are copied at once */
    WORD = sizeof(uintptr_t),
    /* The C library's data about a thread, on the side of its thread pointer opposite to variables:
     * values of pthread_setspecific, and the addresses of variables of modules that were loaded
     * later. Beyond them may be tables of the allocator, which lead to all objects. */
    THREAD_BYTES = 2048,
    /* After the variables there is space for those of some libraries that are loaded later. The
     * dynamic linker does not always report their place. */
    SPARE_TLS = 1664,
    /* Variables of a module that are so near to the thread pointer have the same place in each
     * thread. */
    STATIC_TLS = 16 << 20,
    OTHER_STACK = 1 << 20, /* looked at of one whose end is not known */
    REACHED = 1, /* in the lowest bits of an address */
    OURS = 2,    /* of this process, not of its parent */
    OF_LINKER = 4, /* the dynamic linker has made it, and keeps it where nothing else points to
                    * it */
    BITS = REACHED | OURS | OF_LINKER,
    HEAD_BYTES = 2 * WORD, /* at the thread pointer: where the linker's vector of variables is */
    /* Below the stack pointer of a thread that waits in a system call: 128 bytes may be in use on
     * x86-64, and functions that it called just before have saved registers there that cannot be
     * read otherwise. */
    BELOW_STACK = 1024,
    CALL_ARGUMENTS = 6,
    /* The allocator's tree of pages has a node for so many bytes. Where nodes begin that it has
     * used lately is kept among the variables of each thread. */
    NODE = 1 << 30,
};

static struct pgrt_range *ranges; /* of modules, and their variables of the calling thread */
static u32 n_ranges;
static bool all_ranges;
static uintptr_t stack; /* of the thread that ends the program, where it came to the runtime */
static struct pgrt_range linker; /* all of the dynamic linker */
static ptrdiff_t tls_from, tls_to; /* of static variables, from the thread pointer on */

struct found {
    uintptr_t at; /* and BITS */
    u64 size : 40, context : 24;
};

struct reach {
    struct found *found; /* by address */
    uintptr_t lowest, end; /* of all objects */
    u32 n, n_todo, capacity;
    u32 *todo; /* reached, and not looked through */
    char *chunk;
    struct pgrt_range *maps;
    int memory; /* of the process, as a file; or -1: the system copies it */
};

/* ---- roots ---- */

static void add_range(uintptr_t from, uintptr_t to)
{
    if (n_ranges < RANGES_MAX)
        ranges[n_ranges++] = (struct pgrt_range){from, to};
    else
        all_ranges = false;
}

static void add_thread_variables(uintptr_t at, size_t bytes)
{
    const ptrdiff_t from = (ptrdiff_t)(at - (uintptr_t)pgg_thread_pointer()),
                    to = from + (ptrdiff_t)bytes;
    add_range(at, at + bytes);
    if (from < -STATIC_TLS || to > STATIC_TLS)
        return;
    tls_from = from < tls_from ? from : tls_from;
    tls_to = to > tls_to ? to : tls_to;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && linker.from && info->dlpi_addr == linker.from)
            linker.to = at + p->p_memsz;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            add_range(at, at + p->p_memsz);
        else if (p->p_type == PT_TLS && info->dlpi_tls_data)
            add_thread_variables((uintptr_t)info->dlpi_tls_data, p->p_memsz);
    }
    return 0;
}

void pgrt_reach_prepare(void)
{
    if (!ranges)
        ranges = pgg_map(RANGES_MAX * sizeof *ranges);
    n_ranges = 0;
    stack = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(WORD - 1);
    linker.from = linker.to = getauxval(AT_BASE);
    tls_from = tls_to = 0;
    all_ranges = ranges;
    if (ranges)
        dl_iterate_phdr(add_module, NULL);
    const bool below = tls_from < 0; /* variables are below the thread pointer */
    tls_from -= below ? SPARE_TLS : THREAD_BYTES;
    tls_to += below ? THREAD_BYTES : SPARE_TLS;
}

/* ---- objects ---- */

static void count(void *arg, struct pgrt_object *o)
{
    (void)o;
    ++*(u32 *)arg;
}

/* Variables of threads that have ended are kept with their stacks, for the next ones. */
static bool of_linker(u32 context)
{
    const struct pgg_context *c =
        context && context < pgg_contexts() ? pgg_context(context) : NULL;
    u64 pc = 0;
    if (c && c->n)
        pgg_context_pcs(c, &pc, 1);
    return pc - linker.from < linker.to - linker.from;
}

static void collect(void *arg, struct pgrt_object *o)
{
    struct reach *r = arg;
    const bool ours = o->h.generation == (pgrt_generation & 0xff);
    if (r->n < r->capacity)
        r->found[r->n++] = (struct found){(uintptr_t)o->at | (ours ? OURS : 0) |
                                              (of_linker(o->h.context) ? OF_LINKER : 0),
                                          o->h.size, o->h.context};
}

static uintptr_t address_of(const struct found *f)
{
    return f->at & ~(uintptr_t)BITS;
}

static void sift_down(struct found *v, u32 at, u32 n)
{
    const struct found moved = v[at];
    for (u32 child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && v[child].at < v[child + 1].at;
        if (moved.at >= v[child].at)
            break;
        v[at] = v[child];
    }
    v[at] = moved;
}

/* A heap sort: it takes no memory, and objects come in order but for their regions. */
static void sort(struct found *v, u32 n)
{
    bool sorted = true;
    for (u32 i = 1; i < n; i++)
        sorted &= v[i - 1].at < v[i].at;
    if (sorted)
        return;
    for (u32 i = n / 2; i-- > 0;)
        sift_down(v, i, n);
    for (u32 end = n; end-- > 1;) {
        const struct found last = v[end];
        v[end] = v[0];
        v[0] = last;
        sift_down(v, 0, end);
    }
}

/* ---- pointers ---- */

/* A word: the object that it points into is reached. One without bytes is so by its address. */
PGG_INLINE void follow(struct reach *r, uintptr_t word)
{
    if (PGG_LIKELY(word - r->lowest >= r->end - r->lowest))
        return;
    u32 low = 0, high = r->n; /* the last one that begins there or before */
    while (high - low > 1) {
        const u32 mid = low + (high - low) / 2;
        if (address_of(&r->found[mid]) <= word)
            low = mid;
        else
            high = mid;
    }
    struct found *f = &r->found[low];
    const u64 in = word - address_of(f);
    if (f->at & REACHED || (in && (in >= f->size || !(word & (NODE - 1)))))
        return;
    f->at |= REACHED;
    r->todo[r->n_todo++] = low;
}

static void follow_words(struct reach *r, const char *from, size_t bytes)
{
    for (size_t at = 0; at + WORD <= bytes; at += WORD) {
        uintptr_t word;
        __builtin_memcpy(&word, from + at, sizeof word);
        follow(r, word);
    }
}

/* Bytes, up to a page that cannot be read; or a negative error number. */
static long copy(const struct reach *r, void *to, uintptr_t from, size_t n)
{
    return r->memory < 0 ? pgg_sys_copy_memory(to, (const void *)from, n)
                         : pgg_sys_pread(r->memory, to, n, (off_t)from);
}

/* Emulators and filters of system calls may support only one of the two calls. */
static int open_memory(struct reach *r)
{
    u32 word;
    r->memory = -1;
    if (copy(r, &word, (uintptr_t)&r->capacity, sizeof word) == sizeof word)
        return 0;
    r->memory = (int)pgg_sys_open("/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
    if (r->memory < 0)
        return r->memory;
    if (copy(r, &word, (uintptr_t)&r->capacity, sizeof word) == sizeof word && word == r->capacity)
        return 0;
    pgg_sys_close(r->memory);
    return -ENOSYS;
}

/* Copies memory that may have unreadable pages. Returns the bytes that could be read. */
static size_t look_through(struct reach *r, uintptr_t from, uintptr_t to)
{
    size_t seen = 0;
    from = (from + WORD - 1) & ~(uintptr_t)(WORD - 1);
    while (from < to) {
        const size_t wanted = to - from < CHUNK ? to - from : CHUNK;
        const long got = copy(r, r->chunk, from, wanted);
        if (got > 0) {
            follow_words(r, r->chunk, (size_t)got);
            seen += (size_t)got;
            from += (size_t)got;
        } else {
            from = (from | (pgg_page() - 1)) + 1;
        }
    }
    return seen;
}

/* For a stack: down to its guard page, which cannot be read. */
static void look_down(struct reach *r, uintptr_t from, uintptr_t least)
{
    while (from > least) {
        const uintptr_t page = (from - 1) & ~(uintptr_t)(pgg_page() - 1);
        if (!look_through(r, page > least ? page : least, from))
            return;
        from = page;
    }
}

static void look_at_objects(struct reach *r)
{
    while (r->n_todo) {
        const struct found *f = &r->found[r->todo[--r->n_todo]];
        const uintptr_t at = address_of(f);
        if (f->size < pgg_page()) /* no page of its own that the program could have protected */
            follow_words(r, (const char *)at, f->size);
        else
            look_through(r, at, at + f->size);
    }
}

/* ---- threads ---- */

static void look_at_variables(struct reach *r, uintptr_t pointer)
{
    look_through(r, pointer + (uintptr_t)tls_from, pointer + (uintptr_t)tls_to);
}

/* The next number, hexadecimal where it says so; false: something else is there. */
static bool read_number(const char **s, u64 *value)
{
    const bool hexadecimal = (*s)[0] == '0' && (*s)[1] == 'x';
    const char *start = *s += hexadecimal ? 2 : 0;
    *value = 0;
    for (;; ++*s) {
        const char c = **s;
        const u32 digit = c >= '0' && c <= '9'                  ? (u32)(c - '0')
                          : hexadecimal && c >= 'a' && c <= 'f' ? (u32)(c - 'a') + 10
                                                                : 16;
        if (digit == 16)
            break;
        *value = *value * (hexadecimal ? 16 : 10) + digit;
    }
    const bool good = *s > start && (**s == ' ' || **s == '\n');
    *s += good;
    return good;
}

/* The system call that a thread waits in. */
struct waiting {
    u64 call, arguments[CALL_ARGUMENTS], stack;
};

/* False: it runs, or the system does not answer. */
static bool ask_waiting(const struct pgrt_thread *t, struct waiting *to)
{
    char text[256];
    const char *s = text;
    struct pgg_text name;
    if (!t->number || pgg_confined)
        return false;
    pgg_text_init(&name, text, sizeof text);
    pgg_text_str(&name, "/proc/self/task/");
    pgg_text_u64(&name, t->number);
    pgg_text_str(&name, "/syscall");
    const int fd = (int)pgg_sys_open(text, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const long n = pgg_sys_read(fd, text, sizeof text - 1);
    pgg_sys_close(fd);
    text[n > 0 ? n : 0] = 0;
    bool good = read_number(&s, &to->call);
    for (u32 i = 0; i < CALL_ARGUMENTS; i++)
        good = good && read_number(&s, &to->arguments[i]);
    return good && read_number(&s, &to->stack) &&
           to->stack - t->walker.stack_lo < t->walker.stack_hi - t->walker.stack_lo;
}

static bool same_waiting(const struct waiting *a, const struct waiting *b)
{
    bool same = a->call == b->call && a->stack == b->stack;
    for (u32 i = 0; i < CALL_ARGUMENTS; i++)
        same = same && a->arguments[i] == b->arguments[i];
    return same;
}

/* Below the stack pointer of a waiting thread are data of functions that have returned. A thread
 * that continued meanwhile may have stored pointers there. */
static bool look_at_waiting(struct reach *r, const struct pgrt_thread *t)
{
    struct waiting w, after;
    if (!ask_waiting(t, &w))
        return false;
    const uintptr_t space = w.stack - t->walker.stack_lo,
                    from = w.stack - (space < BELOW_STACK ? space : BELOW_STACK);
    for (u32 i = 0; i < CALL_ARGUMENTS; i++)
        follow(r, w.arguments[i]);
    look_through(r, from, t->walker.stack_hi);
    return ask_waiting(t, &after) && same_waiting(&w, &after);
}

/* It is unknown how far down the stack of a running thread is in use. */
static void look_at_thread(struct reach *r, const struct pgrt_thread *t)
{
    const uintptr_t pointer = (uintptr_t)t->pointer;
    look_at_variables(r, pointer);
    if (look_at_waiting(r, t)) {
        look_at_objects(r);
        return;
    }
    if (t->walker.stack_hi)
        look_down(r, t->walker.stack_hi, t->walker.stack_lo);
    else /* it has never allocated: its stack is below its variables */
        look_down(r, pointer + (uintptr_t)tls_from, 0);
    look_at_objects(r);
}

/* Without the frames of the runtime, which have seen all objects. */
static void look_at_self(struct reach *r)
{
    const struct pgg_walker *w = pgrt_self ? &pgrt_self->walker : NULL;
    const bool known = w && stack - w->stack_lo < w->stack_hi - w->stack_lo;
    look_through(r, stack, known ? w->stack_hi : stack + OTHER_STACK);
    look_at_variables(r, (uintptr_t)pgg_thread_pointer());
    look_at_objects(r);
}

static void look_at_roots(struct reach *r)
{
    look_at_self(r);
    for (u32 i = 0; i < r->n; i++)
        if (r->found[i].at & OF_LINKER)
            follow(r, address_of(&r->found[i]));
    look_at_objects(r);
    for (u32 i = 0; i < n_ranges; i++) {
        follow(r, ranges[i].from); /* variables of a library that was loaded later are an object */
        look_through(r, ranges[i].from, ranges[i].to);
        look_at_objects(r);
    }
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t))
        if (!__atomic_load_n(&t->taken, __ATOMIC_ACQUIRE))
            look_through(r, (uintptr_t)t->pointer, (uintptr_t)t->pointer + HEAD_BYTES);
        else if (t != pgrt_self)
            look_at_thread(r, t);
    look_at_objects(r);
}

/* ---- memory that the program maps ---- */

/* The first part of a range that is of no thread's stack, which is looked at as such, or was one;
 * the range becomes the rest. */
static struct pgrt_range without_stacks(struct pgrt_range *range)
{
    struct pgrt_range part = *range;
    uintptr_t next = range->to;
    for (struct pgrt_thread *t = pgrt_threads_first(); t; t = pgrt_threads_next(t)) {
        const uintptr_t lo = t->walker.stack_lo, hi = t->walker.stack_hi;
        if (lo >= part.to || hi <= part.from)
            continue;
        part.to = lo > part.from ? lo : part.from;
        next = hi;
    }
    range->from = next < range->to ? next : range->to;
    return part;
}

/* Of an allocator, whose tables lead to all objects; ours, or the runtime's own memory. */
static bool has_objects(const struct reach *r, const struct pgrt_range *range)
{
    const uintptr_t own = (uintptr_t)r->found;
    u32 low = 0, high = r->n; /* the first one that begins there or after */
    while (low < high) {
        const u32 mid = low + (high - low) / 2;
        if (address_of(&r->found[mid]) < range->from)
            low = mid + 1;
        else
            high = mid;
    }
    return (low < r->n && address_of(&r->found[low]) < range->to) ||
           own - range->from < range->to - range->from;
}

static bool is_of_module(const struct pgrt_range *range)
{
    for (u32 i = 0; i < n_ranges; i++)
        if (range->from - ranges[i].from < ranges[i].to - ranges[i].from)
            return true;
    return false;
}

static void look_at_part(void *arg, uintptr_t from, uintptr_t to)
{
    look_through(arg, from, to);
}

/* Pages that were never touched hold no pointer. Where our own memory is among that of the program,
 * nobody can tell whose a mapping is, so none is looked at. */
static void look_at_maps(struct reach *r)
{
    const u32 n = pgrt_maps_of_program(r->maps, MAPS_MAX, r->chunk, CHUNK);
    for (u32 i = 0; i < n; i++)
        if (has_objects(r, &r->maps[i]))
            return;
    for (u32 i = 0; i < n; i++) {
        struct pgrt_range rest = r->maps[i];
        while (rest.from < rest.to && !is_of_module(&r->maps[i])) {
            const struct pgrt_range part = without_stacks(&rest);
            if (!pgrt_maps_each_touched(&part, r->found, look_at_part, r))
                return;
            look_at_objects(r);
        }
    }
}

/* ---- all of it ---- */

static void say_lost(const struct reach *r, void (*f)(void *arg, const struct pgrt_header *h),
                     void *arg)
{
    for (u32 i = 0; i < r->n; i++) {
        const struct found *one = &r->found[i];
        const struct pgrt_header h = {.size = one->size, .context = one->context};
        if ((one->at & (REACHED | OURS)) == OURS && one->context)
            f(arg, &h);
    }
}

/* With memory for all tables. */
static void look(struct reach *r, char *memory, size_t found_bytes,
                 void (*f)(void *arg, const struct pgrt_header *h), void *arg)
{
    r->found = (struct found *)(void *)memory;
    r->chunk = memory + found_bytes;
    r->maps = (struct pgrt_range *)(void *)(r->chunk + CHUNK);
    r->todo = (u32 *)(void *)(r->maps + MAPS_MAX);
    pgrt_heap_each(collect, r);
    sort(r->found, r->n);
    r->lowest = address_of(&r->found[0]);
    r->end = address_of(&r->found[r->n - 1]) + r->found[r->n - 1].size + 1;
    look_at_roots(r);
    look_at_maps(r);
    say_lost(r, f, arg);
}

int pgrt_reach_each_lost(void (*f)(void *arg, const struct pgrt_header *h), void *arg)
{
    struct reach r = {0};
    if (!all_ranges)
        return -ENOMEM;
    pgrt_heap_each(count, &r.capacity);
    if (!r.capacity)
        return 0;
    const int err = open_memory(&r);
    if (err)
        return err;
    const size_t found_bytes = (size_t)r.capacity * sizeof *r.found,
                 bytes = found_bytes + CHUNK + MAPS_MAX * sizeof *r.maps +
                         (size_t)r.capacity * sizeof *r.todo;
    char *memory = pgg_map(bytes);
    if (memory)
        look(&r, memory, found_bytes, f, arg);
    if (memory)
        pgg_unmap(memory, bytes);
    if (r.memory >= 0)
        pgg_sys_close(r.memory);
    return memory ? 0 : -ENOMEM;
}
