/* present.h - snapshot and findings as bytes for people and for machines. */
#ifndef STRATA_PRESENT_PRESENT_H
#define STRATA_PRESENT_PRESENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "findings/finding.h"
#include "model/snapshot.h"

struct present_style {
    bool color;
    bool utf8;        /* bars and rules may use box characters */
    bool exact_bytes; /* --bytes: integers instead of MiB with one decimal */
    int width;        /* columns of the terminal, 80 when unknown */
};

/* `strata explain`: the layers, the gap between each pair, the findings, what is missing. */
void present_explain_text(const struct snapshot *snapshot,
    const struct finding_list *list, const struct present_style *style,
    struct buffer *buffer);

/* The contract of docs/json.md (schema 1). */
void present_explain_json(const struct snapshot *snapshot,
    const struct finding_list *list, struct buffer *buffer);

/* One row of the overview of a host. */
struct overview_row {
    const struct snapshot *snapshot;
    const struct finding_list *list;
};

/* `strata`: one row each, largest first. */
void present_overview_text(const struct facts *host, const struct overview_row *rows,
    size_t count, const struct present_style *style, struct buffer *buffer);
void present_overview_json(const struct facts *host, const struct overview_row *rows,
    size_t count, struct buffer *buffer);

/* `strata rules`: the list, or one rule in full. */
void present_rules_text(const struct present_style *style, struct buffer *buffer);
void present_rule_text(
    const struct rule *rule, const struct present_style *style, struct buffer *buffer);
void present_rules_json(struct buffer *buffer);

/* Control characters of untrusted text replaced, so that it cannot steer a terminal. */
void present_safe_text(struct buffer *buffer, const char *text);

#endif
