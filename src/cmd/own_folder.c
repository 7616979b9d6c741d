/*
 * own_folder.c - the folder of the running program, by /proc/self/exe (proc(5)): not by
 * argv[0], which may be anything. Links are followed, so a link in /usr/local/bin to
 * a build folder finds what lies in the build.
 */
#include "cmd/own_folder.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void own_folder(char *folder, size_t bytes)
{
    ssize_t length = readlink("/proc/self/exe", folder, bytes - 1);

    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
}
