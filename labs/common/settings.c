/*
 * settings.c - NAME=VALUE, checked against a table that gives the usage as well.
 */
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

static _Noreturn void refuse(
    const char *word, const struct setting *settings, size_t setting_count)
{
    (void)fprintf(stderr, "lab: '%s' is no setting of this lab; settings are:\n", word);
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *one = &settings[i];
        if (one->number != NULL) {
            (void)fprintf(stderr,
                "  %s=N  %s (%" PRId64 " to %" PRId64 ", now %" PRId64 ")\n", one->name,
                one->help, one->least, one->most, *one->number);
        } else {
            (void)fprintf(stderr, "  %s=TEXT  %s\n", one->name, one->help);
        }
    }
    (void)fprintf(stderr, "  --check  exit with 1 when a figure differs that must not\n");
    exit(LAB_EXIT_USAGE);
}

static bool apply(const struct setting *setting, const char *value)
{
    char *end;

    if (setting->text != NULL) {
        *setting->text = value;
        return *value != '\0';
    }
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || number < setting->least ||
        number > setting->most) {
        return false;
    }
    *setting->number = number;
    return true;
}

void settings_read(int count, char **arguments, const struct setting *settings,
    size_t setting_count, bool *check)
{
    for (int i = 1; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        bool taken = false;

        if (check != NULL && strcmp(arguments[i], "--check") == 0) {
            *check = true;
            continue;
        }
        for (size_t j = 0; j < setting_count && equals != NULL && !taken; j++) {
            const size_t length = (size_t)(equals - arguments[i]);
            taken = strlen(settings[j].name) == length &&
                    strncmp(settings[j].name, arguments[i], length) == 0 &&
                    apply(&settings[j], equals + 1);
        }
        if (!taken) {
            refuse(arguments[i], settings, setting_count);
        }
    }
}
