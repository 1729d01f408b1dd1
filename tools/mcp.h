/* pgokit mcp: what its parts share. The protocol, the tools and the pages know nothing of processes
 * and files but what `view` and `path` below do, so that the fuzz target runs them alone. */
#ifndef PGK_MCP_H
#define PGK_MCP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of the answer with its newline, whatever is in it. */
enum { MCP_ANSWER_MAX_BYTES = 8192 };
/* A line of a client: paths and the name of a function. */
enum { MCP_MESSAGE_MAX_BYTES = 1 << 20 };

/* What a verb printed. */
struct mcp_view {
    char *text; /* any bytes, to be freed */
    size_t n;
    bool failed;
};

/* What a tool call becomes: the command line of a verb. */
struct mcp_command {
    enum { MCP_WORDS = 160 } most;
    const char *v[MCP_WORDS + 1]; /* ends with NULL; those of `made` are freed with it */
    size_t n;
    char *made[MCP_WORDS];
    size_t n_made;
};
void mcp_command_free(struct mcp_command *command);

struct mcp_server {
    /* Runs the verb of v[0] and gives what it printed. */
    void (*view)(void *ctx, const struct mcp_command *command, struct mcp_view *view);
    /* The file that a client names, as verbs are to be given it: to be freed. NULL with a sentence
     * in `why` if it is not below the folders of the server, or there is none. */
    char *(*path)(void *ctx, const char *name, char *why, size_t size);
    void *ctx;
};

/* The answer to a line of a client, without a newline: to be freed by `free`. NULL: none is due, as
 * for notifications, or memory is out. */
char *mcp_answer(const struct mcp_server *server, const char *line, size_t n);
/* The answer to a line of more than MCP_MESSAGE_MAX_BYTES. */
char *mcp_answer_too_long(void);

/* ---- tools ---- */

struct mcp_tool;
/* NULL: there is none of this name. */
const struct mcp_tool *mcp_tool_find(const char *name);
json_t *mcp_tools_json(void); /* an array; NULL: out of memory */
/* The command line; false with a sentence in `why` that a client can act upon. Frees nothing: the
 * command is freed in both cases. *cursor is NULL if none is given. */
bool mcp_tool_command(const struct mcp_server *server, const struct mcp_tool *tool,
                      const json_t *arguments, struct mcp_command *command, const char **cursor,
                      char *why, size_t size);

/* ---- pages ---- */

/* The part of a view that `cursor`, which may be NULL, asks for, and that takes at most
 * `most_bytes` in JSON with the line that says where it ends: to be freed. *next is the cursor of
 * what follows,
 * "" if nothing does. NULL with a sentence in `why` if the cursor is none of this view. */
enum { MCP_CURSOR_SIZE = 40 };
char *mcp_page(const struct mcp_view *view, const char *cursor, size_t most_bytes,
               char next[MCP_CURSOR_SIZE], char *why, size_t size);

#endif
