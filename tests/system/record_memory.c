/*
 * record_memory.c - what the readers of heaps and stacks see of a process, as a file.
 *
 *   record_memory PID FILE READER...     glibc, zend, stacks
 *
 * The readers run on the live process; each page they read, and what they learn of page
 * tables, is written to FILE, so that they can read it again anywhere and at any time
 * (tests/unit/facts/recorded_memory.h, which tells the format). Of file mappings that are only
 * searched for a text, the pages that hold it are kept; the others read as zeroes. FILE also
 * has the threads with their stack pointers, as /proc/PID/task/TID/syscall tells them. Record
 * only a process that waits, on a machine whose memory may be published.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "facts/glibc.h"
#include "facts/memory_process.h"
#include "facts/process_name.h"
#include "facts/smaps.h"
#include "facts/thread_stack.h"
#include "facts/zend.h"

enum {
    PAGE_READ = 64,
    PAGE_SEARCHED = 128,
    PAGE_BITS = 31,
    SEARCH_BYTES = 4096, /* a longer read of a file mapping is a search */
    PATH_BYTES = 320,
    LINE_BYTES = 512,
};

static const char *const searched_texts[] = {"GNU C Library", "X-Powered-By: PHP/"};

struct recorder {
    struct memory memory; /* first: is what readers get */
    struct memory *source;
    struct process_facts *process;
    uint8_t **pages; /* by mapping, one byte for each page: page_bits and the above */
};

/* The state of the page at address; NULL when it is in no mapping. */
static uint8_t *page_at(struct recorder *recorder, uint64_t address)
{
    for (size_t i = 0; i < recorder->process->mapping_count; i++) {
        const struct mapping *mapping = &recorder->process->mappings[i];
        if (address >= mapping->start && address < mapping->end) {
            return &recorder->pages[i][(address - mapping->start) /
                                       recorder->memory.page_bytes];
        }
    }
    return NULL;
}

static void mark(struct recorder *recorder, uint64_t address, size_t bytes, uint8_t bits)
{
    const uint64_t page = recorder->memory.page_bytes;

    for (uint64_t at = address / page * page; at < address + bytes; at += page) {
        uint8_t *state = page_at(recorder, at);
        if (state != NULL) {
            *state |= bits;
        }
    }
}

static int read_and_mark(
    struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct recorder *recorder = (struct recorder *)(void *)memory;
    int rc = memory_read(recorder->source, address, data, bytes);

    if (rc == 0) {
        mark(recorder, address, bytes, bytes >= SEARCH_BYTES ? PAGE_SEARCHED : PAGE_READ);
    }
    return rc;
}

static int pages_and_mark(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct recorder *recorder = (struct recorder *)(void *)memory;
    int rc = memory_pages(recorder->source, address, count, bits);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        mark(recorder, address + i * memory->page_bytes, 1, bits[i] & PAGE_BITS);
    }
    return rc;
}

static bool next_populated(struct memory *memory, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop)
{
    struct recorder *recorder = (struct recorder *)(void *)memory;

    return memory_next_populated(recorder->source, address, end, start, stop);
}

static const struct memory_operations operations = {
    .read = read_and_mark, .pages = pages_and_mark, .next_populated = next_populated};

static bool has_text(const char *page, size_t bytes)
{
    for (size_t i = 0; i < sizeof(searched_texts) / sizeof(searched_texts[0]); i++) {
        if (memmem(page, bytes, searched_texts[i], strlen(searched_texts[i])) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_kept(
    const struct mapping *mapping, uint8_t state, const char *page, uint64_t page_bytes)
{
    if ((state & PAGE_READ) != 0) {
        return true;
    }
    return (state & PAGE_SEARCHED) != 0 &&
           (mapping->inode == 0 || (mapping->permissions & MAPPING_WRITE) != 0 ||
               has_text(page, page_bytes));
}

/* The pages of one mapping: their bits, then what was read. */
static void write_mapping(struct recorder *recorder, size_t index, FILE *file)
{
    const struct mapping *mapping = &recorder->process->mappings[index];
    const uint64_t page_bytes = recorder->memory.page_bytes;
    const uint8_t *states = recorder->pages[index];
    const size_t count = (mapping->end - mapping->start) / page_bytes;
    char *page = malloc(page_bytes);

    (void)fprintf(file,
        "mapping %" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32
        " %" PRIx64 " %s\n",
        mapping->start, mapping->end, mapping->permissions, mapping->flags,
        mapping->device_major, mapping->device_minor, mapping->inode, mapping->path);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && (states[end] & PAGE_BITS) != 0) {
            end++;
        }
        if (end > i) {
            (void)fprintf(file, "pages %" PRIx64 " ", mapping->start + i * page_bytes);
            for (; i < end; i++) {
                (void)fputc('@' + (states[i] & PAGE_BITS), file);
            }
            (void)fputc('\n', file);
        } else {
            i++;
        }
    }
    for (size_t i = 0; page != NULL && i < count; i++) {
        const uint64_t address = mapping->start + i * page_bytes;
        if ((states[i] & (PAGE_READ | PAGE_SEARCHED)) != 0 &&
            memory_read(recorder->source, address, page, page_bytes) == 0 &&
            is_kept(mapping, states[i], page, page_bytes)) {
            (void)fprintf(file, "data %" PRIx64 "\n", address);
            (void)fwrite(page, 1, page_bytes, file);
        }
    }
    free(page);
}

/* "NUMBER ARGUMENT... SP PC" of a thread that waits in a system call. */
static void write_thread(int32_t pid, const char *thread, FILE *file)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    const char *stack = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%s/syscall", pid, thread);
    FILE *call = fopen(path, "re");
    if (call != NULL && fgets(line, sizeof(line), call) != NULL) {
        char *last = strrchr(line, ' ');
        if (last != NULL) {
            *last = '\0';
            stack = strrchr(line, ' ');
        }
    }
    if (call != NULL) {
        (void)fclose(call);
    }
    (void)fprintf(file, "thread %s %s\n", thread, stack == NULL ? "0" : stack + 1);
}

