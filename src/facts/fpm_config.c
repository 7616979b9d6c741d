/*
 * fpm_config.c - the part of PHP's ini language that php-fpm.conf uses.
 *
 * [global] and [pool] sections, key = value, key[name] = value, quotes, comments with ';'
 * (and '#' at the start of a line), include= with globs. Keys and their meaning: php-src
 * sapi/fpm/fpm/fpm_conf.c, 7.4 to 8.5. The files are the operator's and not trusted: the depth
 * and number of includes and the size of each file are bounded.
 *
 * Files are opened relative to the master's root directory with RESOLVE_IN_ROOT, so that
 * an absolute symlink inside a container leads to the container's file and not to ours. Any
 * process may give itself a master's title, so the path may name a FIFO, or a device whose
 * mere opening has consequences (a watchdog): a place is looked at before it is opened.
 */
#include "facts/fpm_config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/number.h"

enum {
    MAX_FILE_BYTES = 1 << 20,
    MAX_DEPTH = 4,
    MAX_FILES = 512,
    FD_PATH_BYTES = 32,
};

/* A parse over one file and what it includes. */
struct parse {
    struct facts_root *root; /* NULL: includes are skipped */
    int root_fd;
    struct facts *facts;
    size_t first_pool;           /* pools before it are of another master */
    struct fpm_pool_facts *pool; /* the section we are in; NULL: [global] or none */
    struct error *error;
    int files;
};

static int parse_file(struct parse *parse, const char *file, int depth);

int fpm_config_size(const char *text, uint64_t *bytes)
{
    uint64_t value;
    unsigned shift = 0;

    if (strcmp(text, "-1") == 0) {
        return -ENOENT;
    }
    if (number_read(&text, 10, &value) != 0) {
        return -EINVAL;
    }
    switch (tolower((unsigned char)*text)) {
    case 'g':
        shift = 30;
        break;
    case 'm':
        shift = 20;
        break;
    case 'k':
        shift = 10;
        break;
    default:
        break;
    }
    if (shift != 0) {
        text++;
    }
    if (*text != '\0' || __builtin_mul_overflow(value, UINT64_C(1) << shift, bytes)) {
        return -EINVAL;
    }
    return 0;
}

static void set_number(struct fact *fact, const char *value)
{
    uint64_t number;
    int rc = number_parse(value, &number);

    *fact = (struct fact){
        .value = rc == 0 ? number : 0, .state = rc == 0 ? FACT_OK : FACT_MALFORMED};
}

/* A time as FPM reads it: digits and one of s, m, h, d. */
static void set_seconds(struct fact *fact, const char *value)
{
    static const char units[] = "smhd";
    static const uint64_t seconds[] = {1, 60, 3600, 86400};
    const char *unit;
    uint64_t number;

    *fact = (struct fact){.state = FACT_MALFORMED};
    if (number_read(&value, 10, &number) != 0) {
        return;
    }
    unit = *value == '\0' ? units : strchr(units, *value);
    if (unit == NULL || (*value != '\0' && value[1] != '\0') ||
        __builtin_mul_overflow(number, seconds[unit - units], &fact->value)) {
        return;
    }
    fact->state = FACT_OK;
}

static void set_manager(struct fpm_pool_facts *pool, const char *value)
{
    pool->manager = FPM_UNKNOWN;
    for (uint32_t i = FPM_STATIC; i < FPM_MANAGER_COUNT; i++) {
        if (strcmp(value, fpm_manager_names[i]) == 0) {
            pool->manager = i;
        }
    }
}

static void set_memory_limit(struct fpm_pool_facts *pool, const char *value, bool admin)
{
    uint64_t bytes;
    int rc = fpm_config_size(value, &bytes);

    if (pool->memory_limit_admin && !admin) {
        return; /* php_admin_value wins whatever the order */
    }
    pool->memory_limit_admin = admin;
    pool->memory_limit_bytes = (struct fact){.value = rc == 0 ? bytes : 0,
        .state = rc == 0         ? FACT_OK
                 : rc == -ENOENT ? FACT_ABSENT
                                 : FACT_MALFORMED};
}

/* value with each $pool replaced by the pool's name; "" when that is longer than any path. */
static char *expand(struct parse *parse, const char *value)
{
    static const char variable[] = "$pool";
    struct buffer text;
    char *copy;

    buffer_init(&text);
    while (*value != '\0' && text.length_bytes < PATH_MAX) {
        if (strncmp(value, variable, sizeof(variable) - 1) == 0) {
            buffer_append_text(&text, parse->pool->name);
            value += sizeof(variable) - 1;
        } else {
            buffer_append_char(&text, *value++);
        }
    }
    if (text.length_bytes >= PATH_MAX) {
        buffer_reset(&text);
    }
    copy = buffer_error(&text) != 0 ? NULL
                                    : region_copy(&parse->facts->region,
                                          buffer_text(&text), text.length_bytes);
    buffer_release(&text);
    return copy;
}

