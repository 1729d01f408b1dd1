/* pgokit mcp: the folders that it was started with, and what it runs for a client. */
#ifndef PGK_MCP_FILES_H
#define PGK_MCP_FILES_H

#include "mcp.h"

struct mcp_folders {
    struct mcp_folder {
        char *path; /* real, absolute */
        int fd;
    } * v;
    size_t n;
    unsigned seconds; /* that a verb may take */
};

/* False with a sentence on standard error. */
bool mcp_folders_add(struct mcp_folders *folders, const char *path);
void mcp_folders_free(struct mcp_folders *folders);

/* As mcp_server has them; `ctx` is the folders. */
char *mcp_folders_path(void *ctx, const char *name, char *why, size_t size);
void mcp_folders_view(void *ctx, const struct mcp_command *command, struct mcp_view *view);

/* Prints the profiles and programs of `folder`, or of all folders if it is NULL: an EXIT_... */
int mcp_list(const struct mcp_folders *folders, const char *folder);

#endif
