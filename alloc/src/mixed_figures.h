/* The figures of the mixed units: shown, and compared with a recount. */
#ifndef STRATA_MIXED_FIGURES_H
#define STRATA_MIXED_FIGURES_H

/* Under the lock, when something has changed; of `class`, or only what they share when it is
 * STRATA__BLOCK_CLASSES. */
void strata__mixed_show(unsigned class);
/* Writes all figures to the region; whatever changes them does it itself. */
void strata__mixed_publish(void);
/* Recounts; a difference is fatal. */
void strata__mixed_check(void);

#endif
