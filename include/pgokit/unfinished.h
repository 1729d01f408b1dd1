/* Leaving no temporary files when the process is to end early. */
#ifndef PGOKIT_UNFINISHED_H
#define PGOKIT_UNFINISHED_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Deletes the temporary files of all outputs that are being written; what they were to replace
 * stays. For the handler of a signal that ends the process (it is async-signal-safe), of which
 * the library installs none; outputs cannot be completed afterwards. */
void pgk_unfinished_delete(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
