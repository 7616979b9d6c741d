/*
 * library.c - dlopen(3) and dlsym(3) for a list of functions. ISO C has no cast from an object
 * pointer to one of a function, so the bytes of the pointer are copied, as POSIX asks for.
 *
 * Never unloaded: the TLS libraries that these bring register handlers which would then point
 * nowhere.
 */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(
    const char *const *names, const struct library_function *functions, size_t count)
{
    void *library = NULL;

    for (size_t i = 0; library == NULL && names[i] != NULL; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) {
        return -ENOENT;
    }
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) {
            return -ENOSYS;
        }
        memcpy(functions[i].place, &symbol, sizeof(symbol));
    }
    return 0;
}
