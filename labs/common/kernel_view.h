/*
 * kernel_view.h - what the kernel says of a process, read without the tool: the independent
 * side of each comparison.
 */
#ifndef STRATA_LABS_COMMON_KERNEL_VIEW_H
#define STRATA_LABS_COMMON_KERNEL_VIEW_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of a line of /proc/PID/status ("VmRSS", "VmHWM", "RssAnon"), or LAB_UNKNOWN. */
int64_t kernel_status_bytes(pid_t pid, const char *key);

/* Processor time of the process and the threads it had, in microseconds, or LAB_UNKNOWN. */
int64_t kernel_cpu_us(pid_t pid);

#endif
