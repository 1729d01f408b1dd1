/* Runs of pages of the range: for spans of slots, and for large objects. */
#ifndef PGSM_PAGES_H
#define PGSM_PAGES_H

#include "sampler_range.h"

#pragma GCC visibility push(hidden)

/* All pages of the range; notes are of so many bytes together. */
void pgsm_pages_open(u32 pages, u32 *entries, struct pgsm_note *notes, size_t notes_bytes);
/* A note that nobody has, zero; 0: there are no more. */
u32 pgsm_note_new(void);
u32 pgsm_notes_new(u32 n); /* the first of so many that follow one another; they stay */
void pgsm_note_drop(u32 note);
u64 pgsm_notes_bytes(void);
/* A run that begins at such an address, as a number of a note; *clean: it is all zeros. 0: there is
 * none. */
u32 pgsm_run_take(u32 pages, u32 align_pages, bool *clean);
void pgsm_run_give(u32 note);
bool pgsm_run_resize(u32 note, u32 pages); /* where it is */

#pragma GCC visibility pop
#endif
