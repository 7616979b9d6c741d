/*
 * plan_text.c - the division written out, so that each number can be checked by hand.
 *
 * Signs: what is taken off the limit carries a minus, so the column adds up. Amounts stand
 * in the column that all sections of all commands share.
 */
#include "cmd/plan_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"
#include "plan/plan_config.h"
#include "plan/plan_processors.h"
#include "present/page.h"

enum {
    EACH_END = 28,
    FIT_END = 40,
    NOW_END = 56,
    CONFIG_INDENT = 2,
    TEXT_INDENT = 2,
    LINE_BYTES = 320,
};

static const char *const case_titles[PLAN_CASE_COUNT] = {
    [PLAN_EXPECTED] = "expected",
    [PLAN_P95] = "95 % of moments",
    [PLAN_WORST] = "worst case",
};

static const char *amount(const struct page *page, uint64_t bytes, struct quantity *text)
{
    *text = quantity_bytes(bytes, page->style->exact_bytes);
    return text->text;
}

static void put_line(
    struct page *page, const char *sign, uint64_t bytes, const char *text)
{
    struct quantity size;
    char number[QUANTITY_TEXT_BYTES + 2];

    snprintf(number, sizeof(number), "%s%s", sign, amount(page, bytes, &size));
    page_amount(page, INK_PLAIN, number);
    page_at(page, page_text_column(page));
    page_paragraph(page, INK_DIM, text, page_text_column(page));
}

static void put_budget(
    struct page *page, const struct plan_input *input, const struct plan *plan)
{
    page_heading(page, "Budget");
    page_end_line(page);
    put_line(page, "", input->limit_bytes, input->limit_source);
    for (size_t i = 0; i < input->fixed_count; i++) {
        put_line(page, "-", input->fixed[i].bytes, input->fixed[i].title);
    }
    put_line(page, "", plan->budget_bytes, "for workers");
}

static void put_worst(struct page *page, const struct plan *plan)
{
    const uint64_t limit = plan->limit.set_bytes;
    struct quantity size;
    char text[LINE_BYTES];

    (void)snprintf(text, sizeof(text),
        "at a memory_limit of %s, beside what it holds outside the heap",
        amount(page, limit, &size));
    put_line(page, "", plan->worst_each_bytes,
        limit != 0 ? text : "taken as the worst: the largest seen, as no limit is known");
}

static void put_worker(
    struct page *page, const struct plan_input *input, const struct plan *plan)
{
    const struct distribution *each = &plan->each;
    struct quantity size;
    char text[LINE_BYTES];

    page_heading(
        page, input->samples_are_peaks
                  ? "One worker: its private peak, and page tables and stacks"
                  : "One worker: its private memory at a moment, and page tables "
                    "and stacks");
    page_end_line(page);
    put_line(page, "", (uint64_t)each->mean_bytes, "mean");
    put_line(page, "", each->median_bytes, "median");
    put_line(page, "", each->p95_bytes, "95th percentile");
    put_line(page, "", each->most_bytes, "largest");
    put_worst(page, plan);
    if (input->concurrency > 0) {
        (void)snprintf(text, sizeof(text),
            "the pool at its 95th percentile was %.2f times its mean",
            input->concurrency);
        page_paragraph(page, INK_DIM, text, page_text_column(page));
    }
    if (input->heap.hard_limit_bytes.state == FACT_OK) {
        (void)snprintf(text, sizeof(text),
            "a request past memory_limit ends with an error, beyond %s its worker ends",
            amount(page, input->heap.hard_limit_bytes.value, &size));
        page_paragraph(page, INK_DIM, text, TEXT_INDENT);
    }
}

