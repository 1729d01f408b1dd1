/* The start: the plan that the environment names, and what is said at the end. */
#include "alloc_object.h"
#include "alloc_thread.h"
#include "guest_env.h"
#include "guest_frames.h"
#include "guest_modules.h"
#include "guest_open.h"
#include "guest_text.h"

#include <pthread.h>
#include <signal.h>

void pgal_say(const char *a, const char *b)
{
    pgg_say("pgokit_alloc", a, b);
}

static bool is_set(const char *name)
{
    const char *value = pgg_secure_getenv(name);
    return value && *value && *value != '0';
}

/* 0: it is none of up to two digits. */
static u32 number(const char *digits)
{
    u32 n = 0;
    for (; *digits >= '0' && *digits <= '9' && n < 10; digits++)
        n = n * 10 + (u32)(*digits - '0');
    return *digits ? 0 : n;
}

static void ask(int number)
{
    (void)number;
    pgal_stats_asked = true;
}

static void listen(const char *to)
{
    struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
    if (to && *to && (!number(to) || sigaction((int)number(to), &action, NULL)))
        pgal_say("PGOKIT_ALLOC_STATS_SIGNAL is the number of a signal that can be handled", to);
}

static void child(void)
{
    pgal_groups_after_fork();
    pgal_plan_after_fork();
}

__attribute__((constructor(101))) static void at_start(void)
{
    const char *plan = pgg_secure_getenv("PGOKIT_ALLOC_PLAN"),
               *hash = pgg_secure_getenv("PGOKIT_ALLOC_HASH");
    pgg_open_watch(pgal_say);
    pgg_modules_ready = true;
    pgg_frames_ready();
    pgal_objects_init();
    pgal_check_init();
    pgal_cache_init();
    pgal_threads_init();
    pthread_atfork(NULL, NULL, child);
    if (is_set("PGOKIT_ALLOC_PAGE_OUT"))
        pgal_groups_page_out();
    if (is_set("PGOKIT_ALLOC_HUGE_PAGES"))
        pgal_groups_huge(*pgg_secure_getenv("PGOKIT_ALLOC_HUGE_PAGES") == 'a' ? PGAL_HUGE_ALL
                                                                             : PGAL_HUGE_HOT);
    listen(pgg_secure_getenv("PGOKIT_ALLOC_STATS_SIGNAL"));
    if (plan && *plan)
        pgal_plan_read(plan, is_set("PGOKIT_ALLOC_PLAN_OF_OTHERS"));
    else if (hash && *hash)
        pgal_plan_hash(number(hash));
}

__attribute__((destructor)) static void at_end(void)
{
    if (is_set("PGOKIT_ALLOC_STATS"))
        pgal_groups_print();
}
