/*
 * cmd_capture.c - `strata capture TARGET -o FILE`: read and store.
 *
 * What could not be read is told on standard error: the file is complete as far as it
 * goes, and whoever takes it away should know before the target is gone.
 */
#include "cmd/cmd_capture.h"

#include "cmd/account.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "record/capture_file.h"

int cmd_capture(const struct options *options)
{
    struct finding_list none = {.count = 0};
    struct facts facts;
    struct error error;

    if (options->output == NULL) {
        complain("no file to write to: add -o FILE, or -o - for standard output");
        return EXIT_USAGE;
    }
    enum exit_code code = account_read(options, options->arguments[0], &facts);
    if (code != EXIT_FINE) {
        return code;
    }
    error_reset(&error);
    const int rc = capture_save(&facts, options->output, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        code = EXIT_FAILED;
    } else {
        account_tell_gaps(&facts);
        code = account_exit_code(&facts, &none, -1);
    }
    region_release(&facts.region);
    return code;
}
