/*
 * thread_list.c - reads the folder task of a process.
 *
 * Threads come and go while the folder is listed; one that is missed or gone only means
 * that its stack is not named as live.
 */
#include "facts/thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/status.h"

enum { THREADS_MAX = 1 << 20 };

/* The folder of a thread lies in it. */
static const char *task_folder(const struct process_folder *folder)
{
    return folder->thread == folder->pid ? "task" : "..";
}

static int32_t own_id_of(struct process_folder *folder, const char *id)
{
    struct process_facts thread = {0};
    char name[sizeof("task/2147483647/status")];
    const char *task = task_folder(folder);
    struct buffer buffer;
    int32_t group_pid;

    buffer_init(&buffer);
    (void)snprintf(name, sizeof(name), "%s/%.10s/status", task, id);
    if (process_folder_read(folder, name, STATUS_MAX_BYTES, &buffer) == 0 &&
        buffer.data != NULL) {
        status_parse(buffer.data, buffer.length_bytes, &thread, &group_pid);
    }
    buffer_release(&buffer);
    return thread.namespace_pid;
}

static int add_thread(struct process_folder *folder, bool namespaced, const char *name,
    struct region *region, struct thread_list *list)
{
    uint64_t id;

    if (number_parse(name, &id) != 0 || id == 0 || id > INT32_MAX) {
        return 0; /* "." and ".." */
    }
    struct thread_ids *place =
        region_grow(region, &list->threads, list->count, THREADS_MAX, sizeof(*place));
    if (place == NULL) {
        return -ENOMEM;
    }
    place->id = (int32_t)id;
    place->own_id = namespaced ? own_id_of(folder, name) : place->id;
    list->count++;
    return 0;
}

static int compare_threads(const void *left, const void *right)
{
    const struct thread_ids *a = left;
    const struct thread_ids *b = right;

    return (a->own_id > b->own_id) - (a->own_id < b->own_id);
}

int thread_list_read(struct process_folder *folder, bool namespaced,
    struct region *region, struct thread_list *list)
{
    struct dirent *entry;
    int rc = 0;

    *list = (struct thread_list){0};
    int fd = openat(folder->fd, task_folder(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? -ESRCH : -errno;
    }
    DIR *task = fdopendir(fd);
    if (task == NULL) {
        rc = -errno;
        close(fd);
        return rc;
    }
    while (rc == 0 && (entry = readdir(task)) != NULL) {
        rc = add_thread(folder, namespaced, entry->d_name, region, list);
    }
    closedir(task);
    if (list->count > 0) {
        qsort(list->threads, list->count, sizeof(*list->threads), compare_threads);
    }
    return rc;
}

const struct thread_ids *thread_list_find(const struct thread_list *list, int32_t own_id)
{
    const struct thread_ids key = {.own_id = own_id};

    if (list->count == 0) {
        return NULL;
    }
    return bsearch(
        &key, list->threads, list->count, sizeof(*list->threads), compare_threads);
}
