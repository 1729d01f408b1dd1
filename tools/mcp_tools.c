/* The tools of pgokit mcp: each is a row, which becomes the command line of a verb. */
#include "mcp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum arg_kind {
    ARG_FILE,  /* a path */
    ARG_FILES, /* an array of these */
    ARG_TEXT,
    ARG_NUMBER,
    ARG_FLAG,
};

/* What a client may ask for. Without an option it is an operand. */
struct arg {
    const char *name;
    enum arg_kind kind;
    const char *option; /* "--top" */
    bool needed;
    const char *about;
};

enum { ARGS = 6, WORDS = 3 };

struct mcp_tool {
    const char *name, *title, *about;
    const char *words[WORDS]; /* the verb, and options that a client does not give */
    struct arg args[ARGS];
};

#define PROFILE                                                \
    {                                                          \
        "profile", ARG_FILE, NULL, true, "path of the profile" \
    }
#define BINARIES                                                                                 \
    {                                                                                            \
        "binaries", ARG_FILES, "--binary", false,                                                \
            "paths of the profiled program and its libraries, which give names and source lines" \
    }
#define TOP(what)                                                                  \
    {                                                                              \
        "top", ARG_NUMBER, "--top", false, "how many " what ", most first; 0: all" \
    }
#define AS_JSON                                                   \
    {                                                             \
        "json", ARG_FLAG, "--json", false, "JSON instead of text" \
    }

static const struct mcp_tool tools[] = {
    {"list_profiles",
     "Profiles and programs",
     "Lists the profiles and programs in a folder and the folders below it, with format, size and "
     "time. Begin here: other tools take the paths that it prints.",
     {"list"},
     {{"folder", ARG_FILE, NULL, false, "a folder; without it, all folders of the server"}}},
    {"summarise",
     "What a profile says",
     "Totals of a profile of any kind and its first contexts (heap) or functions (samples, "
     "counters); of heap profiles also what to change.",
     {"show", "--top=3"},
     {PROFILE, BINARIES}},
    {"top",
     "Top contexts or functions",
     "The allocation contexts of a heap profile, with call stacks, or the functions of other "
     "profiles, in an order: finds hot spots, leaks (sort leaked), short-lived objects.",
     {"show"},
     {PROFILE,
      BINARIES,
      {"sort", ARG_TEXT, "--sort", false,
       "heap: bytes (default), count, accesses, lifetime, density, peak, leaked, temporary or "
       "unreachable; counters: total (default), entry, max or name"},
      TOP("contexts or functions"),
      {"depth", ARG_NUMBER, "--depth", false, "heap: frames of a stack; 0: all"},
      AS_JSON}},
    {"tree",
     "Where the heap is allocated",
     "The calling functions of a heap profile as a tree, with what is allocated below each.",
     {"show", "--tree"},
     {PROFILE,
      BINARIES,
      {"depth", ARG_NUMBER, "--depth", false, "levels; 0: all"},
      {"least", ARG_NUMBER, "--least", false,
       "percent of all bytes below which a branch is "
       "summed up (default 1)"}}},
    {"function",
     "One function",
     "One function of samples or counters, in all its contexts: its lines with samples, what it "
     "calls, what was inlined into it; of a heap profile the contexts through it.",
     {"show"},
     {PROFILE,
      {"function", ARG_TEXT, "--function", true,
       "its name as the linker knows it; if there is none of this name, a regular expression"},
      BINARIES,
      AS_JSON}},
    {"advice",
     "What to change",
     "What a heap profile says about the program: leaks, unused or short-lived objects, objects "
     "that are too large, each with the contexts concerned. For samples and counters use match.",
     {"show", "--advice"},
     {PROFILE, BINARIES, TOP("contexts of each piece of advice")}},
    {"diff",
     "What changed",
     "Compares two profiles of a kind: what grew, shrank, is new or gone.",
     {"diff"},
     {{"before", ARG_FILE, NULL, true, "path of the older profile"},
      {"now", ARG_FILE, NULL, true, "path of the newer profile"},
      {"binaries", ARG_FILES, "--binary", false,
       "paths of the profiled programs, the older one first; give both if the source changed"},
      TOP("contexts or functions"),
      AS_JSON}},
    {"match",
     "Does a profile fit a build?",
     "How much of a profile applies to a build, and what does not and why: whether it is stale.",
     {"match"},
     {PROFILE,
      {"binaries", ARG_FILES, "--binary", true, "paths of the build that is to use the profile"},
      TOP("places that do not fit"),
      AS_JSON}},
    {"history",
     "Profiles over time",
     "The course of the profiles in a history (pgokit history): bytes or counts, gain, match rate, "
     "and which functions moved most.",
     {"history", "show"},
     {{"folder", ARG_FILE, NULL, true, "the folder of the history"},
      {"since", ARG_TEXT, "--since", false, "a date such as 2026-11-27, or 30d for 30 days ago"},
      TOP("functions"),
      AS_JSON}},
};
enum { TOOLS = sizeof tools / sizeof *tools };

