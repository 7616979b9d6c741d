/*
 * budget.c - one number divided exactly, a second one along with it.
 *
 * The kernel gives Pss for a whole mapping only. Its division follows that of Rss: the
 * pages of a mapping are taken to be shared evenly. Rounding goes to the last taker.
 */
#include "model/budget.h"

#include "base/number.h"

struct budget budget_of(uint64_t rss_bytes, uint64_t pss_bytes)
{
    return (struct budget){
        .rss_bytes = rss_bytes,
        .pss_bytes = pss_bytes,
        .pss_per_rss = rss_bytes > 0 ? (double)pss_bytes / (double)rss_bytes : 0.0,
    };
}

uint64_t budget_take(struct budget *budget, uint64_t bytes, uint64_t *pss_bytes)
{
    bytes = number_smaller(bytes, budget->rss_bytes);
    budget->rss_bytes -= bytes;
    *pss_bytes = budget->rss_bytes == 0
                     ? budget->pss_bytes
                     : number_smaller((uint64_t)((double)bytes * budget->pss_per_rss),
                           budget->pss_bytes);
    budget->pss_bytes -= *pss_bytes;
    return bytes;
}
