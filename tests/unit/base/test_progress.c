/* Tests of the progress bar, on a terminal of our own. */
#include "pgk_test.h"

#include "message.h"
#include "progress.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>

static int terminal, old_stderr;

/* Puts a pseudo-terminal of `columns` in the place of stderr. */
static void open_terminal(unsigned short columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    int end;
    assert_int_equal(openpty(&terminal, &end, NULL, NULL, &size), 0);
    fflush(stderr);
    old_stderr = dup(STDERR_FILENO);
    dup2(end, STDERR_FILENO);
    close(end);
    setenv("TERM", "xterm", 1);
    pgk_progress_enable(true);
}

/* What came out since the last call. The kernel hands it over bit by bit and later, so a
 * mark is written behind it and all is read up to the mark. */
static const char *shown(char text[4096])
{
    static const char mark = '\6';
    fflush(stderr);
    assert_int_equal(write(STDERR_FILENO, &mark, 1), 1);
    size_t n = 0;
    do {
        struct pollfd wait = {.fd = terminal, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 10000), 1);
        ssize_t got = read(terminal, text + n, 4096 - n);
        assert_true(got > 0);
        n += (size_t)got;
    } while (text[n - 1] != mark);
    text[n - 1] = '\0';
    return text;
}

static void close_terminal(void)
{
    pgk_progress_enable(false);
    fflush(stderr);
    dup2(old_stderr, STDERR_FILENO);
    close(old_stderr);
    close(terminal);
}

static void age(struct pgk_progress *p, uint64_t ms)
{
    p->start_ns -= ms * 1000000;
    p->last_ns -= ms * 1000000;
}

static void nothing_in_the_first_second(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress p;
    open_terminal(80);
    pgk_progress_start(&p, "reading", "B", 1000);
    pgk_progress_add(&p, 500);
    age(&p, 800);
    pgk_progress_add(&p, 100);
    assert_string_equal(shown(text), "");
    pgk_progress_end(&p);
    assert_string_equal(shown(text), "");
    close_terminal();
    assert_int_equal(p.done, 600);
}

static void then_a_bar_with_rate_and_time_left(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress p;
    open_terminal(100);
    pgk_progress_start(&p, "reading", "B", 40 << 20);
    age(&p, 10000);
    pgk_progress_add(&p, 10 << 20);
    shown(text);
    assert_non_null(strstr(text, "\r\033[Kreading [######..................] 25%  1.0"));
    assert_non_null(strstr(text, " MiB/s  "));
    assert_non_null(strstr(text, "s left"));

    /* Not again within a tenth of a second, then again. */
    pgk_progress_add(&p, 0);
    assert_string_equal(shown(text), "");
    p.last_ns -= 150000000;
    pgk_progress_add(&p, 30 << 20);
    assert_non_null(strstr(shown(text), "[########################] 100%"));
    pgk_progress_end(&p);
    assert_string_equal(shown(text), "\r\033[K");
    pgk_progress_end(&p);
    assert_string_equal(shown(text), "");
    close_terminal();
}

static void unknown_totals_and_other_units(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress p;
    open_terminal(100);
    pgk_progress_start(&p, "merging", "records", 0);
    age(&p, 2000);
    pgk_progress_add(&p, 12345);
    assert_non_null(strstr(shown(text), "merging: 12,345 records  6,1"));
    assert_null(strstr(text, "merging ["));
    pgk_progress_end(&p);
    shown(text);

    /* More done than was announced, or nothing at all. */
    pgk_progress_start(&p, "merging", "records", 10);
    age(&p, 2000);
    pgk_progress_add(&p, 0);
    assert_non_null(strstr(shown(text), " 0%  0 records/s  ? left"));
    p.last_ns -= 150000000;
    pgk_progress_add(&p, 25);
    assert_non_null(strstr(shown(text), "100%"));
    pgk_progress_end(&p);
    close_terminal();
}

