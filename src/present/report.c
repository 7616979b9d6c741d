/*
 * report.c - puts the page together: style, data and programs, all in one file.
 *
 * The only untrusted bytes are in the JSON, which stands in a script element that is no
 * program; "<" is written as its escape there, so nothing in it can end the element
 * (HTML Living Standard 13.2.5.4, script data state). The parts that do not change are made
 * from files of src/present/report and dist/vendor at build time.
 */
#include "present/report.h"

#include "present/report_assets.h"
#include "present/report_json.h"

static void append_asset(struct buffer *buffer, const struct report_asset *asset)
{
    buffer_append(buffer, asset->data, asset->bytes);
}

static void append_data(struct buffer *buffer, const struct report_part *part,
    const struct report_before *before)
{
    struct json_writer json;
    struct buffer data;

    buffer_init(&data);
    json_writer_init(&json, &data, 0);
    report_json_write(&json, part, before, false);
    const char *text = buffer_text(&data);
    size_t start = 0;
    for (size_t i = 0; i < data.length_bytes; i++) {
        if (text[i] == '<') {
            buffer_append(buffer, text + start, i - start);
            buffer_append_text(buffer, "\\u003c");
            start = i + 1;
        }
    }
    buffer_append(buffer, text + start, data.length_bytes - start);
    if (buffer_error(&data) != 0) {
        buffer->failed = true;
    }
    buffer_release(&data);
}

void present_report(const struct report_part *part, const struct report_before *before,
    struct buffer *buffer)
{
    buffer_append_text(buffer,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n"
        "<title>strata report</title>\n<style>\n");
    append_asset(buffer, &report_asset_uplot_css);
    append_asset(buffer, &report_asset_page_css);
    buffer_append_text(buffer, "</style>\n</head>\n<body>\n");
    append_asset(buffer, &report_asset_page_html);
    buffer_append_text(buffer, "<script id=\"data\" type=\"application/json\">");
    append_data(buffer, part, before);
    buffer_append_text(buffer, "</script>\n<script>\n/*\n");
    append_asset(buffer, &report_asset_uplot_licence);
    buffer_append_text(buffer, "*/\n");
    append_asset(buffer, &report_asset_uplot_js);
    buffer_append_text(buffer, "\n</script>\n<script>\n");
    append_asset(buffer, &report_asset_page_js);
    buffer_append_text(buffer, "</script>\n</body>\n</html>\n");
}
