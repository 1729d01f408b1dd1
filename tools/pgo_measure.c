/* Runs two builds in turns, in random order, so that what else the machine does falls on both
 * alike, until the difference is sure. */
#include "pgo.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum { TURNS_AT_LEAST = 6, SECONDS = 60 }; /* of fewer turns nothing is sure */

/* Without the output of the command, which would only repeat. */
static void run_once(const char *command, int counter, struct pgk_trial_turn *turn, bool with)
{
    struct record_ended ended;
    char *silent;
    if (asprintf(&silent, "exec >/dev/null\n%s", command) < 0)
        pgo_stop("out of memory");
    const uint64_t before = pgo_counter_read(counter);
    pgo_shell("the measured command", silent, &ended);
    turn->instructions[with] = pgo_counter_read(counter) - before;
    const double s = record_cpu_s(&ended);
    turn->seconds[with] = s > 1e-6 ? s : 1e-6;
    free(silent);
}

/* Which of both is first, by chance: then a difference between first and second runs is none
 * between builds. */
static bool toss(void)
{
    unsigned char byte;
    if (getrandom(&byte, 1, 0) != 1)
        pgo_stop("the system has no random numbers");
    return byte & 1;
}

static void take_turn(struct pgk_trial *trial, const struct pgo_files *files, const char *command,
                      int counter)
{
    struct pgk_trial_turn turn = {.struct_size = sizeof turn};
    struct pgk_err err = {0};
    const bool first = toss();
    for (int k = 0; k < 2; k++) {
        const bool with = first ^ k;
        pgo_place(files, with);
        run_once(command, counter, &turn, with);
    }
    if (pgk_trial_add(trial, &turn, &err))
        pgo_stop("out of memory");
}

bool pgo_is_smaller(const struct pgk_trial_result *r)
{
    return (double)r->bytes[1] < 0.99 * (double)r->bytes[0];
}

/* Whether more turns would change nothing: of a form that is smaller than another, only whether it
 * is slower has to be known. */
static bool is_decided(const struct pgk_trial_result *r, const struct pgo_limits *limits)
{
    if (limits->or_smaller && pgo_is_smaller(r) && r->low > -PGO_MATTERS)
        return true;
    return r->verdict != PGK_TRIAL_OPEN &&
           (!limits->has_min_gain || r->low >= limits->min_gain || r->high < limits->min_gain);
}

static bool is_time_over(double started, size_t turns, const struct pgo_limits *limits)
{
    const double took = record_now_s() - started;
    return limits->seconds ? took >= (double)limits->seconds
                           : took >= SECONDS && turns >= TURNS_AT_LEAST;
}

static void show(const struct pgk_trial_result *r, bool ends)
{
    fprintf(stderr, "\r\033[Kmeasured %zu turn%s: %+.1f %%%s", r->turns, r->turns == 1 ? "" : "s",
            r->gain, ends ? "\n" : "");
}

struct pgk_trial_result pgo_measure(struct pgk_trial *trial, size_t row,
                                    const struct pgo_files *files, const char *command,
                                    const struct pgo_limits *limits, bool quiet)
{
    struct pgk_trial_result r = {.struct_size = sizeof r};
    const double started = record_now_s();
    const int counter = pgo_counter_open();
    bool ends = false;
    while (!ends) {
        take_turn(trial, files, command, counter);
        pgk_trial_result(trial, row, &r);
        ends = r.turns >= limits->rounds || is_decided(&r, limits) ||
               is_time_over(started, r.turns, limits);
        if (!quiet && isatty(STDERR_FILENO))
            show(&r, ends);
    }
    if (counter >= 0)
        close(counter);
    return r;
}
