/*
 * library.c - dlsym(3) for a list of functions. ISO C has no cast from an object pointer to
 * one of a function, so the bytes of the pointer are copied, as POSIX asks for.
 */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_take(void *library, const struct library_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) {
            return false;
        }
        memcpy(functions[i].place, &symbol, sizeof(symbol));
    }
    return true;
}
