/* The progress bar. */
#include "progress.h"

#include "fail.h"
#include "pgokit/human.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define QUIET_NS SECOND_NS         /* shorter work shows nothing */
#define REDRAW_NS (SECOND_NS / 10)
#define WIPE "\r\033[K"

enum { BAR_CELLS = 24, LINE_SIZE = 256, WIDTH_UNKNOWN = 80 };

static atomic_bool enabled;
static atomic_bool on_screen;

void pgk_progress_enable(bool on)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    atomic_store(&enabled, on && terminal);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* The innermost work, and whatever it shows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pgk_progress *innermost;

void pgk_progress_start(struct pgk_progress *p, const char *what, const char *unit, uint64_t total)
{
    *p = (struct pgk_progress){.what = what, .unit = unit, .total = total};
    if (atomic_load(&enabled))
        p->start_ns = p->last_ns = now_ns();
    pthread_mutex_lock(&lock);
    p->outer = innermost;
    innermost = p;
    pthread_mutex_unlock(&lock);
}

/* An amount with its unit: "1.50 GiB" or "12,345 samples". */
static const char *amount(char *buf, size_t size, double n, const char *unit)
{
    char number[PGK_HUMAN_SIZE];
    if (strcmp(unit, "B") == 0)
        return pgk_format(buf, size, "%s", pgk_human_bytes(number, n));
    return pgk_format(buf, size, "%s %s", pgk_human_count(number, (uint64_t)n), unit);
}

static void put_bar(const struct pgk_progress *p, uint64_t now, char line[LINE_SIZE])
{
    char done[64], rate[64], left[PGK_HUMAN_SIZE];
    const uint64_t so_far = atomic_load(&p->done);
    double seconds = (double)(now - p->start_ns) / SECOND_NS;
    double per_second = (double)so_far / seconds;
    amount(done, sizeof done, (double)so_far, p->unit);
    amount(rate, sizeof rate, per_second, p->unit);
    if (p->total) {
        uint64_t n = so_far < p->total ? so_far : p->total;
        double part = (double)n / (double)p->total;
        char bar[BAR_CELLS + 1];
        for (int i = 0; i < BAR_CELLS; i++)
            bar[i] = i < (int)(part * BAR_CELLS) ? '#' : '.';
        bar[BAR_CELLS] = '\0';
        double left_ms = per_second > 0 ? (double)(p->total - n) / per_second * 1e3 : 0;
        pgk_human_ms(left, left_ms < 1000 ? left_ms : (double)(uint64_t)(left_ms / 1e3) * 1e3);
        pgk_format(line, LINE_SIZE, "%s [%s] %2.0f%%  %s/s  %s left", p->what, bar,
                   part * 100, rate, so_far ? left : "?");
    } else {
        pgk_format(line, LINE_SIZE, "%s: %s  %s/s", p->what, done, rate);
    }
}

/* Under the lock. */
static void draw(struct pgk_progress *p, uint64_t now)
{
    char line[LINE_SIZE], passed[PGK_HUMAN_SIZE];
    const uint64_t seconds = (now - p->start_ns) / SECOND_NS;
    if (p->unit)
        put_bar(p, now, line);
    else
        pgk_format(line, sizeof line, "%s: %s", p->what,
                   pgk_human_ms(passed, (double)seconds * 1e3));

    /* A line as wide as the terminal would wrap and could not be wiped. */
    struct winsize size;
    size_t width = WIDTH_UNKNOWN;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        width = size.ws_col;
    if (strlen(line) >= width)
        line[width - 1] = '\0';
    fprintf(stderr, WIPE "%s", line);
    fflush(stderr);
    p->drawn = true;
    p->last_ns = now;
    atomic_store(&on_screen, true);
}

/* Under the lock. */
static void draw_if_due(struct pgk_progress *p)
{
    const uint64_t now = now_ns();
    if (p->start_ns && now - p->start_ns >= QUIET_NS &&
        (!p->drawn || now - p->last_ns >= REDRAW_NS))
        draw(p, now);
}

void pgk_progress_add(struct pgk_progress *p, uint64_t more)
{
    atomic_fetch_add_explicit(&p->done, more, memory_order_relaxed);
    if (!atomic_load_explicit(&enabled, memory_order_relaxed) || pthread_mutex_trylock(&lock))
        return;
    if (p == innermost)
        draw_if_due(p);
    pthread_mutex_unlock(&lock);
}

void pgk_progress_tick(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&enabled) && innermost)
        draw_if_due(innermost);
    pthread_mutex_unlock(&lock);
}

/* The work that has no parts to count, and is the outermost. */
void pgk_progress_work(const char *what)
{
    static struct pgk_progress work;
    if (what)
        pgk_progress_start(&work, what, NULL, 0);
    else if (work.what)
        pgk_progress_end(&work);
    if (!what)
        work.what = NULL;
}

void pgk_progress_wipe(void)
{
    if (atomic_exchange(&on_screen, false)) {
        fputs(WIPE, stderr);
        fflush(stderr);
    }
}

void pgk_progress_end(struct pgk_progress *p)
{
    pthread_mutex_lock(&lock);
    for (struct pgk_progress **at = &innermost; *at; at = &(*at)->outer)
        if (*at == p) {
            *at = p->outer;
            break;
        }
    if (p->drawn)
        pgk_progress_wipe();
    p->drawn = false;
    pthread_mutex_unlock(&lock);
}
