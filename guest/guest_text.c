/* Text without the C library: put together in a buffer, said on standard error. */
#include "guest_text.h"

#include "guest_sys.h"

#include <errno.h>

void pgg_text_init(struct pgg_text *t, char *buffer, size_t size)
{
    t->at = buffer;
    t->end = buffer + size - 1;
    *t->at = 0;
}

void pgg_text_str(struct pgg_text *t, const char *s)
{
    while (*s && t->at < t->end)
        *t->at++ = *s++;
    *t->at = 0;
}

void pgg_text_u64(struct pgg_text *t, u64 v)
{
    char digits[21], *p = digits + 20;
    *p = 0;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    pgg_text_str(t, p);
}

void pgg_text_hex(struct pgg_text *t, u64 v)
{
    char digits[17], *p = digits + 16;
    *p = 0;
    do
        *--p = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    pgg_text_str(t, p);
}

void pgg_say(const char *who, const char *a, const char *b)
{
    char line[1600];
    struct pgg_text t;
    pgg_text_init(&t, line, sizeof line - 1);
    pgg_text_str(&t, who);
    pgg_text_str(&t, ": ");
    pgg_text_str(&t, a);
    if (b) {
        pgg_text_str(&t, ": ");
        pgg_text_str(&t, b);
    }
    *t.at++ = '\n';
    pgg_sys_write_all(2, line, (size_t)(t.at - line));
}

const char *pgg_errno_name(long err)
{
    switch (-err) {
    case EACCES: return "permission denied";
    case EPERM: return "operation not permitted";
    case ENOENT: return "no such file or directory";
    case ENOTDIR: return "not a directory";
    case EROFS: return "read-only file system";
    case ENOSPC: return "no space left on the device";
    case EDQUOT: return "disk quota exceeded";
    case EFBIG: return "file size limit reached";
    case ENOMEM: return "out of memory";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "the name is too long";
    case EISDIR: return "it is a directory";
    case EXDEV: return "the process has another root directory now (chroot)";
    case ELOOP: return "it is a symbolic link";
    case EEXIST: return "it exists and is not a regular file";
    default: return "refused by the system";
    }
}
