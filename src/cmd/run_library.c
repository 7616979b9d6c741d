/*
 * run_library.c - finds libstrata-malloc.so and has the loader take it.
 *
 * It lies in ../lib (or ../lib/MULTIARCH) from the tool when installed, and in alloc/ of
 * the build when not; STRATA_MALLOC_LIBRARY names another.
 *
 * The loader cuts LD_PRELOAD at blanks and colons and knows no way to quote them (ld.so(8)), so a
 * library below such a folder is named by a link elsewhere, which lives as long as the command.
 * A descriptor in /proc/self/fd would need no file, but programs close those they do not know.
 */
#include "cmd/run_library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd_run.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/own_folder.h"

enum {
    PATH_BYTES = RUN_LIBRARY_PATH_BYTES,
    FOLDER_MODE = 0711, /* a command that changes its user still finds the link */
};

static const char library_variable[] = "STRATA_MALLOC_LIBRARY";
static const char library_name[] = "libstrata-malloc.so";
static const char separators[] = ": \t\n";

static bool find(char path[PATH_BYTES])
{
    static const char *const places[] = {
        "/../lib/",
#if defined(__x86_64__)
        "/../lib/x86_64-linux-gnu/",
#elif defined(__aarch64__)
        "/../lib/aarch64-linux-gnu/",
#endif
        "/../../alloc/"
    };
    char folder[PATH_BYTES];
    const char *named = getenv(library_variable);

    if (named != NULL) {
        return realpath(named, path) != NULL && access(path, R_OK) == 0;
    }
    own_folder(folder, sizeof(folder));
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char joined[2 * PATH_BYTES];
        (void)snprintf(joined, sizeof(joined), "%s%s%s", folder, places[i], library_name);
        if (realpath(joined, path) != NULL && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* 0 or -errno; then library->path is the link's. */
static int link_elsewhere(struct run_library *library)
{
    const char *base = getenv("TMPDIR");
    char target[PATH_BYTES];

    if (base == NULL || *base != '/' || strpbrk(base, separators) != NULL) {
        base = P_tmpdir;
    }
    memcpy(target, library->path, sizeof(target));
    if (snprintf(library->path, PATH_BYTES, "%s/strata-run-XXXXXX/%s", base,
            library_name) >= PATH_BYTES) {
        return -ENAMETOOLONG;
    }
    char *slash = strrchr(library->path, '/');
    *slash = '\0';
    if (mkdtemp(library->path) == NULL) {
        return -errno;
    }
    memcpy(library->folder, library->path, sizeof(library->folder));
    *slash = '/';
    return chmod(library->folder, FOLDER_MODE) == 0 && symlink(target, library->path) == 0
               ? 0
               : -errno;
}

/* In front of what is there already. 0 or -errno. */
static int set_preload(const char *path)
{
    const char *before = getenv("LD_PRELOAD");
    char *value = NULL;

    if (before == NULL || *before == '\0') {
        return setenv("LD_PRELOAD", path, 1) == 0 ? 0 : -errno;
    }
    if (strstr(before, library_name) != NULL) {
        return 0;
    }
    if (asprintf(&value, "%s:%s", path, before) < 0) {
        return -ENOMEM;
    }
    int rc = setenv("LD_PRELOAD", value, 1) == 0 ? 0 : -errno;
    free(value);
    return rc;
}

int run_library_preload(struct run_library *library)
{
    library->folder[0] = '\0';
    if (!find(library->path)) {
        complain("cannot find '%s' beside the program; install it, or name it in %s",
            library_name, library_variable);
        return EXIT_NOT_ACTING;
    }
    if (strpbrk(library->path, separators) != NULL) {
        char path[PATH_BYTES];
        memcpy(path, library->path, sizeof(path));
        int rc = link_elsewhere(library);
        if (rc != 0) {
            complain("cannot preload '%s': LD_PRELOAD takes no path with a blank or a "
                     "colon, and no link to it can be made in TMPDIR: %s; name a copy "
                     "elsewhere in %s",
                path, strerror(-rc), library_variable);
            return EXIT_NOT_ACTING;
        }
    }
    (void)unsetenv(library_variable); /* no option of the library */
    int rc = set_preload(library->path);
    if (rc != 0) {
        complain("cannot set 'LD_PRELOAD': %s", strerror(-rc));
        return EXIT_FAILED;
    }
    return 0;
}

void run_library_release(struct run_library *library)
{
    if (*library->folder != '\0') {
        (void)unlink(library->path);
        (void)rmdir(library->folder);
        library->folder[0] = '\0';
    }
}
