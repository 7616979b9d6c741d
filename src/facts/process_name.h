/* process_name.h - what a process is called: its program file, its title. */
#ifndef STRATA_FACTS_PROCESS_NAME_H
#define STRATA_FACTS_PROCESS_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/region.h"
#include "facts/process_folder.h"

/*
 * The program or title in the text of /proc/PID/cmdline: the first argument, or for a text
 * like "php-fpm: pool www" the whole, but never from the first option on, since
 * arguments may hold secrets. Returns the length of it, which starts at text.
 */
size_t process_title_bytes(const char *text, size_t bytes);

/*
 * *title becomes a copy of it, NULL when there is none (zombie, kernel thread) or it cannot
 * be read. 0, -ESRCH or -ENOMEM.
 */
int process_title_read(
    struct process_folder *folder, struct region *region, char **title);

/* *path: the program file, NULL when unreadable; *deleted: it was replaced or removed. */
int process_executable_read(
    struct process_folder *folder, struct region *region, char **path, bool *deleted);

/* Behind the last '/' of path; path itself without one. */
const char *process_path_base(const char *path);

#endif
