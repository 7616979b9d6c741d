/*
 * check.c - bounds that no measurement can pass, and what spoils one.
 *
 * Little's law, L = X R. A blocking worker holds one request, so X <= workers / R with R
 * the least time a request takes: 20 workers and a query of 50 ms cannot pass 400 a second. In
 * a closed loop all connections are busy, so X times the mean latency is their number; a
 * result far from that was counted wrongly; of our own generator only, since wrk adds the
 * latencies that it takes to be missing (stats_correct()) and ab tells no mean. The margins are
 * for a run's edges.
 */
#include "trial/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/quantity.h"

static const double bound_margin = 1.02;
static const double loop_margin = 1.15;
static const double errors_most = 0.001;
static const double steal_most = 0.02;
static const double saturated_share = 0.90;
static const double rate_reached = 0.98;

__attribute__((format(printf, 2, 3))) static void add(
    struct check_reasons *reasons, const char *format, ...)
{
    va_list arguments;

    if (reasons->count < CHECK_MAX_REASONS) {
        va_start(arguments, format);
        (void)vsnprintf(
            reasons->text[reasons->count++], CHECK_REASON_BYTES, format, arguments);
        va_end(arguments);
    }
}

double check_rate_bound(const struct check_input *input)
{
    if (!input->blocking || input->service_seconds <= 0) {
        return 0;
    }
    return (double)input->workers / input->service_seconds;
}

static void check_answers(const struct load_result *load, struct check_reasons *reasons)
{
    const uint64_t wrong = load->bad_status + load->bad_body + load->failed;
    const uint64_t all = load->requests + wrong;

    if (!load->complete) {
        add(reasons, "the load did not end as it should: %s", load->why);
    }
    if (load->complete && load->requests == 0) {
        add(reasons, "not one request was answered");
    }
    if ((double)wrong > errors_most * (double)all) {
        add(reasons, "%llu of %s %s wrong: %llu by status, %llu by body, %llu failed",
            (unsigned long long)wrong, quantity_count(all, "answer").text,
            quantity_form(wrong, "was", "were"), (unsigned long long)load->bad_status,
            (unsigned long long)load->bad_body, (unsigned long long)load->failed);
    }
}

static void check_little(const struct check_input *input, struct check_reasons *reasons)
{
    const struct load_result *load = input->load;
    const double bound = check_rate_bound(input);
    const double busy = load->rate * load->mean_us / 1e6;

    if (bound > 0 && load->rate > bound * bound_margin) {
        add(reasons,
            "%.0f requests a second are impossible: %s with %.0f ms for each request %s "
            "at most %.0f",
            load->rate, quantity_count(input->workers, "blocking worker").text,
            input->service_seconds * 1000,
            quantity_form(input->workers, "serves", "serve"), bound);
    }
    if (load->tool == LOAD_OWN && input->wanted_rate <= 0 && load->mean_us > 0 &&
        busy > (double)input->connections * loop_margin) {
        add(reasons, "rate times latency is %.0f requests at once, on %s", busy,
            quantity_count(input->connections, "connection").text);
    }
}

static void check_generator(
    const struct check_input *input, struct check_reasons *reasons)
{
    const struct load_result *load = input->load;

    if (load->seconds > 0 && load->processor_seconds > saturated_share * load->seconds) {
        add(reasons,
            "the generator was busy %.0f %% of the time: it, and not the server, may be "
            "the limit",
            100 * load->processor_seconds / load->seconds);
    }
    if (input->wanted_rate > 0 && load->unsent > 0 &&
        (double)load->unsent > (1 - rate_reached) * input->wanted_rate * load->seconds) {
        add(reasons, "the generator could not send %s in time, busy on all of %s",
            quantity_count(load->unsent, "request").text,
            quantity_count(input->connections, "connection").text);
    }
}

static void check_machine(const struct check_input *input, struct check_reasons *reasons)
{
    const struct machine_counters *machine = &input->machine;
    const double all =
        (double)(machine->busy_ticks + machine->idle_ticks + machine->steal_ticks);

    if (machine->known && all > 0 && (double)machine->steal_ticks > steal_most * all) {
        add(reasons, "the host took %.0f %% of the processors away (steal)",
            100 * (double)machine->steal_ticks / all);
    }
    if (machine->swapped_pages > 0) {
        add(reasons, "the machine swapped %s",
            quantity_count(machine->swapped_pages, "page").text);
    }
    if (machine->throttled_known && machine->throttled > 0) {
        add(reasons, "the pool's cgroup was throttled in %s",
            quantity_count(machine->throttled, "period").text);
    }
}

void check_run(const struct check_input *input, struct check_reasons *reasons)
{
    *reasons = (struct check_reasons){0};
    if (input->service_lost != NULL) {
        add(reasons, "the '%s' ended during the run", input->service_lost);
    }
    if (input->workers_lost > 0 && input->recycled_after > 0) {
        add(reasons,
            "%s ended during the run, as pm.max_requests = %llu wants it: set it to 0 "
            "for the bench",
            quantity_count(input->workers_lost, "worker").text,
            (unsigned long long)input->recycled_after);
    } else if (input->workers_lost > 0) {
        add(reasons, "%s ended during the run",
            quantity_count(input->workers_lost, "worker").text);
    }
    check_answers(input->load, reasons);
    check_little(input, reasons);
    check_generator(input, reasons);
    check_machine(input, reasons);
}
