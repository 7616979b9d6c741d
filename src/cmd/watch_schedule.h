/* watch_schedule.h - which rows of a watch are looked into, and when. The lock is held. */
#ifndef STRATA_CMD_WATCH_SCHEDULE_H
#define STRATA_CMD_WATCH_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/watch_state.h"

/* NULL: the row is not looked into. */
struct watch_entry *watch_entry_find(struct watch *watch, const char *key);
void watch_entry_free(struct watch_entry *entry);

bool watch_is_focus(const struct watch *watch, const char *key);

/* The place of the row with that key in the view, or the number of rows. */
size_t watch_place_of(const struct watch *watch, const char *key);

/* After a new view or another focus: entries of rows that went are freed, new rows get one. */
void watch_update_entries(struct watch *watch);

bool watch_entry_is_due(const struct watch *watch, const struct watch_entry *entry);

/* The entry to look into next: the focus when it is due, else the longest due; or NULL. */
struct watch_entry *watch_most_due(struct watch *watch);

/* Takes over what a look into a row gave, 0 and the look or -errno, and says when it is due again. */
void watch_store_look(
    struct watch *watch, const char *key, int rc, struct watch_look *look);

#endif
