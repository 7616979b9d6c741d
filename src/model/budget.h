/* budget.h - Rss that is being given away, and Pss with it in proportion. */
#ifndef STRATA_MODEL_BUDGET_H
#define STRATA_MODEL_BUDGET_H

#include <stdint.h>

/* pss_bytes is at most rss_bytes, and that at most AMOUNTS_MAX_BYTES (amounts.h). */
struct budget {
    uint64_t rss_bytes;
    uint64_t pss_bytes;
    double pss_per_rss;
};

struct budget budget_of(uint64_t rss_bytes, uint64_t pss_bytes);

/*
 * Takes at most bytes of Rss out of the budget and returns how many; *pss_bytes gets their
 * share of Pss. Who takes the last of Rss gets all of Pss that is left, so both
 * divisions are complete.
 */
uint64_t budget_take(struct budget *budget, uint64_t bytes, uint64_t *pss_bytes);

#endif
