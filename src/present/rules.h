/* rules.h - `strata rules`: what each finding means. */
#ifndef STRATA_PRESENT_RULES_H
#define STRATA_PRESENT_RULES_H

#include "base/buffer.h"
#include "findings/finding.h"
#include "present/style.h"

/*
 * rules ends with a row whose id is NULL. The list has one line for each; a single
 * rule is shown in full. Both JSON forms carry every text of the rule.
 */
void present_rules_text(
    const struct rule *rules, const struct present_style *style, struct buffer *buffer);
void present_rule_text(
    const struct rule *rule, const struct present_style *style, struct buffer *buffer);
void present_rules_json(const struct rule *rules, struct buffer *buffer);
void present_rule_json(const struct rule *rule, struct buffer *buffer);

#endif
