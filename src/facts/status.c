/*
 * status.c - parses /proc/PID/status (fs/proc/array.c, proc_pid_status()).
 *
 * The file is readable by everyone, also for processes whose smaps is not, so its figures
 * are what remains when permission is missing. Its name line is not used: it escapes some
 * characters, where stat has the name as it is.
 */
#include "facts/status.h"

#include <string.h>

#include "base/number.h"
#include "facts/cpu_list.h"
#include "facts/fact_line.h"
#include "facts/text_line.h"

/* The one key of the table whose value is a list and not a number. */
static const char cpus_key[] = "Cpus_allowed_list:";

static const char *value_of(const char *line, const char *key)
{
    const size_t bytes = strlen(key);

    if (strncmp(line, key, bytes) != 0) {
        return NULL;
    }
    return line + bytes + strspn(line + bytes, " \t");
}

static int32_t read_id(const char *text)
{
    uint64_t value;

    if (number_read(&text, 10, &value) != 0 || value > INT32_MAX) {
        return 0;
    }
    return (int32_t)value;
}

/* "NSpid:  812  17  1": one number for each pid namespace, innermost last. */
static int32_t last_id(const char *text)
{
    int32_t id = 0;

    while (*text != '\0') {
        id = read_id(text);
        text += strspn(text, "0123456789");
        size_t blanks = strspn(text, " \t");
        if (blanks == 0) {
            break;
        }
        text += blanks;
    }
    return id;
}

static void parse_identity(
    const char *line, struct process_facts *process, int32_t *group_pid)
{
    const char *value;

    if ((value = value_of(line, "Uid:")) != NULL) {
        uint64_t user;
        if (number_read(&value, 10, &user) == 0 && user <= UINT32_MAX) {
            process->user_id = (uint32_t)user;
        }
    } else if ((value = value_of(line, "NSpid:")) != NULL) {
        process->namespace_pid = last_id(value);
    } else if ((value = value_of(line, "Tgid:")) != NULL) {
        *group_pid = read_id(value);
    } else if ((value = value_of(line, cpus_key)) != NULL) {
        const uint64_t cpus =
            cpu_list_count((struct slice){.text = value, .bytes = strlen(value)});
        process->values[PROCESS_FACT_CPUS_ALLOWED] =
            (struct fact){.value = cpus, .state = cpus > 0 ? FACT_OK : FACT_MALFORMED};
    } else if ((value = value_of(line, "Kthread:")) != NULL && *value == '1') {
        process->kernel_thread = true;
    }
}

void status_parse(
    char *text, size_t bytes, struct process_facts *process, int32_t *group_pid)
{
    char *end = text + bytes;
    char *line;

    *group_pid = 0;
    while ((line = text_line_next(&text, end)) != NULL) {
        if (!fact_line_store(process_fact_table, PROCESS_FACT_COUNT, "status", line,
                process->values) ||
            strncmp(line, cpus_key, sizeof(cpus_key) - 1) == 0) {
            parse_identity(line, process, group_pid);
        }
    }
}
