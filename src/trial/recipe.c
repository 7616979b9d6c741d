/*
 * recipe.c - lines of a recipe, its programs, its placeholders.
 *
 * No shell is involved anywhere: a command is split at blanks after expansion and run as
 * it is, so a path with a blank in it is the only thing that cannot be said.
 */
#include "trial/recipe.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/input_file.h"

struct parser {
    struct region *region;
    struct recipe *recipe;
    struct error *error;
    int line;
};

static int refuse(struct parser *parser, const char *why, const char *subject)
{
    return error_set(parser->error, -EINVAL, "cannot read recipe '%s': line %d: %s '%s'",
        parser->recipe->name, parser->line, why, subject);
}

static int set_flag(struct parser *parser, const char *value, bool *flag)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
        return refuse(parser, "yes or no, and not", value);
    }
    *flag = *value == 'y';
    return 0;
}

static int set_signal(struct parser *parser, const char *value)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"QUIT", SIGQUIT}, {"INT", SIGINT}};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strcmp(signals[i].name, value) == 0) {
            parser->recipe->stop_signal = signals[i].number;
            return 0;
        }
    }
    return refuse(parser, "TERM, QUIT or INT, and not", value);
}

static int add_program(struct parser *parser, const char *name, const char *value)
{
    struct recipe *recipe = parser->recipe;

    if (recipe->program_count == RECIPE_MAX_ITEMS || *name == '\0') {
        return refuse(parser, "one program too many, or none named:", value);
    }
    recipe->programs[recipe->program_count++] =
        (struct recipe_program){.name = name, .candidates = value};
    return 0;
}

static int add_start(struct parser *parser, const char *role, const char *value)
{
    struct recipe *recipe = parser->recipe;

    if (recipe->start_count == RECIPE_MAX_ITEMS || *role == '\0') {
        return refuse(parser, "one start too many, or without a role:", value);
    }
    recipe->starts[recipe->start_count++] =
        (struct recipe_start){.role = role, .command = value};
    return 0;
}

static int add_line(
    struct parser *parser, const char **items, size_t *count, const char *value)
{
    if (*count == RECIPE_MAX_ITEMS) {
        return refuse(parser, "one line too many of its kind:", value);
    }
    items[(*count)++] = value;
    return 0;
}

static int set_text(struct recipe *recipe, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **place;
    } texts[] = {{"title", &recipe->title}, {"install", &recipe->install},
        {"needs", &recipe->needs}, {"check", &recipe->check}, {"url", &recipe->url},
        {"server", &recipe->settings}};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i].key, key) == 0) {
            *texts[i].place = value;
            return 0;
        }
    }
    return -ENOENT;
}

static int set_key(struct parser *parser, char *key, const char *value)
{
    struct recipe *recipe = parser->recipe;
    char *second = strchr(key, ' ');

    if (second != NULL) {
        *second++ = '\0';
        if (strcmp(key, "program") == 0) {
            return add_program(parser, second, value);
        }
        return strcmp(key, "start") == 0 ? add_start(parser, second, value)
                                         : refuse(parser, "unknown key", key);
    }
    if (strcmp(key, "blocking") == 0) {
        return set_flag(parser, value, &recipe->blocking);
    }
    if (strcmp(key, "model") == 0) {
        return set_flag(parser, value, &recipe->model);
    }
    if (strcmp(key, "database") == 0) {
        return set_flag(parser, value, &recipe->database);
    }
    if (strcmp(key, "stop") == 0) {
        return set_signal(parser, value);
    }
    if (strcmp(key, "file") == 0) {
        return add_line(parser, recipe->files, &recipe->file_count, value);
    }
    if (strcmp(key, "prepare") == 0) {
        return add_line(parser, recipe->prepare, &recipe->prepare_count, value);
    }
    return set_text(recipe, key, value) == 0 ? 0 : refuse(parser, "unknown key", key);
}

static char *trimmed(char *text)
{
    char *end;

    while (*text == ' ' || *text == '\t') {
        text++;
    }
    end = text + strlen(text);
    while (end > text && strchr(" \t\r", end[-1]) != NULL) {
        *--end = '\0';
    }
    return text;
}

static int parse_line(struct parser *parser, char *line)
{
    char *key = trimmed(line);
    char *equals = strchr(key, '=');

    if (*key == '\0' || *key == '#') {
        return 0;
    }
    if (equals == NULL) {
        return refuse(parser, "no '=' in", key);
    }
    *equals = '\0';
    return set_key(parser, trimmed(key), trimmed(equals + 1));
}

static int check_whole(struct parser *parser)
{
    const struct recipe *recipe = parser->recipe;

    if (recipe->title == NULL || recipe->url == NULL || recipe->start_count == 0) {
        return error_set(parser->error, -EINVAL,
            "cannot use recipe '%s': it needs title, url and a start", recipe->name);
    }
    for (size_t i = 0; i < recipe->start_count; i++) {
        const char *role = recipe->starts[i].role;
        if (strcmp(role, "pool") == 0 || strcmp(role, "database") == 0) {
            return 0;
        }
    }
    return error_set(parser->error, -EINVAL,
        "cannot use recipe '%s': it starts no 'pool', so nothing is measured",
        recipe->name);
}

