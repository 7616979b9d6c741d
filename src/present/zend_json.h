/* zend_json.h - the heaps of PHP's memory manager and the pools of PHP-FPM as JSON. */
#ifndef STRATA_PRESENT_ZEND_JSON_H
#define STRATA_PRESENT_ZEND_JSON_H

#include "base/json_writer.h"
#include "facts_types/facts.h"

/* "zend_heaps": every heap of every member; "fpm_pools": when FPM is among them. */
void zend_json(struct json_writer *json, const struct facts *facts);

#endif
