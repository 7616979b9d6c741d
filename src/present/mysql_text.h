/* mysql_text.h - the section on what a MySQL or MariaDB server says of itself. */
#ifndef STRATA_PRESENT_MYSQL_TEXT_H
#define STRATA_PRESENT_MYSQL_TEXT_H

#include "model/snapshot.h"
#include "present/page.h"

/* Prints nothing when the target has no such server that was asked. */
void mysql_text(struct page *page, const struct snapshot *snapshot);

#endif
