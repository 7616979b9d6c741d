/*
 * A program may end before its launcher has found its statistics region, which goes with
 * it. So the launcher hands down one end of a socket pair, and the constructor waits for
 * it: one byte there, one byte back, or the end of a launcher that is gone.
 *
 * Uses open descriptors only that are sockets: the variable may be stale.
 */
#include "launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTOR_MAX 1000000

static int number(const char *text)
{
    int value = 0;
    for (; *text >= '0' && *text <= '9' && value < DESCRIPTOR_MAX; text++) {
        value = value * 10 + (*text - '0');
    }
    return *text == '\0' && value > STDERR_FILENO ? value : -1;
}

/* Takes the variable out, as unsetenv(3) does, and returns the descriptor or -1. */
static int take_descriptor(char **environment)
{
    size_t length = sizeof(STRATA__LAUNCHER_VARIABLE) - 1;
    int descriptor = -1;
    char **kept = environment;
    for (char **at = environment; *at != NULL; at++) {
        if (strncmp(*at, STRATA__LAUNCHER_VARIABLE, length) == 0) {
            descriptor = number(*at + length);
        } else {
            *kept++ = *at;
        }
    }
    *kept = NULL;
    return descriptor;
}

/* Is malloc, for whoever asks in this process, that of this library? A program that brings
 * its own is first in the loader's search. One that is linked to fixed addresses and takes
 * malloc's is found there too, but has no more than a stub that leads on (an undefined symbol
 * with a value, System V ABI, "Function Addresses"): to us, as `strata run` names us first. */
static int malloc_is_ours(void)
{
    Dl_info ours;
    Dl_info first;
    void *entry = NULL;
    void *self = NULL;
    void (*greet)(char **) = strata__launcher_greet;
    void *symbol = dlsym(RTLD_DEFAULT, "malloc");
    memcpy(&self, &greet, sizeof(self));
    if (symbol == NULL || dladdr(self, &ours) == 0 ||
        dladdr1(symbol, &first, &entry, RTLD_DL_SYMENT) == 0) {
        return 0;
    }
    const ElfW(Sym) *found = entry;
    return ours.dli_fbase == first.dli_fbase ||
           (found != NULL && found->st_shndx == SHN_UNDEF);
}

static void talk(int descriptor)
{
    struct stat status;
    char byte = malloc_is_ours() ? STRATA__LAUNCHER_OURS : STRATA__LAUNCHER_OTHER;
    if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) {
        return;
    }
    if (write(descriptor, &byte, 1) == 1) {
        while (read(descriptor, &byte, 1) < 0 && errno == EINTR) {
        }
    }
    (void)close(descriptor);
}

void strata__launcher_greet(char **environment)
{
    int saved = errno;
    int descriptor = environment != NULL ? take_descriptor(environment) : -1;
    if (descriptor >= 0) {
        talk(descriptor);
    }
    errno = saved;
}
