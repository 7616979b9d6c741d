/* report_assets.h - files that are part of every report; made at build time from them. */
#ifndef STRATA_PRESENT_REPORT_ASSETS_H
#define STRATA_PRESENT_REPORT_ASSETS_H

#include <stddef.h>

struct report_asset {
    const unsigned char *data;
    size_t bytes;
};

extern const struct report_asset report_asset_page_css;
extern const struct report_asset report_asset_page_html;
extern const struct report_asset report_asset_page_js;
extern const struct report_asset report_asset_uplot_css;
extern const struct report_asset report_asset_uplot_js;
extern const struct report_asset report_asset_uplot_licence;

#endif
