/*
 * generate_docs.c - the pages that are made of the program's own tables.
 *
 *   generate_docs FOLDER
 *
 * The pages are committed, so that they can be read and installed without a build; the
 * test house/docs-are-current writes them anew and compares.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/command.h"
#include "pages.h"

enum { PATH_BYTES = 4096 };

static const char *const folders[] = {"docs", "docs/man", "dist", "dist/completions"};

static const struct {
    const char *path;
    void (*write)(FILE *out);
} pages[] = {
    {"docs/facts.md", write_facts},
    {"docs/findings.md", write_findings},
    {"docs/metrics.md", write_metrics},
    {"dist/completions/strata.bash", write_bash_completion},
    {"dist/completions/_strata", write_zsh_completion},
    {"dist/completions/strata.fish", write_fish_completion},
};

static int fail(const char *path)
{
    fprintf(stderr, "generate_docs: cannot write '%s': %s\n", path, strerror(errno));
    return -1;
}

/* path becomes base/name; -1 when it does not fit. */
static int join(char path[PATH_BYTES], const char *base, const char *name)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", base, name);

    errno = ENAMETOOLONG;
    return length > 0 && length < PATH_BYTES ? 0 : fail(name);
}

static int close_page(FILE *out, const char *path)
{
    int failed = ferror(out);

    return fclose(out) != 0 || failed != 0 ? fail(path) : 0;
}

static int write_pages(const char *base)
{
    char path[PATH_BYTES];

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (join(path, base, pages[i].path) != 0) {
            return -1;
        }
        FILE *out = fopen(path, "w");
        if (out == NULL) {
            return fail(path);
        }
        pages[i].write(out);
        if (close_page(out, path) != 0) {
            return -1;
        }
    }
    return 0;
}

static int write_manuals(const char *base)
{
    char path[PATH_BYTES];
    char name[PATH_BYTES];

    for (const struct command *command = command_table; command->run != NULL; command++) {
        (void)snprintf(name, sizeof(name), "docs/man/strata%s%s.1.scd",
            *command->name != '\0' ? "-" : "", command->name);
        if (join(path, base, name) != 0) {
            return -1;
        }
        FILE *out = fopen(path, "w");
        if (out == NULL) {
            return fail(path);
        }
        write_manual(out, command);
        if (close_page(out, path) != 0) {
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    char path[PATH_BYTES];

    if (argc != 2) {
        fprintf(stderr, "usage: generate_docs FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (join(path, argv[1], folders[i]) != 0) {
            return 1;
        }
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            fail(path);
            return 1;
        }
    }
    return write_pages(argv[1]) != 0 || write_manuals(argv[1]) != 0;
}