/* The last argument of each of them. */
static const struct arg cursor_arg = {
    "cursor", ARG_TEXT, NULL, false,
    "from the last line of an answer that was cut, with the same other arguments: goes on there"};

const struct mcp_tool *mcp_tool_find(const char *name)
{
    for (size_t i = 0; i < TOOLS; i++)
        if (!strcmp(name, tools[i].name))
            return &tools[i];
    return NULL;
}

/* Argument `i`, the cursor last; NULL after it. */
static const struct arg *arg_at(const struct mcp_tool *tool, size_t i)
{
    size_t n = 0;
    while (n < ARGS && tool->args[n].name)
        n++;
    return i < n ? &tool->args[i] : i == n ? &cursor_arg : NULL;
}

/* ---- what clients are shown ---- */

static json_t *schema_of(const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_FILES:
        return json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "string",
                         "description", arg->about);
    case ARG_NUMBER:
        return json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 0, "description",
                         arg->about);
    case ARG_FLAG:
        return json_pack("{s:s, s:s}", "type", "boolean", "description", arg->about);
    case ARG_FILE:
    case ARG_TEXT:
        break;
    }
    return json_pack("{s:s, s:s}", "type", "string", "description", arg->about);
}

/* All only read, and answer the same while the files are the same. */
static json_t *tool_json(const struct mcp_tool *tool)
{
    json_t *properties = json_object(), *needed = json_array();
    const struct arg *arg;
    for (size_t i = 0; (arg = arg_at(tool, i)); i++) {
        json_object_set_new(properties, arg->name, schema_of(arg));
        if (arg->needed)
            json_array_append_new(needed, json_string(arg->name));
    }
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:b, s:b}}", "name", tool->name,
                     "title", tool->title, "description", tool->about, "inputSchema", "type",
                     "object", "properties", properties, "required", needed, "additionalProperties",
                     0, "annotations", "readOnlyHint", 1, "openWorldHint", 0);
}

json_t *mcp_tools_json(void)
{
    json_t *all = json_array();
    for (size_t i = 0; i < TOOLS; i++)
        json_array_append_new(all, tool_json(&tools[i]));
    return all;
}

/* ---- what they ask for ---- */

struct call {
    const struct mcp_server *server;
    struct mcp_command *command;
    char *why;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct call *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(c->why, c->size, fmt, args);
    va_end(args);
    return false;
}

void mcp_command_free(struct mcp_command *command)
{
    for (size_t i = 0; i < command->n_made; i++)
        free(command->made[i]);
    *command = (struct mcp_command){0};
}

static bool add_word(struct call *c, const char *word)
{
    if (c->command->n == MCP_WORDS)
        return refuse(c, "more than %d words in a call: name fewer files", MCP_WORDS);
    c->command->v[c->command->n++] = word;
    return true;
}

/* Takes the word, NULL if memory is out. */
static bool add_made(struct call *c, char *word)
{
    if (!word)
        return refuse(c, "out of memory");
    if (!add_word(c, word)) {
        free(word);
        return false;
    }
    c->command->made[c->command->n_made++] = word;
    return true;
}

