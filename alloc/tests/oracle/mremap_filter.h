/*
 * Takes one accident out of the comparison: whether a huge block can grow in place.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_MREMAP_FILTER_H
#define STRATA_ALLOC_TESTS_ORACLE_MREMAP_FILTER_H

/*
 * From here on mremap() without flags (grow here or not at all) answers ENOMEM, in this
 * process and in all that it starts. Returns 0 or -errno.
 */
int mremap_filter_install(void);

#endif
