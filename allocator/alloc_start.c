/* The start: the plan that the environment names, and what is said at the end. */
#include "alloc_object.h"
#include "alloc_thread.h"
#include "guest_env.h"
#include "guest_frames.h"
#include "guest_modules.h"
#include "guest_text.h"

#include <pthread.h>

void pgal_say(const char *a, const char *b)
{
    pgg_say("pgokit_alloc", a, b);
}

static bool is_set(const char *name)
{
    const char *value = pgg_secure_getenv(name);
    return value && *value && *value != '0';
}

/* 0: it is none. */
static u32 number(const char *digits)
{
    u32 n = 0;
    for (; *digits >= '0' && *digits <= '9' && n < PGAL_GROUPS; digits++)
        n = n * 10 + (u32)(*digits - '0');
    return *digits ? 0 : n;
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
    pgg_modules_ready = true;
    pgg_frames_ready();
    pgal_objects_init();
    pgal_threads_init();
    pthread_atfork(NULL, NULL, child);
    if (plan && *plan)
        pgal_plan_read(plan);
    else if (hash && *hash)
        pgal_plan_hash(number(hash));
}

__attribute__((destructor)) static void at_end(void)
{
    if (is_set("PGOKIT_ALLOC_STATS"))
        pgal_groups_print();
}
