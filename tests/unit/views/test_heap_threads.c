#include "heap_threads.h"
#include "hash.h"
#include "heap_samples.h"
#include "pgk_test.h"

enum { FRAMES = 5 };

/* A function as "name", or an address as "0x12" of a file; outermost first. */
struct frame {
    const char *name, *file;
};
struct stack {
    struct frame frames[FRAMES];
    const char *thread; /* NULL: not known; "": the first one; or the name of its function */
};

#define LIBC "/lib/libc.so.6"

static const struct stack stacks[] = {
    {{{"_start", "/bin/app"}, {"main", "/bin/app"}, {"fill", "/bin/app"}}, ""},
    {{{"main", ""}, {"fill", ""}}, ""},
    {{{"_dl_start_user", "/lib/ld-linux-x86-64.so.2"}, {"init", "/lib/liba.so"}}, ""},
    /* Without symbols. */
    {{{"0x10", "/lib/ld-linux-x86-64.so.2"}, {"0x20", LIBC}}, ""},
    {{{"0x30", "/bin/app"}, {"__libc_start_main", LIBC}, {"0x40", "/bin/app"}}, ""},
    {{{"clone3", LIBC}, {"start_thread", LIBC}, {"reader", "/bin/app"}, {"fill", "/bin/app"}},
     "reader"},
    {{{"0x50", LIBC}, {"0x60", LIBC}, {"reader", "/bin/app"}}, "reader"},
    {{{"0x50", LIBC}, {"0x60", LIBC}, {"0x70", "/bin/app"}}, "[app]+0x70"},
    {{{"__clone", ""}, {"start_thread", ""}, {"pool_run", "/lib/libpool.so"}}, "pool_run"},
    /* std::thread, of the library and inlined. */
    {{{"clone3", LIBC}, {"0x80", "/lib/libstdc++.so.6"}, {"std::thread::run", "/bin/app"},
      {"worker", "/bin/app"}, {"fill", "/bin/app"}}, "worker"},
    {{{"start_thread", LIBC}, {"malloc", LIBC}}, NULL},
    /* Where the walk ended elsewhere. */
    {{{"worker", "/bin/app"}, {"fill", "/bin/app"}}, NULL},
    {{{"0x90", "/lib/libother.so"}, {"fill", "/bin/app"}}, NULL},
};

static uint32_t push(struct pgk_heap_frames *t, uint32_t at, const struct frame *f, uint32_t file)
{
    const bool address = !strncmp(f->name, "0x", 2);
    char name[64];
    snprintf(name, sizeof name, "[%s]+%s", strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : "",
             f->name);
    const struct pgk_view_func func = {
        .guid = pgk_hash_bytes(f->name, strlen(f->name)),
        .name = pgk_intern_cstr(&t->strings, address ? name : f->name),
        .module = address ? pgk_intern_cstr(&t->strings, "abcdef") : 0,
        .path = file,
        .library = !strncmp(f->name, "std::", 5) || !strcmp(f->name, "malloc"),
    };
    assert_true(pgk_vec_push(&t->funcs, func));
    const struct pgk_view_frame frame = {.func = (uint32_t)t->funcs.n - 1};
    assert_true(pgk_vec_push(&t->frames, frame));
    return pgk_stack_push(&t->stacks, at, (uint32_t)t->frames.n - 1);
}

static void the_outermost_frames_say_it(void **state)
{
    (void)state;
    struct pgk_heap_frames t;
    assert_int_equal(pgk_heap_frames_init(&t, NULL), 0);
    for (size_t i = 0; i < PGK_COUNTOF(stacks); i++) {
        const struct stack *s = &stacks[i];
        uint32_t at = 0;
        for (size_t f = 0; f < FRAMES && s->frames[f].name; f++)
            at = push(&t, at, &s->frames[f], pgk_intern_cstr(&t.strings, s->frames[f].file));
        const uint32_t thread = pgk_frames_thread(&t, at, "/usr/bin/app");
        if (!s->thread || !*s->thread) {
            assert_int_equal(thread, s->thread ? PGK_THREAD_MAIN : PGK_THREAD_UNKNOWN);
            continue;
        }
        assert_true(thread >= PGK_THREAD_FUNC);
        assert_string_equal(pgk_frames_text(&t, t.funcs.v[thread - PGK_THREAD_FUNC].name),
                            s->thread);
    }
    pgk_heap_frames_free(&t);
}

static void nothing_is_known_without_a_stack_or_a_program(void **state)
{
    (void)state;
    struct pgk_heap_frames t;
    assert_int_equal(pgk_heap_frames_init(&t, NULL), 0);
    assert_int_equal(pgk_frames_thread(&t, 0, "/bin/app"), PGK_THREAD_UNKNOWN);
    const uint32_t at = push(&t, 0, &(struct frame){"0x30", "/bin/app"},
                             pgk_intern_cstr(&t.strings, "/bin/app"));
    assert_int_equal(pgk_frames_thread(&t, at, "/bin/app"), PGK_THREAD_MAIN);
    assert_int_equal(pgk_frames_thread(&t, at, ""), PGK_THREAD_UNKNOWN);
    pgk_heap_frames_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outermost_frames_say_it),
        cmocka_unit_test(nothing_is_known_without_a_stack_or_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
