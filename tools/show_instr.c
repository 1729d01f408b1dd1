/* pgokit show for instrumentation profiles. */
#include "cli.h"
const struct cli_action show_instr = {PGK_KIND_INSTR, "", "", NULL, NULL};
