/*
 * malloc_target.c - allocates, tells what its malloc says of it, and waits to be explained.
 *
 * Usage: malloc_target [hidden] [fork]. hidden: it is not dumpable, so that its own user may
 * not trace it. fork: after some work it forks, and the child does more and reports. One line
 * of JSON on standard output, written without an allocation behind the figures, and one more
 * for each byte of standard input, until that ends. Without libstrata-malloc.so in front, it says so: the
 * calls are weak.
 */
#define STRATA_MALLOC_WEAK
#include <strata/malloc.h>

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 30000, THREADS = 3, TEXT_BYTES = 2048, LARGE_BYTES = 300000 };

static void *blocks[THREADS][BLOCKS];

static void *fill(void *context)
{
    void **mine = context;
    char name[32];

    (void)snprintf(name, sizeof(name), "connection %d", (int)(mine - blocks[0]) / BLOCKS);
    if (strata_thread_set_name != NULL) {
        (void)strata_thread_set_name(name);
        (void)strata_tag_push("sql/sort");
    }
    for (int i = 0; i < BLOCKS; i++) {
        const size_t bytes = i % 1000 == 0 ? LARGE_BYTES : (size_t)(i % 700);
        mine[i] = malloc(bytes);
        if (mine[i] == NULL) {
            abort();
        }
        memset(mine[i], 1, bytes);
    }
    for (int i = 0; i < BLOCKS; i += 3) {
        free(mine[i]);
    }
    if (strata_tag_pop != NULL) {
        strata_tag_pop();
    }
    return NULL;
}

static int report(char *text)
{
    struct strata_malloc_stats stats = {.struct_bytes = sizeof(stats)};
    struct strata_tag_usage tag = {.struct_bytes = sizeof(tag)};
    const struct mallinfo2 info = mallinfo2();

    if (strata_malloc_get_stats == NULL) {
        return snprintf(text, TEXT_BYTES, "{\"preloaded\": false}\n");
    }
    (void)strata_malloc_get_stats(&stats);
    (void)strata_tag_get_all("sql/sort", &tag);
    return snprintf(text, TEXT_BYTES,
        "{\"preloaded\": true, \"pid\": %d, \"in_use\": %zu, \"blocks\": %zu, "
        "\"cached\": %zu, \"held\": %zu, \"free\": %zu, \"touched\": %zu, "
        "\"large\": %zu, \"large_asked\": %zu, \"books\": %zu, \"given_back\": %zu, "
        "\"tag_used\": %zu, \"tag_peak\": %zu, \"uordblks\": %zu, \"hblkhd\": %zu}\n",
        (int)getpid(), stats.in_use_bytes, stats.in_use_blocks, stats.cached_bytes,
        stats.held_bytes, stats.free_bytes, stats.touched_bytes, stats.large_bytes,
        stats.large_asked_bytes, stats.descriptor_bytes, stats.purged_bytes,
        tag.used_bytes, tag.peak_bytes, info.uordblks, info.hblkhd);
}

static void work_and_wait(void)
{
    static char text[TEXT_BYTES];
    pthread_t threads[THREADS];
    char byte;

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, fill, blocks[i]) != 0) {
            abort();
        }
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (getenv("STRATA_BACKGROUND") == NULL) {
        sleep(2); /* memory goes back by itself within that time */
    }
    do {
        const int length = report(text);
        if (write(STDOUT_FILENO, text, (size_t)length) != length) {
            _exit(1);
        }
    } while (read(STDIN_FILENO, &byte, 1) > 0);
}

int main(int count, char **words)
{
    pid_t child = 0;

    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "hidden") == 0) {
            (void)prctl(PR_SET_DUMPABLE, 0);
        } else if (strcmp(words[i], "fork") == 0) {
            (void)fill(blocks[0]);
            child = fork();
        } else {
            return 2;
        }
    }
    if (child > 0) {
        int status;
        (void)waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    work_and_wait();
    return 0;
}
