/*
 * exit_code.c - what went wrong, as the number that a script sees.
 *
 * A capture that is damaged or newer than this program counts as a target that cannot be
 * used: the command line was right, and nothing was forbidden.
 */
#include "cmd/exit_code.h"

#include <errno.h>
#include <unistd.h>

#include "cmd/message.h"

enum exit_code exit_code_of(int negative_errno)
{
    switch (-negative_errno) {
    case 0:
        return EXIT_FINE;
    case EACCES:
    case EPERM:
        return EXIT_DENIED;
    case ENOENT:
    case EEXIST:
    case ESRCH:
    case ENODATA: /* a zombie or kernel thread: it has no memory to explain */
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case EPROTO:
    case EFBIG:
        return EXIT_NO_TARGET;
    default:
        return EXIT_FAILED;
    }
}

void exit_beside_threads(enum exit_code code)
{
    _exit(print_end() != 0 && code == EXIT_FINE ? EXIT_FAILED : code);
}
