/* Runs a program without system calls that the runtime would like to have.
 *
 * usage: confined no-create | old-kernel PROGRAM [ARGUMENT...] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE(number, error)                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),   \
        RETURN(SECCOMP_RET_ERRNO | (error))

/* Files can be opened but not made. */
static struct sock_filter no_create[] = {
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
    LOAD(args[2]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1),
    RETURN(SECCOMP_RET_ERRNO | EPERM),
    RETURN(SECCOMP_RET_ALLOW),
};

static struct sock_filter old_kernel[] = {
    LOAD(nr),
    REFUSE(SYS_membarrier, ENOSYS),
    REFUSE(SYS_fallocate, EOPNOTSUPP),
    REFUSE(SYS_madvise, EINVAL),
    REFUSE(SYS_rseq, ENOSYS),
    REFUSE(SYS_mincore, ENOSYS),
    RETURN(SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
    struct sock_fprog program = {sizeof no_create / sizeof *no_create, no_create};
    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "old-kernel"))
        program = (struct sock_fprog){sizeof old_kernel / sizeof *old_kernel, old_kernel};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
