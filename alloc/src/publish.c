/*
 * Each owner of figures writes its own group, under its own lock, whenever they change;
 * here they are only asked to do it all together, at the start and in the child of a fork.
 */
#include "publish.h"

#include "blockclass.h"
#include "central_figures.h"
#include "large_books.h"
#include "limit.h"
#include "metadata.h"
#include "mixed_figures.h"
#include "region.h"
#include "tag_records.h"
#include "units.h"

void strata__publish_all(void)
{
    if (!strata__region_is_open()) {
        return;
    }
    strata__shared.region.class_count = STRATA__BLOCK_CLASSES;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__central_publish(i);
    }
    strata__tags_publish();
    strata__mixed_publish();
    strata__large_publish();
    strata__units_publish();
    strata__metadata_publish();
    strata__limit_publish();
}
