/* version.h - which strata this is. */
#ifndef STRATA_CMD_VERSION_H
#define STRATA_CMD_VERSION_H

/* "0.1.0" */
const char *version_text(void);

#endif
