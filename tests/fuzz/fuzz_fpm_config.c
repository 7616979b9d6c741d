/* fuzz_fpm_config.c - any bytes as php-fpm.conf. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fpm_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct facts facts = {.target_kind = TARGET_PROCESS};
    char *text = malloc(bytes + 1);

    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    region_init(&facts.region, 1 << 20);
    (void)fpm_config_parse(text, "php-fpm.conf", &facts);
    for (size_t i = 0; i < facts.fpm_pool_count; i++) {
        if (facts.fpm_pools[i].name == NULL || facts.fpm_pools[i].file == NULL) {
            abort();
        }
    }
    region_release(&facts.region);
    free(text);
    return 0;
}
