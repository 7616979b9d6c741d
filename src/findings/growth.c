/*
 * growth.c - leak or plateau.
 *
 * Where requests are counted they decide, since a busy hour grows more than a quiet one
 * without any leak; time decides where nobody counts. What is growing is told by the layers of
 * two captures, so the finding says how to look there.
 */
#include "findings/growth.h"

#include <math.h>

#include "base/quantity.h"
#include "findings/finding_writer.h"

enum {
    SECONDS_PER_MINUTE = 60,
    SECONDS_PER_HOUR = 3600,
    SECONDS_PER_DAY = 86400,
    PER_REQUESTS = 1000,
    FORESEEN_TIMES = 10, /* of what was seen: a limit beyond is no reason for alarm */
};

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

int rule_growth_leak(const struct course *course, struct finding_list *list)
{
    const uint64_t left = seconds_left(course);
    struct finding finding = {.pid = course->pid, .severity = SEVERITY_WARN};
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
        "resident memory of %s grew from %s to %s, in the second half as fast as in the "
        "first: %s",
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
    finding.fix = "# which layer grows? in use: the program keeps more and more;\n"
                  "# free in the allocator: fragmentation, see glibc-retained\n"
                  "strata explain FILE.db --at START; strata explain FILE.db --at END";
    finding.verify =
        "record again after the change: strata report NEW.db --compare OLD.db";
    return finding_push(list, &finding);
}

int rule_growth_plateau(const struct course *course, struct finding_list *list)
{
    const struct growth *growth = deciding(course);
    struct finding finding = {.pid = course->pid, .severity = SEVERITY_INFO};

    if (growth->verdict != GROWTH_PLATEAU && growth->verdict != GROWTH_SLOWING) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "resident memory of %s grew from %s to %s and %s: it warms up, this is no leak",
        course->name, quantity_bytes(whole(growth->first_bytes), false).text,
        quantity_bytes(whole(growth->last_bytes), false).text,
        growth->verdict == GROWTH_PLATEAU ? "has stopped" : "slows down");
    add_evidence(course, &finding);
    finding.fix = "# nothing: plan with the level that was reached";
    finding.verify = "record for twice as long: the level stays";
    return finding_push(list, &finding);
}
