/*
 * recording_time.c - times of day and dates in the user's own time zone.
 *
 * A time of day is looked for backwards from the end of the recording: who asks at noon for
 * 14:05 means yesterday.
 */
#include "cmd/recording_time.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/duration.h"

enum { MS_PER_SECOND = 1000, SECONDS_PER_MINUTE = 60 };

static bool parse_as(const char *text, const char *const formats[], struct tm *time,
    const char **rest, bool *has_seconds)
{
    for (size_t i = 0; formats[i] != NULL; i++) {
        struct tm parsed = *time;
        const char *end = strptime(text, formats[i], &parsed);
        if (end != NULL && (*end == '\0' || strcmp(end, "Z") == 0)) {
            *time = parsed;
            *rest = end;
            *has_seconds = strstr(formats[i], "%S") != NULL;
            return true;
        }
    }
    return false;
}

static int relative(const char *text, int64_t first_ms, int64_t last_ms, int64_t *at_ms)
{
    uint64_t distance;
    int rc = duration_parse(text + 1, &distance);

    if (rc != 0) {
        return rc;
    }
    if (distance > (uint64_t)(last_ms - first_ms)) {
        return -ERANGE;
    }
    *at_ms = *text == '-' ? last_ms - (int64_t)distance : first_ms + (int64_t)distance;
    return 0;
}

static int in_range(int64_t at_ms, int64_t slack_ms, int64_t first_ms, int64_t last_ms)
{
    return at_ms + slack_ms < first_ms || at_ms > last_ms + slack_ms ? -ERANGE : 0;
}

/* The last one at or before the end; the day before when it would be later. */
static int time_of_day(
    struct tm time, bool has_seconds, int64_t first_ms, int64_t last_ms, int64_t *at_ms)
{
    const time_t last = (time_t)(last_ms / MS_PER_SECOND);
    const int64_t slack_ms =
        (has_seconds ? INT64_C(1) : SECONDS_PER_MINUTE) * MS_PER_SECOND;
    struct tm day;

    if (localtime_r(&last, &day) == NULL) {
        return -EINVAL;
    }
    for (int back = 0; back < 2; back++) {
        struct tm candidate = day;
        candidate.tm_hour = time.tm_hour;
        candidate.tm_min = time.tm_min;
        candidate.tm_sec = time.tm_sec;
        candidate.tm_mday -= back;
        candidate.tm_isdst = -1;
        *at_ms = (int64_t)mktime(&candidate) * MS_PER_SECOND;
        if (*at_ms <= last_ms) {
            return in_range(*at_ms, slack_ms, first_ms, last_ms);
        }
    }
    return -ERANGE;
}

/* timegm() makes the 2nd of March out of the 30th of February. */
static bool is_date(struct tm time)
{
    const int day = time.tm_mday;

    (void)timegm(&time);
    return time.tm_mday == day;
}

int recording_time_parse(
    const char *text, int64_t first_ms, int64_t last_ms, int64_t *at_ms)
{
    static const char *const days[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", NULL};
    static const char *const hours[] = {"%H:%M:%S", "%H:%M", NULL};
    struct tm time = {.tm_isdst = -1};
    bool has_seconds;
    const char *rest;

    if (*text == '-' || *text == '+') {
        return relative(text, first_ms, last_ms, at_ms);
    }
    if (parse_as(text, hours, &time, &rest, &has_seconds) && *rest == '\0') {
        return time_of_day(time, has_seconds, first_ms, last_ms, at_ms);
    }
    if (!parse_as(text, days, &time, &rest, &has_seconds)) {
        return -EINVAL;
    }
    if (!is_date(time)) {
        return -EINVAL;
    }
    *at_ms = (int64_t)(*rest == 'Z' ? timegm(&time) : mktime(&time)) * MS_PER_SECOND;
    return in_range(*at_ms,
        (has_seconds ? INT64_C(1) : SECONDS_PER_MINUTE) * MS_PER_SECOND, first_ms,
        last_ms);
}