static bool write_threads(int32_t pid, FILE *file)
{
    char path[PATH_BYTES];
    const struct dirent *entry;

    (void)snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL) {
        return false;
    }
    while ((entry = readdir(tasks)) != NULL) {
        if (entry->d_name[0] != '.') {
            write_thread(pid, entry->d_name, file);
        }
    }
    (void)closedir(tasks);
    return true;
}

static bool write_all(struct recorder *recorder, FILE *file)
{
    (void)fprintf(file, "strata recorded memory 1\npage %" PRIu64 "\nexecutable %s\n",
        recorder->memory.page_bytes, recorder->process->executable);
    bool good = write_threads(recorder->process->pid, file);
    for (size_t i = 0; i < recorder->process->mapping_count; i++) {
        write_mapping(recorder, i, file);
    }
    return good && ferror(file) == 0;
}

static bool alloc_pages(struct recorder *recorder)
{
    const struct process_facts *process = recorder->process;

    recorder->pages = calloc(process->mapping_count, sizeof(*recorder->pages));
    for (size_t i = 0; recorder->pages != NULL && i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        recorder->pages[i] =
            calloc((mapping->end - mapping->start) / recorder->memory.page_bytes, 1);
        if (recorder->pages[i] == NULL) {
            return false;
        }
    }
    return recorder->pages != NULL;
}

static void free_pages(struct recorder *recorder)
{
    for (size_t i = 0; recorder->pages != NULL && i < recorder->process->mapping_count;
         i++) {
        free(recorder->pages[i]);
    }
    free(recorder->pages);
}

/* Runs one reader over the recorder. 0 or -errno. */
static int run_reader(struct recorder *recorder, const char *name,
    struct process_folder *folder, struct region *region)
{
    if (strcmp(name, "glibc") == 0) {
        return glibc_read(&recorder->memory, region, recorder->process);
    }
    if (strcmp(name, "zend") == 0) {
        return zend_read(&recorder->memory, region, recorder->process);
    }
    if (strcmp(name, "stacks") == 0) {
        return thread_stack_read(folder, &recorder->memory, region, recorder->process);
    }
    return -EINVAL;
}

static int record_to(struct recorder *recorder, struct process_folder *folder,
    struct region *region, char **arguments)
{
    int rc = alloc_pages(recorder) ? 0 : -ENOMEM;
    FILE *file = fopen(arguments[0], "we");

    if (file == NULL) {
        return -errno;
    }
    for (char **reader = arguments + 1; rc == 0 && *reader != NULL; reader++) {
        rc = run_reader(recorder, *reader, folder, region);
    }
    if (rc == 0 && !write_all(recorder, file)) {
        rc = -EIO;
    }
    return fclose(file) == 0 ? rc : -EIO;
}

static int record(struct process_folder *folder, char **arguments)
{
    struct region region;
    struct process_facts process = {.pid = folder->pid, .namespace_pid = folder->pid};
    struct memory_process memory;
    int rc = -EINVAL;

    region_init(&region, (size_t)256 << 20);
    if (process_executable_read(
            folder, &region, &process.executable, &process.executable_deleted) == 0 &&
        smaps_read(folder, true, &region, &process) == 0 &&
        memory_process_open(&memory, folder) == 0) {
        struct recorder recorder = {
            .memory = {.operations = &operations, .page_bytes = memory.memory.page_bytes},
            .source = &memory.memory,
            .process = &process};
        rc = record_to(&recorder, folder, &region, arguments);
        free_pages(&recorder);
        memory_process_close(&memory);
    }
    region_release(&region);
    return rc;
}

int main(int argc, char **argv)
{
    struct facts_root root;
    struct process_folder folder;
    uint64_t pid = 0;

    if (argc < 4 || number_parse(argv[1], &pid) != 0 || pid > INT32_MAX) {
        (void)fprintf(stderr, "usage: record_memory PID FILE READER...\n");
        return 2;
    }
    if (facts_root_open(&root, NULL, NULL) != 0 ||
        process_folder_open(&root, (int32_t)pid, &folder) != 0) {
        (void)fprintf(stderr, "record_memory: no process %" PRIu64 "\n", pid);
        return 4;
    }
    int rc = record(&folder, argv + 2);
    if (rc != 0) {
        (void)fprintf(stderr, "record_memory: cannot record process %" PRIu64 ": %s\n",
            pid, strerror(-rc));
    }
    process_folder_close(&folder);
    facts_root_close(&root);
    return rc != 0;
}
