/*
 * growth.c - leak or plateau.
 *
 * Where requests are counted they decide, since a busy hour grows more than a quiet one
 * without any leak; time decides where nobody counts. What is growing is told by the layers of
 * two captures, so the finding says how to look there.
 */
#include "findings/growth.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"

enum {
    SECONDS_PER_MINUTE = 60,
    SECONDS_PER_HOUR = 3600,
    SECONDS_PER_DAY = 86400,
    PER_REQUESTS = 1000,
    FORESEEN_TIMES = 10, /* of what was seen: a limit beyond is no reason for alarm */
};

#define NS_PER_MS INT64_C(1000000)

/* The growth that decides. */
static const struct growth *deciding(const struct course *course)
{
    const enum growth_verdict verdict = course->by_requests.verdict;

    return verdict != GROWTH_UNCLEAR && verdict != GROWTH_SHORT ? &course->by_requests
                                                                : &course->by_time;
}

/* A pace is told for a time that was seen, and for no longer one. */
struct pace {
    const char *name; /* of the evidence */
    const char *unit;
    uint64_t seconds;
};

static struct pace pace_of(const struct course *course)
{
    return course->span_seconds >= SECONDS_PER_HOUR
               ? (struct pace){"per_hour", "an hour", SECONDS_PER_HOUR}
               : (struct pace){"per_minute", "a minute", SECONDS_PER_MINUTE};
}

static uint64_t whole(double bytes)
{
    return bytes <= 0 || !isfinite(bytes) ? 0
           : bytes >= 9e18                ? (uint64_t)9e18
                                          : (uint64_t)bytes;
}

static void add_evidence(const struct course *course, struct finding *finding)
{
    const struct growth *growth = deciding(course);
    const struct pace pace = pace_of(course);

    finding_add_bytes(finding, "first", whole(growth->first_bytes));
    finding_add_bytes(finding, "last", whole(growth->last_bytes));
    finding_add_count(finding, "seconds", course->span_seconds);
    finding_add_bytes(
        finding, pace.name, whole(course->by_time.slope * (double)pace.seconds));
    if (course->by_requests.points > 0) {
        finding_add_count(finding, "requests", whole(course->by_requests.span));
        finding_add_bytes(finding, "per_thousand_requests",
            whole(course->by_requests.slope * PER_REQUESTS));
    }
}

/* Until the limit is met at this pace; 0: never, or no limit. */
static uint64_t seconds_left(const struct course *course)
{
    const double slope = course->by_time.slope;

    if (course->limit_bytes <= course->last_bytes || slope <= 0) {
        return 0;
    }
    return whole((double)(course->limit_bytes - course->last_bytes) / slope);
}

/* What a shell takes as one word, whatever is in it. */
static void append_word(struct buffer *buffer, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./:@%+=-";

    if (*text != '\0' && text[strspn(text, plain)] == '\0') {
        buffer_append_text(buffer, text);
        return;
    }
    buffer_append_text(buffer, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buffer_append_text(buffer, "'\\''");
        } else {
            buffer_printf(buffer, "%c", *text);
        }
    }
    buffer_append_text(buffer, "'");
}

static void append_look(const struct course *course, int64_t at_ms, struct buffer *buffer)
{
    buffer_append_text(buffer, "\nstrata explain ");
    append_word(buffer, course->file);
    buffer_append_text(buffer, " ");
    append_word(buffer, course->target);
    buffer_printf(buffer, " --at %s", quantity_time(at_ms * NS_PER_MS).text);
}

/* The commands that show the layers at the start and at the end. NULL: memory is short. */
static const char *where_to_look(const struct course *course, struct finding_list *list)
{
    const char *text = NULL;
    struct buffer buffer;

    buffer_init(&buffer);
    buffer_append_text(&buffer,
        "# which layer grows? in use: the program keeps more and more;\n"
        "# free in the allocator: fragmentation, see glibc-retained");
    append_look(course, course->first_ms, &buffer);
    append_look(course, course->last_ms, &buffer);
    if (buffer_error(&buffer) == 0) {
        text = finding_printf(list, "%s", buffer_text(&buffer));
    }
    buffer_release(&buffer);
    list->failed = list->failed || text == NULL;
    return text;
}

int rule_growth_leak(const struct course *course, struct finding_list *list)
{
    const uint64_t left = seconds_left(course);
    struct finding finding = {
        .pid = course->pid, .subject = course->subject, .severity = SEVERITY_WARN};
    const struct pace unit = pace_of(course);
    const char *pace;

    if (deciding(course)->verdict != GROWTH_LEAK) {
        return 0;
    }
    pace = finding_printf(list, "%s %s",
        quantity_bytes(whole(course->by_time.slope * (double)unit.seconds), false).text,
        unit.unit);
    if (deciding(course) == &course->by_requests) {
        pace = finding_printf(list, "%s for a thousand requests",
            quantity_bytes(whole(course->by_requests.slope * PER_REQUESTS), false).text);
    }
    finding.summary = finding_printf(list,
        "resident memory of %s grew from %s to %s (medians of the first and the last "
        "tenth), in the second half as fast as in the first: %s",
        course->name, quantity_bytes(whole(deciding(course)->first_bytes), false).text,
        quantity_bytes(whole(deciding(course)->last_bytes), false).text,
        pace != NULL ? pace : "");
    add_evidence(course, &finding);
    if (left > 0) {
        finding_add_count(&finding, "seconds_to_limit", left);
        finding.reasoning = finding_printf(list,
            "if it goes on as in the %s that were seen, the limit of %s is met in %s",
            quantity_seconds(course->span_seconds).text,
            quantity_bytes(course->limit_bytes, false).text, quantity_seconds(left).text);
        finding.severity =
            left < SECONDS_PER_DAY && left / FORESEEN_TIMES <= course->span_seconds
                ? SEVERITY_CRITICAL
                : SEVERITY_WARN;
    }
    finding.fix = where_to_look(course, list);
    finding.verify =
        "record again after the change: strata report NEW.db --compare OLD.db";
    return finding_push(list, &finding);
}

int rule_growth_plateau(const struct course *course, struct finding_list *list)
{
    const struct growth *growth = deciding(course);
    struct finding finding = {
        .pid = course->pid, .subject = course->subject, .severity = SEVERITY_INFO};

    if (growth->verdict != GROWTH_PLATEAU && growth->verdict != GROWTH_SLOWING) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "resident memory of %s grew from %s to %s (medians of the first and the last "
        "tenth) and %s: it warms up, this is no leak",
        course->name, quantity_bytes(whole(growth->first_bytes), false).text,
        quantity_bytes(whole(growth->last_bytes), false).text,
        growth->verdict == GROWTH_PLATEAU ? "has stopped" : "slows down");
    add_evidence(course, &finding);
    finding.fix = "# nothing: plan with the level that was reached";
    finding.verify = "record for twice as long: the level stays";
    return finding_push(list, &finding);
}
