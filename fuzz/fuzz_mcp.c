/* Messages of a client of pgokit mcp, one a line, and what verbs print: the input itself. Answers
 * are JSON on a line that is not too long, and pages put together are the whole text. */
#include "mcp.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const char *text;
    size_t n;
};

static void view(void *ctx, const struct mcp_command *command, struct mcp_view *v)
{
    const struct input *in = ctx;
    if (!command->v[0] || command->v[command->n])
        abort();
    v->text = malloc(in->n + 1);
    if (!v->text)
        return;
    memcpy(v->text, in->text, in->n);
    v->n = in->n;
    v->failed = in->n & 1;
}

static char *path(void *ctx, const char *name, char *why, size_t size)
{
    (void)ctx;
    if (*name == '/' && size)
        *why = '\0';
    return *name == '/' ? NULL : strdup(name);
}

static void check_answer(char *answer)
{
    const size_t n = answer ? strlen(answer) : 0;
    if (n >= MCP_ANSWER_MAX_BYTES || (n && memchr(answer, '\n', n)))
        abort();
    if (answer) {
        json_t *message = json_loads(answer, 0, NULL);
        if (!json_is_string(json_object_get(message, "jsonrpc")) ||
            !json_object_get(message, "id") ||
            (!json_is_object(json_object_get(message, "result")) &&
             !json_is_object(json_object_get(message, "error"))))
            abort();
        json_decref(message);
    }
    free(answer);
}

/* Every page ends, and the cursors go through all of the text. */
static void check_pages(const struct input *in)
{
    enum { MOST = 600, LOOKED_AT = 4096 }; /* each page takes as long as all of the text */
    const size_t n = in->n < LOOKED_AT ? in->n : LOOKED_AT;
    char next[MCP_CURSOR_SIZE] = "", why[256], cursor[MCP_CURSOR_SIZE];
    const struct mcp_view v = {(char *)(uintptr_t)in->text, n, false};
    size_t pages = 0;
    do {
        strcpy(cursor, next);
        char *page = mcp_page(&v, *cursor ? cursor : NULL, MOST, next, why, sizeof why);
        if (!page || (*next && !strcmp(cursor, next)) || ++pages > n + 1)
            abort();
        json_t *text = json_string(page);
        char *quoted = json_dumps(text, JSON_ENCODE_ANY);
        if (!quoted || strlen(quoted) > MOST + 2)
            abort();
        free(quoted);
        json_decref(text);
        free(page);
    } while (*next);
    char *none = mcp_page(&v, in->n ? in->text : "", MOST, next, why, sizeof why);
    free(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct input in = {text, size};
    const struct mcp_server server = {view, path, &in};
    for (size_t at = 0, n; at <= size; at += n + 1) {
        const char *end = memchr(text + at, '\n', size - at);
        n = end ? (size_t)(end - text) - at : size - at;
        check_answer(mcp_answer(&server, text + at, n));
    }
    check_pages(&in);
    free(text);
    return 0;
}
