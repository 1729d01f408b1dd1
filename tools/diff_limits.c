/* diff --fail-on: limits that a comparison must not pass. */
#include "diff_limits.h"
#include "pgokit/human.h"

#include <string.h>

enum { EXIT_LIMIT = 3 };

static _Noreturn void reject(const struct diff_limit *limits, int n, const char *text)
{
    char names[128] = "";
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s%s=N%%",
                 !i ? "" : i + 1 < n ? ", " : " or ", limits[i].name);
    }
    cli_refuse_value(&cmd_diff, text, "--fail-on takes %s", names);
}

void diff_limit_parse(struct diff_limit *limits, int n, const char *text)
{
    const char *equals = strchr(text, '=');
    for (int i = 0; equals && i < n; i++) {
        double percent;
        bool has_sign;
        size_t len = strlen(limits[i].name);
        if ((size_t)(equals - text) != len || strncmp(text, limits[i].name, len))
            continue;
        if (!option_percent(equals + 1, &percent, &has_sign) || !has_sign ||
            !(percent >= 0 && percent < 1e9))
            break;
        limits[i].given = percent;
        limits[i].is_given = true;
        return;
    }
    reject(limits, n, text);
}

const char *diff_limit_word(const struct diff_limit *limits, int n, size_t i)
{
    static char word[32];
    if (i >= (size_t)n)
        return NULL;
    snprintf(word, sizeof word, "%s=0%%", limits[i].name);
    return word;
}

static bool is_reached(const struct diff_limit *limit, double found)
{
    return limit->is_given && !limit->unknown && found > 0 && found >= limit->given;
}

/* A limit that nobody could check is not kept. */
static int check_known(const struct diff_limit *limits, int n)
{
    int exit_code = EXIT_DONE;
    char name[256];
    for (int i = 0; i < n; i++) {
        if (!limits[i].is_given || !limits[i].unknown)
            continue;
        fprintf(stderr,
                "pgokit: --fail-on %s=%g%% cannot be checked, because %s does not hold %s\n",
                limits[i].name, limits[i].given,
                pgk_human_text(name, sizeof name, limits[i].unknown), limits[i].source);
        exit_code = EXIT_FAILED;
    }
    return exit_code;
}

int diff_limits_check(const struct diff_limit *limits, int n, const double *found)
{
    const int known = check_known(limits, n);
    int exit_code = known;
    for (int i = 0; i < n; i++) {
        if (!is_reached(&limits[i], found[i]))
            continue;
        fprintf(stderr, "pgokit: limit reached: %s %.1f %%, and %s=%g%% was given\n",
                limits[i].meaning, found[i], limits[i].name, limits[i].given);
        if (!known)
            exit_code = EXIT_LIMIT;
    }
    return exit_code;
}

void diff_limits_print_markdown(const struct diff_limit *limits, int n, const double *found,
                                FILE *out)
{
    bool some = false;
    for (int i = 0; i < n; i++) {
        if (!limits[i].is_given)
            continue;
        if (!some)
            fputs("\n### Limits\n\n| limit | found | |\n|---|---|---|\n", out);
        some = true;
        fprintf(out, "| %s=%g%% | ", limits[i].name, limits[i].given);
        if (limits[i].unknown)
            fputs("not known | **not checked** |\n", out);
        else
            fprintf(out, "%s %.1f %% | %s |\n", limits[i].meaning, found[i],
                    is_reached(&limits[i], found[i]) ? "**reached**" : "kept");
    }
}