/* Work that counts nothing shows its time; a part of it shows more, and only that. */
static void parts_of_work(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress whole, part;
    open_terminal(80);
    pgk_progress_start(&whole, "naming", NULL, 0);
    pgk_progress_tick();
    assert_string_equal(shown(text), "");
    age(&whole, 3000);
    pgk_progress_tick();
    assert_string_equal(shown(text), "\r\033[Knaming: 3.00 s");
    pgk_progress_start(&part, "downloading", "B", 0);
    age(&whole, 200);
    pgk_progress_add(&whole, 1);
    pgk_progress_tick();
    assert_string_equal(shown(text), "");
    age(&part, 2000);
    pgk_progress_tick();
    assert_non_null(strstr(shown(text), "downloading: 0 B  "));
    pgk_progress_end(&part);
    shown(text);
    pgk_progress_tick();
    assert_string_equal(shown(text), "\r\033[Knaming: 3.00 s");
    pgk_progress_end(&whole);
    assert_string_equal(shown(text), "\r\033[K");
    pgk_progress_tick();
    assert_string_equal(shown(text), "");
    close_terminal();
}

/* The outermost work of the process, in any order with its parts. */
static void named_work(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress part;
    open_terminal(80);
    pgk_progress_work(NULL);
    pgk_progress_work("show");
    pgk_progress_start(&part, "reading", "files", 0);
    pgk_progress_work(NULL);
    pgk_progress_work(NULL);
    age(&part, 2000);
    pgk_progress_tick();
    assert_non_null(strstr(shown(text), "reading: 0 files"));
    pgk_progress_end(&part);
    shown(text);
    pgk_progress_tick();
    assert_string_equal(shown(text), "");
    close_terminal();
}

static void a_narrow_terminal_does_not_wrap(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress p;
    open_terminal(20);
    pgk_progress_start(&p, "reading", "B", 1000);
    age(&p, 2000);
    pgk_progress_add(&p, 500);
    shown(text);
    assert_int_equal(strlen(text), strlen("\r\033[K") + 19);
    pgk_progress_end(&p);
    close_terminal();
}

static void a_message_gets_a_line_of_its_own(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress p;
    open_terminal(80);
    pgk_progress_start(&p, "reading", "B", 1000);
    age(&p, 2000);
    pgk_progress_add(&p, 500);
    shown(text);
    pgk_warn("careful");
    fflush(stderr);
    assert_string_equal(shown(text), "\r\033[Kpgokit: warning: careful\r\n");
    pgk_progress_end(&p);
    assert_string_equal(shown(text), "");
    close_terminal();
}

static void nothing_where_there_is_no_terminal(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct pgk_progress p;
    int old = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    pgk_progress_enable(true);
    pgk_progress_start(&p, "reading", "B", 1000);
    age(&p, 2000);
    pgk_progress_add(&p, 500);
    pgk_progress_end(&p);
    pgk_progress_enable(false);
    dup2(old, STDERR_FILENO);
    close(old);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    fclose(file);

    char text[4096];
    open_terminal(80);
    setenv("TERM", "dumb", 1);
    pgk_progress_enable(true);
    pgk_progress_start(&p, "reading", "B", 1000);
    age(&p, 2000);
    pgk_progress_add(&p, 500);
    pgk_progress_end(&p);
    assert_string_equal(shown(text), "");
    close_terminal();
}

static void nothing_unless_it_is_enabled(void **state)
{
    (void)state;
    char text[4096];
    struct pgk_progress p;
    open_terminal(80);
    pgk_progress_enable(false);
    pgk_progress_start(&p, "reading", "B", 1000);
    p.start_ns = p.last_ns = 0;
    pgk_progress_add(&p, 500);
    pgk_progress_end(&p);
    assert_string_equal(shown(text), "");
    assert_int_equal(p.done, 500);
    close_terminal();
}

/* A machine without /dev/pts has no terminals to give, which is a skip with the reason. */
static bool terminals_are_there(void)
{
    int end;
    if (openpty(&terminal, &end, NULL, NULL, NULL) == 0) {
        close(terminal);
        close(end);
        return true;
    }
    printf("1..1\nok 1 - progress bar # SKIP no pseudo-terminal can be opened: %s\n",
        strerror(errno));
    return false;
}

int main(void)
{
    if (!terminals_are_there())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_the_first_second),
        cmocka_unit_test(then_a_bar_with_rate_and_time_left),
        cmocka_unit_test(unknown_totals_and_other_units),
        cmocka_unit_test(parts_of_work),
        cmocka_unit_test(named_work),
        cmocka_unit_test(a_narrow_terminal_does_not_wrap),
        cmocka_unit_test(a_message_gets_a_line_of_its_own),
        cmocka_unit_test(nothing_where_there_is_no_terminal),
        cmocka_unit_test(nothing_unless_it_is_enabled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
