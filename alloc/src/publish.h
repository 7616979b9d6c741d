/*
 * All figures at once, into a region that is new.
 */
#ifndef STRATA_PUBLISH_H
#define STRATA_PUBLISH_H

/* With no lock of the classes, large blocks, units and descriptors held. */
void strata__publish_all(void);

#endif
