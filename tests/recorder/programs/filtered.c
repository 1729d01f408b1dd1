/* Works, puts itself under a filter of system calls that kills where a timer is set, and works on.
 * The argument is the function that does so: prctl or syscall. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

static __attribute__((noinline)) unsigned long work(unsigned long h)
{
    for (unsigned long i = 0; i < 30000000; i++)
        h = h & 1 ? h * 3 + i : h / 2 + i * 7;
    return h;
}

int main(int argc, char **argv)
{
    printf("%lx\n", work(1));
    long failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (argc > 1 && !strcmp(argv[1], "syscall"))
        failed |= syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    else
        failed |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    if (failed)
        return 3;
    printf("%lx\n", work(2));
    return 0;
}
