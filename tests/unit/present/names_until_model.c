/* Stand-ins while the bodies of model and findings are not there; removed with them. */
#include "findings/finding.h"
__attribute__((weak)) const char *const layer_names[LAYER_COUNT] = {"tracked", "in_use",
    "held", "free_resident", "never_touched", "resident", "pss", "unique", "exclusive",
    "charged", "residual"};
__attribute__((weak))
const char *const severity_names[SEVERITY_COUNT] = {"info", "warn", "critical"};
__attribute__((weak))
const char *const confidence_names[3] = {"measured", "likely", "rough"};
__attribute__((weak)) uint64_t layer_bytes(const struct layer *layer, bool *known)
{
    *known = layer->state == FACT_OK || layer->state == FACT_STALE;
    return *known && layer->bytes > 0 ? (uint64_t)layer->bytes : 0;
}
