/* fuzz_prometheus.c - any bytes as an answer of Prometheus, and a plan from what it holds. */
#include <stdint.h>
#include <stdlib.h>

#include "facts/prometheus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct prometheus_answer answer;
    struct region region;
    struct error error;

    error_reset(&error);
    region_init(&region, 4 << 20);
    if (prometheus_parse(&region, (const char *)data, bytes, &answer, &error) == 0) {
        size_t points = 0;
        for (size_t i = 0; i < answer.count; i++) {
            points += answer.series[i].point_count;
        }
        if (points > answer.points || answer.count > PROMETHEUS_MAX_SERIES) {
            abort();
        }
    }
    region_release(&region);
    return 0;
}