/* php_value[NAME], php_admin_value[NAME]; only what concerns memory is kept. */
static bool set_php_value(struct fpm_pool_facts *pool, const char *key, const char *value)
{
    bool admin = strncmp(key, "php_admin_value[", 16) == 0;
    const char *name = admin ? key + 16 : key + 10;

    if (!admin && strncmp(key, "php_value[", 10) != 0) {
        return false;
    }
    if (strcmp(name, "memory_limit]") == 0) {
        set_memory_limit(pool, value, admin);
    } else if (strcmp(name, "opcache.memory_consumption]") == 0) {
        pool->opcache_size_in_pool = true;
    }
    return true;
}

static int set_text(struct parse *parse, char **field, const char *value)
{
    *field = expand(parse, value);
    return *field == NULL ? -ENOMEM : 0;
}

static int set_key(struct parse *parse, const char *key, const char *value)
{
    struct fpm_pool_facts *pool = parse->pool;
    const struct {
        const char *key;
        struct fact *fact;
    } numbers[] = {
        {"pm.max_children", &pool->max_children},
        {"pm.start_servers", &pool->start_servers},
        {"pm.min_spare_servers", &pool->min_spare},
        {"pm.max_spare_servers", &pool->max_spare},
        {"pm.max_requests", &pool->max_requests},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(key, numbers[i].key) == 0) {
            set_number(numbers[i].fact, value);
            return 0;
        }
    }
    if (set_php_value(pool, key, value)) {
        return 0;
    }
    if (strcmp(key, "pm") == 0) {
        set_manager(pool, value);
    } else if (strcmp(key, "pm.process_idle_timeout") == 0) {
        set_seconds(&pool->idle_timeout_seconds, value);
    } else if (strcmp(key, "listen") == 0) {
        return set_text(parse, &pool->listen, value);
    } else if (strcmp(key, "pm.status_path") == 0) {
        return set_text(parse, &pool->status_path, value);
    } else if (strcmp(key, "pm.status_listen") == 0) {
        return set_text(parse, &pool->status_listen, value);
    }
    return 0;
}

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text)) {
        text++;
    }
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) {
        end--;
    }
    *end = '\0';
    return text;
}

/* Cuts a comment off an unquoted value, or takes the quotes off. */
static char *clean_value(char *value)
{
    value = trim(value);
    if (*value == '"' || *value == '\'') {
        char *close = strchr(value + 1, *value);
        if (close != NULL) {
            *close = '\0';
            return value + 1;
        }
        return value;
    }
    char *comment = strchr(value, ';');
    if (comment != NULL) {
        *comment = '\0';
    }
    return trim(value);
}

static int begin_section(struct parse *parse, const char *name, const char *file)
{
    if (strcasecmp(name, "global") == 0) {
        parse->pool = NULL;
        return 0;
    }
    for (size_t i = parse->first_pool; i < parse->facts->fpm_pool_count; i++) {
        if (strcmp(parse->facts->fpm_pools[i].name, name) == 0) {
            parse->pool = &parse->facts->fpm_pools[i]; /* a section may be continued */
            return 0;
        }
    }
    if (parse->facts->fpm_pool_count >= FPM_MAX_POOLS) {
        return error_set(parse->error, -EFBIG,
            "cannot read all of '%s': more than %d pools are never read", file,
            FPM_MAX_POOLS);
    }
    struct fpm_pool_facts *pool =
        region_grow(&parse->facts->region, &parse->facts->fpm_pools,
            parse->facts->fpm_pool_count, FPM_MAX_POOLS, sizeof(*pool));
    if (pool == NULL) {
        return -ENOMEM;
    }
    *pool = (struct fpm_pool_facts){
        .name = region_copy_text(&parse->facts->region, name),
        .file = region_copy_text(&parse->facts->region, file),
        .config_state = FACT_OK,
    };
    parse->facts->fpm_pool_count++;
    parse->pool = pool;
    return pool->name == NULL || pool->file == NULL ? -ENOMEM : 0;
}

static int open_below(int root_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

    if (fd < 0 && errno == ENOSYS) { /* before Linux 5.6: no symlink is followed */
        while (*path == '/') {
            path++;
        }
        fd = openat(root_fd, path, flags | O_CLOEXEC | O_NOFOLLOW);
    }
    return fd < 0 ? -errno : (int)fd;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The names in folder that match pattern, sorted as glob(3) sorts them. */
static int list_matches(
    struct parse *parse, DIR *folder, const char *pattern, char ***names, size_t *count)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        if (fnmatch(pattern, entry->d_name, FNM_PERIOD) != 0) {
            continue;
        }
        if (*count >= MAX_FILES) {
            return error_set(parse->error, -EFBIG,
                "cannot read all that '%s' includes: more than %d files are never read",
                pattern, MAX_FILES);
        }
        char **place =
            region_grow(&parse->facts->region, names, *count, MAX_FILES, sizeof(*place));
        if (place == NULL) {
            return -ENOMEM;
        }
        *place = region_copy_text(&parse->facts->region, entry->d_name);
        if (*place == NULL) {
            return -ENOMEM;
        }
        (*count)++;
    }
    if (*count > 1) {
        qsort(*names, *count, sizeof(**names), compare_names);
    }
    return 0;
}

