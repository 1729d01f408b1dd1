/* What qjs has for programs that it compiles into itself: nothing. */
#include <stdint.h>

const uint32_t qjsc_repl_size = 0, qjsc_qjscalc_size = 0;
const uint8_t qjsc_repl[1], qjsc_qjscalc[1];
