/* Writing counters of gcc for a release of it. */
#include "output_gcov.h"

#include <stdio.h>

int gcov_output_release(struct pgk_gcov *gcov, const char *to, int *exit_code, struct pgk_err *err)
{
    size_t dropped = 0;
    char count[PGK_HUMAN_SIZE];
    int status = to ? pgk_gcov_set_release(gcov, to, &dropped, err) : 0;
    if (status || !dropped)
        return status;
    fprintf(stderr,
            "pgokit: warning: %s counters are not in the output: %s has none of their kind "
            "(conditions or paths)\n",
            pgk_human_count(count, dropped), to);
    *exit_code = EXIT_INCOMPLETE;
    return 0;
}
