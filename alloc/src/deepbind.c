/*
 * RTLD_DEEPBIND binds a library to the C library's malloc and free although this one was
 * preloaded: PHP opens its extensions so. A block that one side allocates and the other
 * frees is then lost: our free can tell a block of the C library from our own and hand
 * it over, but the C library's free aborts on a block of ours. There is no way to catch
 * that call, so the flag is taken off. What the library wanted with it, its own symbols
 * before those of the same name elsewhere, it does not get: as under AddressSanitizer,
 * which refuses such libraries, and as before glibc 2.3.4, which had no such flag.
 *
 * dlopen looks at its return address to know whose RUNPATH and namespace count (dlopen(3);
 * elf/dl-open.c, dl_open_worker). So this is a jump to the next dlopen, not a call: on
 * other machines than x86-64 the flag stays, and a call would do more harm.
 */
#include "deepbind.h"

#include <dlfcn.h>
#include <stddef.h>

int strata__deepbind_mask = ~RTLD_DEEPBIND;

static void *refuse(const char *path, int mode)
{
    (void)path;
    (void)mode;
    return NULL;
}

static void *(*next_dlopen)(const char *, int);

/* The names that the machine code below knows. */
void *strata__deepbind_next(void)
{
    void *(*next)(const char *, int) = __atomic_load_n(&next_dlopen, __ATOMIC_RELAXED);
    if (next == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "dlopen");
        __builtin_memcpy(&next, &symbol, sizeof(next));
        next = next != NULL ? next : refuse;
        __atomic_store_n(&next_dlopen, next, __ATOMIC_RELAXED);
    }
    void *address = NULL;
    __builtin_memcpy(&address, &next, sizeof(address));
    return address;
}

#if defined(__x86_64__)
#    define OUTSIDE_OF_FUNCTIONS __asm__

/* Keeps both arguments over the call; the stack is aligned to 16 at the call. */
OUTSIDE_OF_FUNCTIONS(".text\n"
                     ".globl dlopen\n"
                     ".type dlopen, @function\n"
                     "dlopen:\n"
                     "    .cfi_startproc\n"
                     "    pushq %rdi\n"
                     "    .cfi_adjust_cfa_offset 8\n"
                     "    pushq %rsi\n"
                     "    .cfi_adjust_cfa_offset 8\n"
                     "    subq $8, %rsp\n"
                     "    .cfi_adjust_cfa_offset 8\n"
                     "    call strata__deepbind_next\n"
                     "    addq $8, %rsp\n"
                     "    .cfi_adjust_cfa_offset -8\n"
                     "    popq %rsi\n"
                     "    .cfi_adjust_cfa_offset -8\n"
                     "    popq %rdi\n"
                     "    .cfi_adjust_cfa_offset -8\n"
                     "    andl strata__deepbind_mask(%rip), %esi\n"
                     "    jmpq *%rax\n"
                     "    .cfi_endproc\n"
                     ".size dlopen, . - dlopen\n");
#endif
