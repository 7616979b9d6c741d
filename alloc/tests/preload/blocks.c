/*
 * The first and the last byte of a block say which one it is, so that a block that was lost or
 * handed out twice is noticed.
 */
#include "blocks.h"

#include <errno.h>
#include <sys/wait.h>

#include "family.h"

int test_stop;

size_t test_some_size(size_t number)
{
    static const size_t sizes[] = {
        8, 24, 100, 500, 1500, 4000, 20000, 70000, 200000, 3 * MIB};
    return sizes[number % (sizeof(sizes) / sizeof(sizes[0]))];
}

unsigned char *test_make(size_t number)
{
    unsigned char *block = call_malloc(test_some_size(number));
    if (block != NULL) {
        block[0] = (unsigned char)number;
        block[test_some_size(number) - 1] = (unsigned char)number;
    }
    return block;
}

int test_is_whole(const unsigned char *block, size_t number)
{
    return block != NULL && block[0] == (unsigned char)number &&
           block[test_some_size(number) - 1] == (unsigned char)number;
}

int test_can_allocate(void)
{
    for (size_t i = 0; i < 10; i++) {
        unsigned char *block = test_make(i);
        if (!test_is_whole(block, i) || (block = call_realloc(block, 5000)) == NULL) {
            return 0;
        }
        call_free(block);
    }
    return 1;
}

int test_exit_code_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

void *test_keep_allocating(void *argument)
{
    unsigned char *blocks[40] = {NULL};
    for (size_t i = 0; !__atomic_load_n(&test_stop, __ATOMIC_RELAXED); i++) {
        call_free(blocks[i % 40]);
        blocks[i % 40] = test_make(i % 9);
    }
    for (size_t i = 0; i < 40; i++) {
        call_free(blocks[i]);
    }
    return argument;
}
