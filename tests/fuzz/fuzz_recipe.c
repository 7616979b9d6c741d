/* fuzz_recipe.c - any bytes as a recipe, and what load generators print. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trial/load.h"
#include "trial/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct recipe_value values[] = {{"dir", "/x"}, {"port", "1"}};
    struct load_result result = {0};
    struct recipe recipe;
    struct region region;
    struct error error;
    struct buffer text;

    error_reset(&error);
    region_init(&region, 1 << 20);
    buffer_init(&text);
    char *copy = region_copy(&region, (const char *)data, bytes);
    if (copy != NULL) {
        if (recipe_parse(&region, "x", copy, &recipe, &error) == 0) {
            recipe_expand(&recipe, values, 2, recipe.url, &text);
        }
        load_parse_wrk(copy, &result);
        load_parse_ab(copy, &result);
    }
    buffer_release(&text);
    region_release(&region);
    return 0;
}
