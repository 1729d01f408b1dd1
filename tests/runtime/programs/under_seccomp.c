/* A child that runs under a filter of system calls, which allows all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &all};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    if (fork())
        return wait(NULL) < 0;
    free(malloc(10));
    return puts("on") < 0;
}
