/* stat.h - /proc/PID/stat: who a process is. */
#ifndef STRATA_FACTS_STAT_H
#define STRATA_FACTS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TASK_COMM_LEN of the kernel is 16; threads of the kernel may print up to 64 bytes. */
enum { PROCESS_NAME_BYTES = 64 };

struct process_stat {
    int32_t pid;
    int32_t parent_pid;
    char
        name[PROCESS_NAME_BYTES]; /* comm as it is: may hold blanks, ')' and line feeds */
    char run_state;               /* R S D Z T ... */
    bool kernel_thread;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t thread_count;
    uint64_t start_time_ticks; /* since boot */
    uint64_t resident_pages;   /* may lag behind smaps */
    uint64_t stack_start;      /* 0 without permission; another one after an execve */
};

/*
 * Parses the whole text of the file. 0 or -EINVAL, when it is cut short or no stat text at
 * all. Fields as in proc(5) and fs/proc/array.c, do_task_stat().
 */
int process_stat_parse(const char *text, size_t bytes, struct process_stat *stat);

#endif
