/* Statistics that programs ask an allocator for, in the forms of glibc. Mapped memory is not
 * distinguished from other memory: fields about it are 0. */
#include "alloc_group.h"
#include "guest_text.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>

PGAL_EXPORT struct mallinfo mallinfo(void);
PGAL_EXPORT struct mallinfo2 mallinfo2(void);
PGAL_EXPORT int malloc_info(int options, FILE *to);
PGAL_EXPORT void malloc_stats(void);
PGAL_EXPORT int malloc_trim(size_t pad);

struct amounts {
    size_t objects, pages, unused; /* bytes: of objects, of pages with objects, of empty pages */
};

static size_t value(const char *name)
{
    size_t found = 0, size = sizeof found;
    return pgal_je_mallctl(name, &found, &size, NULL, 0) ? 0 : found;
}

static struct amounts amounts_now(void)
{
    u64 epoch = 1;
    pgal_je_mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return (struct amounts){
        .objects = value("stats.allocated"),
        .pages = value("stats.active"),
        .unused = (value("stats.arenas.4096.pdirty") + value("stats.arenas.4096.pmuzzy")) *
                  value("arenas.page"),
    };
}

struct mallinfo2 mallinfo2(void)
{
    const struct amounts a = amounts_now();
    return (struct mallinfo2){
        .arena = a.pages + a.unused,
        .uordblks = a.objects,
        .fordblks = a.pages + a.unused - a.objects,
        .keepcost = a.unused,
    };
}

static int most(size_t bytes)
{
    return bytes > INT_MAX ? INT_MAX : (int)bytes;
}

struct mallinfo mallinfo(void)
{
    const struct mallinfo2 m = mallinfo2();
    return (struct mallinfo){
        .arena = most(m.arena),
        .uordblks = most(m.uordblks),
        .fordblks = most(m.fordblks),
        .keepcost = most(m.keepcost),
    };
}

static void put_size(struct pgg_text *t, const char *type, size_t bytes)
{
    pgg_text_str(t, "<system type=\"");
    pgg_text_str(t, type);
    pgg_text_str(t, "\" size=\"");
    pgg_text_u64(t, bytes);
    pgg_text_str(t, "\"/>\n");
}

int malloc_info(int options, FILE *to)
{
    const struct amounts a = amounts_now();
    char text[400];
    struct pgg_text t;
    if (options)
        return EINVAL;
    pgg_text_init(&t, text, sizeof text);
    pgg_text_str(&t, "<malloc version=\"pgokit_alloc-1\">\n<total type=\"objects\" size=\"");
    pgg_text_u64(&t, a.objects);
    pgg_text_str(&t, "\"/>\n");
    put_size(&t, "current", a.pages + a.unused);
    put_size(&t, "unused", a.unused);
    pgg_text_str(&t, "</malloc>\n");
    return fputs(text, to) < 0 ? errno : 0;
}

void malloc_stats(void)
{
    const struct amounts a = amounts_now();
    char line[200];
    struct pgg_text t;
    pgg_text_init(&t, line, sizeof line);
    pgg_text_u64(&t, a.objects);
    pgg_text_str(&t, " bytes of objects in ");
    pgg_text_u64(&t, a.pages);
    pgg_text_str(&t, " bytes of pages, ");
    pgg_text_u64(&t, a.unused);
    pgg_text_str(&t, " bytes of empty pages");
    pgal_say("all objects", line);
}

/* 1: memory was given back to the system. */
int malloc_trim(size_t pad)
{
    (void)pad;
    pgal_je_mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    const size_t unused = amounts_now().unused;
    pgal_groups_purge();
    return amounts_now().unused < unused;
}