static void put_cases(struct page *page, const struct plan_input *input,
    const struct plan *plan, enum plan_case_id planned)
{
    const uint64_t now =
        input->workers_allowed != 0 ? input->workers_allowed : input->workers_now;
    struct quantity size;
    char text[QUANTITY_TEXT_BYTES];
    char sentence[LINE_BYTES];

    page_heading(page, "Workers");
    page_right(page, INK_DIM, "each", EACH_END);
    page_right(page, INK_DIM, "fit", FIT_END);
    if (now != 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " would take", now);
        page_right(page, INK_DIM, text, NOW_END);
    }
    page_end_line(page);
    for (int id = 0; id < PLAN_CASE_COUNT; id++) {
        const struct plan_case *one = &plan->cases[id];
        const enum ink ink = id == (int)planned ? INK_STRONG : INK_PLAIN;
        page_at(page, TEXT_INDENT);
        page_put(page, ink, case_titles[id]);
        page_right(page, ink, amount(page, one->each_bytes, &size), EACH_END);
        snprintf(text, sizeof(text), "%" PRIu64, one->workers);
        page_right(page, ink, text, FIT_END);
        if (now != 0) {
            page_right(page, one->fits_now ? ink : INK_WARN,
                amount(page, one->need_now_bytes, &size), NOW_END);
            page_put(page, INK_WARN, one->fits_now ? "" : "  does not fit");
        }
        page_end_line(page);
    }
    if (now != 0 && plan->fixed_bytes > 0) {
        (void)snprintf(sentence, sizeof(sentence),
            "what %s would take includes %s that is there once (all with a minus "
            "above)",
            quantity_count(now, "worker").text, amount(page, plan->fixed_bytes, &size));
        page_paragraph(page, INK_DIM, sentence, TEXT_INDENT);
    }
    if (input->idle) {
        page_paragraph(page, INK_WARN,
            "these workers have hardly worked yet: plan again under load, or from a "
            "bench",
            TEXT_INDENT);
    }
    if (input->other_pools_children > 0) {
        (void)snprintf(sentence, sizeof(sentence),
            "the master may start %s of other pools: not in this budget",
            quantity_count(input->other_pools_children, "worker").text);
        page_paragraph(page, INK_WARN, sentence, TEXT_INDENT);
    }
}

/* Memory says how many fit; how many are of use, processors and waiting say. */
static void put_processors(struct page *page, const struct plan_input *input,
    const struct plan *plan, enum plan_case_id planned)
{
    const uint64_t fit = plan->cases[planned].workers;
    const uint64_t set = plan_workers_to_set(input, plan, planned);
    char text[LINE_BYTES];

    if (input->processors <= 0) {
        (void)snprintf(text, sizeof(text),
            "these numbers are what memory allows: processors were not looked at");
    } else if (set == fit) {
        (void)snprintf(text, sizeof(text),
            "these numbers are what memory allows; %.3g processors %s: so many workers "
            "compute at one time, the others wait",
            input->processors, input->processors_source);
    } else if (input->server == PLAN_NGINX) {
        (void)snprintf(text, sizeof(text),
            "memory allows more than %.3g processors %s have work for: %s set, one for "
            "each processor",
            input->processors, input->processors_source,
            quantity_count(set, "worker").text);
    } else {
        (void)snprintf(text, sizeof(text),
            "memory allows more than %.3g processors %s have work for: %s set, since "
            "more than %d a processor are of use only where each computes for less than "
            "3 %% of its time",
            input->processors, input->processors_source,
            quantity_count(set, "worker").text, PLAN_WORKERS_PER_PROCESSOR);
    }
    page_at(page, TEXT_INDENT);
    page_paragraph(page, set < fit ? INK_WARN : INK_DIM, text, TEXT_INDENT);
}

/* What is set is what the workers were counted with; another limit is another plan. */
static void put_other_limit(
    struct page *page, const struct plan_input *input, const struct plan *plan)
{
    const struct plan_limit *limit = &plan->limit;
    char text[LINE_BYTES];

    if (limit->advised_bytes == plan->limit.set_bytes) {
        return;
    }
    (void)snprintf(text, sizeof(text),
        "with --memory-limit %" PRIu64 "M the worst case holds %s%s",
        limit->advised_bytes >> 20, quantity_count(limit->worst_workers, "worker").text,
        input->samples_are_peaks
            ? "; but only the workers that live now were seen, and a larger request "
              "would end: plan that from a recording of the load"
            : "");
    page_at(page, TEXT_INDENT);
    page_paragraph(page, INK_DIM, text, TEXT_INDENT);
}

static void put_limit(
    struct page *page, const struct plan_input *input, const struct plan *plan)
{
    const struct plan_limit *limit = &plan->limit;
    const struct plan_heap *heap = &input->heap;
    struct quantity size;
    struct quantity smaller;
    char text[LINE_BYTES];

