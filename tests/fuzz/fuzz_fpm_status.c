/* fuzz_fpm_status.c - any bytes as a FastCGI answer, and its output as a status page. */
#include <stdint.h>
#include <stdlib.h>

#include "facts/fastcgi.h"
#include "facts/fpm_status.h"

static void parse_page(const char *page, size_t bytes)
{
    struct fpm_pool_facts pool = {.status_state = FACT_ABSENT};
    struct region region;

    region_init(&region, 1 << 20);
    pool.name = region_copy_text(&region, "www");
    (void)fpm_status_parse(page, bytes, &region, &pool);
    region_release(&region);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct buffer answer;
    size_t used;

    parse_page((const char *)data, bytes);
    buffer_init(&answer);
    if (fastcgi_decode(data, bytes, &used, &answer) >= 0) {
        parse_page(buffer_text(&answer), answer.length_bytes);
    }
    if (used > bytes) {
        abort();
    }
    buffer_release(&answer);
    return 0;
}
