/* pgokit mcp: views of profiles for assistants, by the Model Context Protocol. */
#include "cli.h"

#ifdef PGK_WITH_MCP
#include "mcp_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#endif

static const char help[] =
    "usage: pgokit mcp FOLDER...\n\n"
    "Answers an assistant's questions about profiles in and below the folders: what\n"
    "is hot, what leaks, what changed, whether a profile is stale. Speaks the Model\n"
    "Context Protocol at standard input and output; an assistant starts it itself.\n"
    "Reads nothing outside of the folders, and writes nothing.\n\n";

static const char examples[] = "  pgokit mcp ~/profiles\n"
                               "  pgokit mcp ~/profiles ./build --timeout 10\n";

struct mcp {
    struct cli_common common;
    unsigned seconds;
};

static const struct option_row rows[] = {
    {"timeout", 0, "SECONDS", "how long an answer may take (default 60)",
     OPTION_NUMBER(struct mcp, seconds, 1, 86400), .page = "one that takes longer is an error"},
    {0},
};
static const struct option_table table = {"mcp", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct mcp), {0}};

#ifdef PGK_WITH_MCP
/* Takes the text. False if the client is gone. */
static bool answer(char *text)
{
    const size_t n = text ? strlen(text) : 0;
    bool ok = true;
    if (text) {
        text[n] = '\n'; /* in place of the 0 */
        for (size_t at = 0; ok && at <= n;) {
            const ssize_t done = write(STDOUT_FILENO, text + at, n + 1 - at);
            ok = done >= 0 || errno == EINTR;
            at += done > 0 ? (size_t)done : 0;
        }
    }
    free(text);
    return ok;
}

/* What a client has sent and is not a whole line yet. */
struct input {
    char *v;
    size_t n;
    bool is_too_long; /* the line; the rest of it is passed over */
};

/* The lines of which the end has come. */
static bool answer_lines(const struct mcp_server *server, struct input *in)
{
    size_t at = 0;
    char *end;
    bool ok = true;
    while (ok && (end = memchr(in->v + at, '\n', in->n - at))) {
        const size_t n = (size_t)(end - in->v) - at;
        if (!in->is_too_long && strspn(in->v + at, " \t\r") < n)
            ok = answer(mcp_answer(server, in->v + at, n));
        in->is_too_long = false;
        at += n + 1;
    }
    in->n -= at;
    memmove(in->v, in->v + at, in->n);
    if (in->n <= MCP_MESSAGE_MAX_BYTES)
        return ok;
    if (!in->is_too_long)
        ok = ok && answer(mcp_answer_too_long());
    in->is_too_long = true;
    in->n = 0;
    return ok;
}

/* Until the client closes its end. A last line counts without a newline. */
static int serve(const struct mcp_server *server)
{
    enum { PIECE = 1 << 16 };
    struct input in = {.v = malloc(MCP_MESSAGE_MAX_BYTES + PIECE + 2)};
    ssize_t n = 1;
    bool ok = in.v;
    if (!ok)
        fputs("pgokit: out of memory\n", stderr);
    while (ok && (n > 0 || (n < 0 && errno == EINTR))) {
        n = read(STDIN_FILENO, in.v + in.n, PIECE);
        in.n += n > 0 ? (size_t)n : 0;
        if (!n && in.n)
            in.v[in.n++] = '\n';
        ok = answer_lines(server, &in);
    }
    if (n < 0)
        fprintf(stderr, "pgokit: cannot read standard input: %s\n", strerror(errno));
    free(in.v);
    return ok && !n ? EXIT_DONE : EXIT_FAILED;
}

static int run_server(const struct mcp *m, int n, char **paths)
{
    struct mcp_folders folders = {.seconds = m->seconds ? m->seconds : 60};
    const struct mcp_server server = {mcp_folders_view, mcp_folders_path, &folders};
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = mcp_folders_add(&folders, paths[i]);
    if (ok && isatty(STDIN_FILENO))
        fputs("pgokit: note: waiting for an assistant's messages at standard input; see pgokit "
              "help mcp\n",
              stderr);
    const int exit_code = ok ? serve(&server) : EXIT_FAILED;
    mcp_folders_free(&folders);
    return exit_code;
}
#else
static int run_server(const struct mcp *m, int n, char **paths)
{
    (void)m, (void)n, (void)paths;
    fputs("pgokit: this pgokit was built without mcp, which reads JSON by the library jansson; "
          "install libjansson-dev (Debian), and build pgokit again\n",
          stderr);
    return EXIT_FAILED;
}
#endif

static int run(int argc, char **argv)
{
    struct mcp m = {0};
    option_parse(&cmd_mcp, groups, argc, argv, &m);
    if (optind == argc)
        cli_usage(&cmd_mcp, "mcp takes the folders whose files may be read");
    const int exit_code = run_server(&m, argc - optind, argv + optind);
    cli_common_free(&m.common);
    return exit_code;
}

const struct cli_verb cmd_mcp = {
    .name = "mcp",
    .summary = "answers assistants about profiles, by the Model Context Protocol",
    .help = help,
    .run = run,
    .groups = groups,
    .examples = examples,
};
