/*
 * names_until_model.c - stand-ins for the tables of findings, weak, so that they give way
 * to the real ones. TODO(#2): goes when the rules are there.
 */
#include "findings/finding.h"

__attribute__((weak))
const char *const severity_names[SEVERITY_COUNT] = {"info", "warn", "critical"};
__attribute__((weak))
const char *const confidence_names[3] = {"measured", "likely", "rough"};
__attribute__((weak)) const struct rule rule_table[] = {{.id = NULL}};