int recipe_parse(struct region *region, const char *name, const char *text,
    struct recipe *recipe, struct error *error)
{
    struct parser parser = {.region = region, .recipe = recipe, .error = error};
    char *copy = region_copy_text(region, text);
    int rc = 0;

    *recipe =
        (struct recipe){.name = region_copy_text(region, name), .stop_signal = SIGTERM};
    if (copy == NULL || recipe->name == NULL) {
        return error_set(error, -ENOMEM, "cannot read recipe '%s': out of memory", name);
    }
    while (rc == 0 && copy != NULL) {
        char *end = strchr(copy, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        parser.line++;
        rc = parse_line(&parser, copy);
        copy = end;
    }
    return rc == 0 ? check_whole(&parser) : rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t recipe_names(
    struct region *region, const char *folder, const char *names[RECIPES_MOST])
{
    DIR *stream = opendir(folder);
    size_t count = 0;

    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof(path), "%.3000s/%s/recipe", folder, entry->d_name);
        if (entry->d_name[0] != '.' && access(path, R_OK) == 0 && count < RECIPES_MOST) {
            names[count] = region_copy_text(region, entry->d_name);
            count += names[count] != NULL ? 1 : 0;
        }
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    qsort(names, count, sizeof(names[0]), by_name);
    return count;
}

int recipe_load(struct region *region, const char *folder, const char *name,
    struct recipe *recipe, struct error *error)
{
    struct buffer text;
    char path[4096];
    const char *why;
    int rc;

    if (strchr(name, '/') != NULL || *name == '.' || *name == '\0') {
        return error_set(
            error, -ENOENT, "no recipe '%s'; 'strata bench --list' has them", name);
    }
    (void)snprintf(path, sizeof(path), "%s/%s/recipe", folder, name);
    rc = input_file_check(path, &why);
    const int fd = rc == 0 ? open(path, INPUT_FILE_FLAGS) : -1;
    if (fd < 0) {
        return error_set(error, rc != 0 ? rc : -errno,
            "no recipe '%s'; 'strata bench --list' has them", name);
    }
    buffer_init(&text);
    rc = descriptor_read_all(fd, RECIPE_MAX_BYTES, &text);
    (void)close(fd);
    if (rc == 0) {
        rc = recipe_parse(region, name, buffer_text(&text), recipe, error);
    } else {
        (void)error_set(error, rc, "cannot read '%s': %s", path, strerror(-rc));
    }
    buffer_release(&text);
    recipe->folder = region_printf(region, "%s/%s", folder, name);
    return rc == 0 && recipe->folder == NULL ? -ENOMEM : rc;
}

static const char *look_up(struct region *region, const char *name, size_t bytes)
{
    static const char *const folders[] = {
        "/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/bin", "/sbin"};
    char path[512];

    if (memchr(name, '/', bytes) != NULL) {
        (void)snprintf(path, sizeof(path), "%.*s", (int)bytes, name);
        return access(path, X_OK) == 0 ? region_copy_text(region, path) : NULL;
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%.*s", folders[i], (int)bytes, name);
        if (access(path, X_OK) == 0) {
            return region_copy_text(region, path);
        }
    }
    return NULL;
}

const struct recipe_program *recipe_find_programs(
    struct region *region, struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->program_count; i++) {
        struct recipe_program *program = &recipe->programs[i];
        const char *at = program->candidates;
        while (program->path == NULL && *at != '\0') {
            const size_t bytes = strcspn(at, " ");
            program->path = bytes > 0 ? look_up(region, at, bytes) : NULL;
            at += bytes;
            at += strspn(at, " ");
        }
        if (program->path == NULL) {
            return program;
        }
    }
    return NULL;
}

static const char *value_of(const struct recipe *recipe,
    const struct recipe_value *values, size_t count, const char *name, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(values[i].name) == bytes &&
            strncmp(values[i].name, name, bytes) == 0) {
            return values[i].text;
        }
    }
    for (size_t i = 0; i < recipe->program_count; i++) {
        const struct recipe_program *program = &recipe->programs[i];
        if (strlen(program->name) == bytes && strncmp(program->name, name, bytes) == 0) {
            return program->path;
        }
    }
    return NULL;
}

void recipe_expand(const struct recipe *recipe, const struct recipe_value *values,
    size_t count, const char *text, struct buffer *buffer)
{
    while (*text != '\0') {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        const char *value = end == NULL ? NULL
                                        : value_of(recipe, values, count, text + 1,
                                              (size_t)(end - text) - 1);
        if (value != NULL) {
            buffer_append_text(buffer, value);
            text = end + 1;
        } else {
            buffer_append_char(buffer, *text++);
        }
    }
}
