/* own_folder.h - where the program lies, for what is installed beside it. */
#ifndef STRATA_CMD_OWN_FOLDER_H
#define STRATA_CMD_OWN_FOLDER_H

#include <stddef.h>

/* The tool's own folder, without a slash at the end; "" when it cannot be told. */
void own_folder(char *folder, size_t bytes);

#endif