    if (!limit->known) {
        return;
    }
    page_heading(page, "memory_limit");
    page_end_line(page);
    put_line(page, "", heap->peak_real_bytes,
        "largest real of a request: what memory_limit is compared with");
    if (heap->peak_used_bytes > 0) {
        put_line(
            page, "", heap->peak_used_bytes, "used at that peak: what applications log");
    }
    if (heap->kernel_peak_bytes > 0) {
        put_line(page, "", heap->kernel_peak_bytes,
            "at most, by the kernel's peak of a worker: a request resets PHP's own");
    }
    if (heap->limit_bytes.state == FACT_OK) {
        put_line(page, "", heap->limit_bytes.value, "set now");
    }
    put_line(page, "", limit->advised_bytes,
        heap->kernel_peak_bytes > 0
            ? "would do: a quarter above the kernel's peak, or what is set now"
            : "would do: the peak, a quarter more, whole chunks of 2 MiB");
    if (input->samples_are_peaks) {
        page_paragraph(page, INK_DIM,
            "the largest seen now: each next request resets PHP's peak; a recording "
            "knows more (strata record)",
            TEXT_INDENT);
    }
    put_other_limit(page, input, plan);
    if (limit->cliff_bytes > 0) {
        (void)snprintf(text, sizeof(text),
            "%s %s one block above 1,044,448 bytes and room beside it: up to %s of the "
            "peak; smaller blocks would make do with %s",
            quantity_count(heap->half_chunks, "chunk").text,
            quantity_form(heap->half_chunks, "holds", "hold"),
            amount(page, limit->cliff_bytes, &size),
            amount(page, limit->without_cliff_bytes, &smaller));
        page_paragraph(page, INK_DIM, text, TEXT_INDENT);
    }
}

/* "12 to 14 workers instead of 11", or that it is not enough for one. */
static void more_workers(
    const struct plan_saving *saving, uint64_t now, char text[LINE_BYTES])
{
    if (saving->workers_high <= now) {
        (void)snprintf(text, LINE_BYTES, "which is not enough for one more");
    } else if (saving->workers_low == saving->workers_high) {
        (void)snprintf(text, LINE_BYTES, "%s instead of %" PRIu64,
            quantity_count(saving->workers_low, "worker").text, now);
    } else {
        (void)snprintf(text, LINE_BYTES, "%" PRIu64 " to %s instead of %" PRIu64,
            saving->workers_low, quantity_count(saving->workers_high, "worker").text,
            now);
    }
}

static void put_saving(struct page *page, const struct plan_saving *saving, uint64_t now)
{
    const struct quantity range =
        quantity_range(saving->low_bytes, saving->high_bytes, page->style->exact_bytes);
    char more[LINE_BYTES];
    char text[2 * LINE_BYTES];

    more_workers(saving, now, more);
    (void)snprintf(text, sizeof(text), "%s less in each worker (%s), %s", range.text,
        saving->confidence, more);
    page_at(page, TEXT_INDENT);
    page_put(page, INK_STRONG, saving->title);
    page_put(page, INK_PLAIN, ":");
    page_paragraph(page, INK_PLAIN, text, TEXT_INDENT);
    page_paragraph(page, INK_DIM, saving->how, TEXT_INDENT + 2);
}

static void put_savings(struct page *page, const struct plan_input *input,
    const struct plan *plan, enum plan_case_id planned)
{
    if (input->saving_count == 0) {
        return;
    }
    page_heading(page, "What would buy more");
    page_end_line(page);
    for (size_t i = 0; i < input->saving_count; i++) {
        put_saving(page, &input->savings[i], plan->cases[planned].workers);
    }
}

static void put_config(struct page *page, const struct plan_input *input,
    const struct plan *plan, enum plan_case_id planned)
{
    struct buffer config;

    buffer_init(&config);
    plan_config(input, plan, planned, &config);
    page_heading(page, "To set");
    page_printf(page, INK_DIM, ", for the case '%s'", plan_case_names[planned]);
    page_end_line(page);
    page_verbatim(page, INK_PLAIN, buffer_text(&config), CONFIG_INDENT);
    if (buffer_error(&config) != 0) {
        page->buffer->failed = true;
    }
    buffer_release(&config);
}

/* A long sentence, so the last item of the first line goes on in the next one. */
static void put_source(struct page *page, const char *source)
{
    struct buffer text;

    buffer_init(&text);
    /* The paragraph brings the blank before its first word. */
    buffer_printf(&text, "%s%s", page_separator(page) + 1, source);
    page->buffer->failed = page->buffer->failed || text.failed;
    page_paragraph(page, INK_DIM, buffer_text(&text), TEXT_INDENT);
    buffer_release(&text);
}

void plan_text(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, const struct present_style *style, struct buffer *buffer)
{
    struct page page;

    page_init(&page, style, buffer);
    page_printf(&page, INK_STRONG, "%s", input->name);
    page_item(&page, INK_DIM, plan_server_names[input->server], TEXT_INDENT);
    put_source(&page, input->source);
    put_budget(&page, input, plan);
    put_worker(&page, input, plan);
    put_cases(&page, input, plan, planned);
    put_processors(&page, input, plan, planned);
    put_limit(&page, input, plan);
    put_config(&page, input, plan, planned);
    put_savings(&page, input, plan, planned);
}
