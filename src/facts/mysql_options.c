/*
 * mysql_options.c - option files, as far as user and password go.
 *
 * The format is that of my_default.c of MySQL and MariaDB ("Using Option Files" in the
 * manual): groups in brackets, name = value, "-" and "_" are one, comments from "#" or ";" at
 * the start of a line and from "#" behind a value, values in quotes, \b \t \n \r \\ \s as
 * escapes. Our own files are read (HOME is ours), never the target's. Host, port and socket
 * in them are ignored: the process that is explained says where it listens.
 */
#include "facts/mysql_options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"

enum { MAX_FILE_BYTES = 256 << 10, MAX_DEPTH = 4, MAX_FILES = 64, PATH_BYTES = 1024 };

enum group { GROUP_OTHER, GROUP_CLIENT, GROUP_STRATA };

struct parse {
    struct mysql_credentials *strata;
    struct mysql_credentials *client;
    enum group group;
    size_t files; /* read so far, against loops of includes */
};

static int read_file(struct parse *parse, const char *path, int depth);

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static enum group group_of(const char *name, size_t length)
{
    static const char *const client[] = {"client", "client-server", "client-mariadb"};

    if (length == strlen("strata") && strncmp(name, "strata", length) == 0) {
        return GROUP_STRATA;
    }
    for (size_t i = 0; i < sizeof(client) / sizeof(client[0]); i++) {
        if (strlen(client[i]) == length && strncmp(name, client[i], length) == 0) {
            return GROUP_CLIENT;
        }
    }
    return GROUP_OTHER;
}

static char unescaped(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 's':
        return ' ';
    default:
        return c;
    }
}

/* Copies the value at text, up to its end, quotes and escapes resolved. False: too long. */
static bool copy_value(const char *text, size_t length, char *out, size_t out_bytes)
{
    const char quote = length > 0 && (*text == '"' || *text == '\'') ? *text : '\0';
    size_t used = 0;
    size_t end = length;

    if (quote == '\0') {
        for (end = 0; end < length && text[end] != '#'; end++) {
        }
        while (end > 0 && is_blank(text[end - 1])) {
            end--;
        }
    }
    for (size_t i = quote != '\0' ? 1 : 0; i < end && (quote == '\0' || text[i] != quote);
         i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < end) {
            c = unescaped(text[++i]);
        }
        if (used + 1 >= out_bytes || c == '\0') {
            return false;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

static void apply(struct parse *parse, const char *name, size_t name_bytes,
    const char *value, size_t value_bytes)
{
    struct mysql_credentials *to =
        parse->group == GROUP_STRATA ? parse->strata : parse->client;

    if (parse->group == GROUP_OTHER) {
        return;
    }
    if (name_bytes == strlen("user") && strncmp(name, "user", name_bytes) == 0) {
        if (!copy_value(value, value_bytes, to->user, sizeof(to->user))) {
            to->user[0] = '\0';
        }
    } else if (name_bytes == strlen("password") &&
               strncmp(name, "password", name_bytes) == 0) {
        to->has_password =
            copy_value(value, value_bytes, to->password, sizeof(to->password));
    }
}

static void parse_option(struct parse *parse, const char *line, size_t length)
{
    size_t name_bytes = 0;
    size_t at;

    while (
        name_bytes < length && line[name_bytes] != '=' && !is_blank(line[name_bytes])) {
        name_bytes++;
    }
    at = name_bytes;
    while (at < length && is_blank(line[at])) {
        at++;
    }
    if (at < length && line[at] == '=') {
        at++;
        while (at < length && is_blank(line[at])) {
            at++;
        }
        apply(parse, line, name_bytes, line + at, length - at);
    }
}

/* "!include FILE" or "!includedir FOLDER"; relative paths are not followed. */
static void include(struct parse *parse, const char *line, size_t length, int depth)
{
    static const char file_word[] = "!include ";
    static const char folder_word[] = "!includedir ";
    const bool folder = strncmp(line, folder_word, strlen(folder_word)) == 0;
    const size_t skip = strlen(folder ? folder_word : file_word);
    char path[PATH_BYTES];
    char file[PATH_BYTES + 260];
    DIR *listing;
    const struct dirent *entry;

    if (depth >= MAX_DEPTH || length <= skip || length - skip >= sizeof(path) ||
        (!folder && strncmp(line, file_word, strlen(file_word)) != 0)) {
        return;
    }
    memcpy(path, line + skip, length - skip);
    path[length - skip] = '\0';
    if (path[0] != '/') {
        return;
    }
    if (!folder) {
        (void)read_file(parse, path, depth + 1);
        return;
    }
    listing = opendir(path);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        const size_t name_bytes = strlen(entry->d_name);
        if (name_bytes > 4 && strcmp(entry->d_name + name_bytes - 4, ".cnf") == 0) {
            (void)snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
            (void)read_file(parse, file, depth + 1);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
}

static void parse_text(struct parse *parse, const char *text, int depth)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        const char *next = text + length + (text[length] == '\n' ? 1 : 0);

        while (length > 0 && is_blank(*text)) {
            text++;
            length--;
        }
        while (length > 0 && is_blank(text[length - 1])) {
            length--;
        }
        if (length > 0 && *text == '[') {
            parse->group = group_of(text + 1, strcspn(text + 1, "]\n"));
        } else if (length > 0 && *text == '!') {
            if (depth >= 0) {
                include(parse, text, length, depth);
            }
        } else if (length > 0 && *text != '#' && *text != ';') {
            parse_option(parse, text, length);
        }
        text = next;
    }
}

static int read_file(struct parse *parse, const char *path, int depth)
{
    struct buffer buffer;
    struct stat status;
    int fd;
    int rc = 0;

    if (parse->files++ >= MAX_FILES) {
        return -ELOOP;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    buffer_init(&buffer);
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        rc = -EINVAL;
    } else if ((status.st_mode & S_IWOTH) != 0) {
        rc = -EPERM;
    } else {
        rc = descriptor_read_all(fd, MAX_FILE_BYTES, &buffer);
    }
    close(fd);
    if (rc == 0) {
        parse->group = GROUP_OTHER;
        parse_text(parse, buffer_text(&buffer), depth);
    }
    buffer_release(&buffer);
    return rc;
}

void mysql_options_parse(
    const char *text, struct mysql_credentials *strata, struct mysql_credentials *client)
{
    struct parse parse = {.strata = strata, .client = client, .group = GROUP_OTHER};

    parse_text(&parse, text, -1);
}

int mysql_options_read(const char *defaults_file, struct mysql_credentials *credentials)
{
    static const char *const usual[] = {"/etc/my.cnf", "/etc/mysql/my.cnf"};
    struct mysql_credentials strata = {.user = ""};
    struct mysql_credentials client = {.user = ""};
    struct parse parse = {.strata = &strata, .client = &client};
    const char *home = getenv("HOME");
    char path[PATH_BYTES];
    int rc = 0;

    if (defaults_file != NULL) {
        rc = read_file(&parse, defaults_file, 0);
    }
    for (size_t i = 0; defaults_file == NULL && i < sizeof(usual) / sizeof(usual[0]);
         i++) {
        (void)read_file(&parse, usual[i], 0);
    }
    if (defaults_file == NULL && home != NULL &&
        snprintf(path, sizeof(path), "%s/.my.cnf", home) < (int)sizeof(path)) {
        (void)read_file(&parse, path, 0);
    }
    *credentials = strata.user[0] != '\0' || strata.has_password ? strata : client;
    explicit_bzero(&strata, sizeof(strata));
    explicit_bzero(&client, sizeof(client));
    return rc;
}