__attribute__((format(printf, 2, 3))) static bool add_formatted(struct call *c, const char *fmt,
                                                                ...)
{
    char *word = NULL;
    va_list args;
    va_start(args, fmt);
    const int n = vasprintf(&word, fmt, args);
    va_end(args);
    return add_made(c, n < 0 ? NULL : word);
}

static bool add_file(struct call *c, const struct arg *arg, const char *name)
{
    char why[512] = "";
    char *path = c->server->path(c->server->ctx, name, why, sizeof why);
    if (!path)
        return refuse(c, "\"%s\": %s", arg->name, why);
    return (!arg->option || add_word(c, arg->option)) ? add_made(c, path) : (free(path), false);
}

static bool add_files(struct call *c, const struct arg *arg, const json_t *value)
{
    size_t i;
    const json_t *each;
    json_array_foreach(value, i, each)
    {
        if (!json_is_string(each))
            return refuse(c, "\"%s\" takes an array of texts, which are paths", arg->name);
        if (!add_file(c, arg, json_string_value(each)))
            return false;
    }
    return true;
}

static bool add_arg(struct call *c, const struct arg *arg, const json_t *value)
{
    switch (arg->kind) {
    case ARG_FILE:
        if (!json_is_string(value))
            return refuse(c, "\"%s\" takes a text, which is a path", arg->name);
        return add_file(c, arg, json_string_value(value));
    case ARG_FILES:
        if (!json_is_array(value))
            return refuse(c, "\"%s\" takes an array of texts, which are paths", arg->name);
        return add_files(c, arg, value);
    case ARG_TEXT:
        if (!json_is_string(value))
            return refuse(c, "\"%s\" takes a text", arg->name);
        return add_formatted(c, "%s=%s", arg->option, json_string_value(value));
    case ARG_NUMBER:
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return refuse(c, "\"%s\" takes a whole number, 0 or more", arg->name);
        return add_formatted(c, "%s=%lld", arg->option, (long long)json_integer_value(value));
    case ARG_FLAG:
        if (!json_is_boolean(value))
            return refuse(c, "\"%s\" takes true or false", arg->name);
        break;
    }
    return !json_is_true(value) || add_word(c, arg->option);
}

/* Names that no argument has are refused: what was meant by them would be missed. */
static bool knows_all(struct call *c, const struct mcp_tool *tool, const json_t *arguments)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
    {
        const struct arg *arg;
        size_t i = 0;
        while ((arg = arg_at(tool, i)) && strcmp(arg->name, name))
            i++;
        if (!arg)
            return refuse(c, "%s takes no argument \"%.64s\"", tool->name, name);
    }
    return true;
}

/* Options before operands: `--` stands between, since files may have any name. */
static bool add_args(struct call *c, const struct mcp_tool *tool, const json_t *arguments,
                     bool operands)
{
    const struct arg *arg;
    for (size_t i = 0; (arg = arg_at(tool, i)) != &cursor_arg; i++) {
        const json_t *value = json_object_get(arguments, arg->name);
        if (!arg->option != operands)
            continue;
        if ((!value || json_is_null(value)) && arg->needed)
            return refuse(c, "\"%s\" is missing: %s", arg->name, arg->about);
        if (value && !json_is_null(value) && !add_arg(c, arg, value))
            return false;
    }
    return true;
}

bool mcp_tool_command(const struct mcp_server *server, const struct mcp_tool *tool,
                      const json_t *arguments, struct mcp_command *command, const char **cursor,
                      char *why, size_t size)
{
    struct call c = {server, command, why, size};
    const json_t *given = json_object_get(arguments, cursor_arg.name);
    *command = (struct mcp_command){0};
    *cursor = NULL;
    if (!knows_all(&c, tool, arguments))
        return false;
    if (given && !json_is_null(given) && !(*cursor = json_string_value(given)))
        return refuse(&c, "\"cursor\" takes a text");
    for (size_t i = 0; i < WORDS && tool->words[i]; i++)
        if (!add_word(&c, tool->words[i]))
            return false;
    return add_args(&c, tool, arguments, false) && add_word(&c, "--") &&
           add_args(&c, tool, arguments, true);
}
