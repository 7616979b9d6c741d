/* fixture_captures.c - reads the folder; see fixture_captures.h. */
#include "fixture_captures.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "record/capture_file.h"

enum { PATH_BYTES = 512, LEAST_CAPTURES = 20 };

void each_fixture_capture(
    void (*look)(const char *name, const struct facts *facts, void *context),
    void *context)
{
    DIR *folder = opendir(STRATA_FIXTURES "/cases");
    int count = 0;

    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *end = strstr(entry->d_name, ".json");
        char path[PATH_BYTES];
        struct facts facts;
        struct error error = {0};

        if (end == NULL || end[strlen(".json")] != '\0') {
            continue;
        }
        (void)snprintf(path, sizeof(path), STRATA_FIXTURES "/cases/%s", entry->d_name);
        if (capture_load(path, &facts, &error) != 0) {
            fail_msg("%s", error.text);
        }
        look(entry->d_name, &facts, context);
        region_release(&facts.region);
        count++;
    }
    assert_int_equal(closedir(folder), 0);
    assert_true(count >= LEAST_CAPTURES);
}