static int parse_glob(struct parse *parse, const char *pattern, int depth)
{
    const char *slash = strrchr(pattern, '/');
    const char *last = slash == NULL ? pattern : slash + 1;
    char *directory = region_copy(
        &parse->facts->region, pattern, slash == NULL ? 0 : (size_t)(slash - pattern));
    char **names = NULL;
    size_t count = 0;

    if (directory == NULL) {
        return -ENOMEM;
    }
    int fd = open_below(
        parse->root_fd, *directory == '\0' ? "/" : directory, O_RDONLY | O_DIRECTORY);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        return 0; /* FPM takes a pattern without a match as nothing to include */
    }
    int rc = list_matches(parse, folder, last, &names, &count);
    closedir(folder);
    for (size_t i = 0; i < count && rc == 0; i++) {
        char *path = region_printf(&parse->facts->region, "%s/%s", directory, names[i]);
        rc = path == NULL ? -ENOMEM : parse_file(parse, path, depth + 1);
    }
    return rc;
}

static int parse_include(
    struct parse *parse, const char *value, const char *file, int depth)
{
    const char *slash = strrchr(file, '/');

    if (parse->root == NULL) {
        return 0;
    }
    if (*value == '/') {
        return parse_glob(parse, value, depth);
    }
    /* Relative to FPM's prefix, which we do not know: the file's own folder is the usual one. */
    char *pattern = region_printf(&parse->facts->region, "%.*s/%s",
        slash == NULL ? 0 : (int)(slash - file), file, value);
    return pattern == NULL ? -ENOMEM : parse_glob(parse, pattern, depth);
}

static int parse_line(struct parse *parse, char *line, const char *file, int depth)
{
    line = trim(line);
    if (*line == '\0' || *line == ';' || *line == '#') {
        return 0;
    }
    if (*line == '[') {
        char *close = strrchr(line, ']');
        if (close == NULL) {
            return 0;
        }
        *close = '\0';
        return begin_section(parse, clean_value(line + 1), file);
    }
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        return 0;
    }
    *equals = '\0';
    char *key = trim(line);
    char *value = clean_value(equals + 1);
    if (strcasecmp(key, "include") == 0) {
        return parse_include(parse, value, file, depth);
    }
    return parse->pool == NULL ? 0 : set_key(parse, key, value);
}

static int parse_text(struct parse *parse, char *text, const char *file, int depth)
{
    char *next;

    for (char *line = text; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        int rc = parse_line(parse, line, file, depth);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Opens path when it is a regular file; -EINVAL when it is something else. */
static int open_file_below(int root_fd, const char *path)
{
    struct stat status;
    char name[FD_PATH_BYTES];
    int place = open_below(root_fd, path, O_PATH);
    int fd = -EINVAL;

    if (place < 0) {
        return place;
    }
    if (fstat(place, &status) == 0 && S_ISREG(status.st_mode)) {
        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
        fd = facts_open_file(AT_FDCWD, name);
    }
    close(place);
    return fd;
}

static int read_below(struct parse *parse, const char *file, struct buffer *text)
{
    int fd = open_file_below(parse->root_fd, file);

    if (fd < 0) {
        return fd;
    }
    int rc = facts_read_descriptor(parse->root, fd, MAX_FILE_BYTES, text);
    close(fd);
    return rc;
}

static int parse_file(struct parse *parse, const char *file, int depth)
{
    struct buffer text;

    if (depth > MAX_DEPTH || ++parse->files > MAX_FILES) {
        return error_set(parse->error, -ELOOP,
            "cannot read '%s': includes are nested too deeply or too many", file);
    }
    buffer_init(&text);
    int rc = read_below(parse, file, &text);
    if (rc != 0) {
        rc = error_set(parse->error, rc, "cannot read '%s': %s", file,
            rc == -EINVAL ? "it is not a regular file" : strerror(-rc));
    } else if (text.data != NULL) {
        rc = parse_text(parse, text.data, file, depth);
    }
    buffer_release(&text);
    return rc;
}

int fpm_config_read(struct facts_root *root, int root_fd, const char *file,
    struct facts *facts, struct error *error)
{
    struct parse parse = {.root = root,
        .root_fd = root_fd,
        .facts = facts,
        .first_pool = facts->fpm_pool_count,
        .error = error};

    return parse_file(&parse, file, 0);
}

int fpm_config_parse(char *text, const char *file, struct facts *facts)
{
    struct parse parse = {
        .root_fd = -1, .facts = facts, .first_pool = facts->fpm_pool_count};

    return parse_text(&parse, text, file, 0);
}
