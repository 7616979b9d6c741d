/*
 * rules.c - the texts of the table of rules, as a list or one in full.
 *
 * The table is handed over and not taken from findings, so that its renderer can be tested
 * with two rules of its own. Texts of rules are ours; they are still shown through page,
 * which wraps them.
 */
#include "present/rules.h"

#include "base/json_writer.h"
#include "present/json_parts.h"
#include "present/page.h"
#include "present/safe_text.h"

enum { TITLE_GAP = 2, LABEL_COLUMN = 12, JSON_INDENT = 2 };

static int widest_id(const struct rule *rules)
{
    int widest = 0;

    for (; rules->id != NULL; rules++) {
        int columns = safe_text_columns(rules->id, true);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

void present_rules_text(
    const struct rule *rules, const struct present_style *style, struct buffer *buffer)
{
    int column = widest_id(rules) + TITLE_GAP;
    struct page page;

    page_init(&page, style, buffer);
    for (; rules->id != NULL; rules++) {
        page_put(&page, INK_STRONG, rules->id);
        page_at(&page, column);
        page_paragraph(&page, INK_PLAIN, rules->title, column);
    }
}

static void labelled(struct page *page, const char *label, const char *text)
{
    if (text == NULL) {
        return;
    }
    page_end_line(page);
    page_put(page, INK_DIM, label);
    page_at(page, LABEL_COLUMN);
    page_paragraph(page, INK_PLAIN, text, LABEL_COLUMN);
}

void present_rule_text(
    const struct rule *rule, const struct present_style *style, struct buffer *buffer)
{
    struct page page;

    page_init(&page, style, buffer);
    page_put(&page, INK_STRONG, rule->id);
    page_put(&page, INK_PLAIN, ":");
    page_paragraph(&page, INK_PLAIN, rule->title, TITLE_GAP);
    labelled(&page, "speaks", rule->threshold);
    labelled(&page, "needs", rule->needs);
    labelled(&page, "evidence", rule->evidence);
    labelled(&page, "change", rule->fix);
    labelled(&page, "price", rule->price);
    labelled(&page, "why", rule->text);
}

static void write_rule(struct json_writer *json, const struct rule *rule)
{
    json_object_begin(json);
    json_text(json, "id", rule->id);
    json_text(json, "title", rule->title);
    json_text(json, "threshold", rule->threshold);
    json_text(json, "needs", rule->needs);
    json_text(json, "evidence", rule->evidence);
    json_text(json, "fix", rule->fix);
    json_optional_text(json, "price", rule->price);
    json_text(json, "text", rule->text);
    json_object_end(json);
}

void present_rule_json(const struct rule *rule, struct buffer *buffer)
{
    struct json_writer json;

    json_writer_init(&json, buffer, JSON_INDENT);
    write_rule(&json, rule);
    buffer_append_char(buffer, '\n');
}

void present_rules_json(const struct rule *rules, struct buffer *buffer)
{
    struct json_writer json;

    json_writer_init(&json, buffer, JSON_INDENT);
    json_array_begin(&json);
    for (; rules->id != NULL; rules++) {
        write_rule(&json, rules);
    }
    json_array_end(&json);
    buffer_append_char(buffer, '\n');
}
