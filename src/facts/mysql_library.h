/* mysql_library.h - the client library, loaded when it is needed. */
#ifndef STRATA_FACTS_MYSQL_LIBRARY_H
#define STRATA_FACTS_MYSQL_LIBRARY_H

/* Opaque here: only pointers to them are handed on. */
struct mysql_handle;
struct mysql_result;

/*
 * The functions of MariaDB Connector/C (libmariadb.so.3) that are used, under their names
 * without "mysql_"; types as in its mysql.h, whose ABI is stable within the soname.
 */
struct mysql_library {
    struct mysql_handle *(*init)(struct mysql_handle *);
    int (*options)(struct mysql_handle *, int option, const void *value);
    int (*optionsv)(struct mysql_handle *, int option, ...);
    struct mysql_handle *(*real_connect)(struct mysql_handle *, const char *host,
        const char *user, const char *password, const char *database, unsigned port,
        const char *unix_socket, unsigned long flags);
    int (*get_socket)(struct mysql_handle *);
    const char *(*get_server_info)(struct mysql_handle *);
    int (*real_query)(struct mysql_handle *, const char *text, unsigned long bytes);
    unsigned (*field_count)(struct mysql_handle *);
    struct mysql_result *(*use_result)(struct mysql_handle *);
    unsigned (*num_fields)(struct mysql_result *);
    char **(*fetch_row)(struct mysql_result *);
    unsigned long *(*fetch_lengths)(struct mysql_result *);
    void (*free_result)(struct mysql_result *);
    unsigned (*errno_of)(struct mysql_handle *);
    const char *(*error)(struct mysql_handle *);
    void (*close)(struct mysql_handle *);
};

/* Members of enum mysql_option in Connector/C 3.1 to 3.4. */
enum mysql_library_option {
    MYSQL_OPTION_CONNECT_TIMEOUT = 0, /* unsigned, seconds */
    MYSQL_OPTION_CHARSET = 7,
    MYSQL_OPTION_LOCAL_INFILE = 8, /* unsigned */
    MYSQL_OPTION_PROTOCOL = 9,
    MYSQL_OPTION_READ_TIMEOUT = 11,
    MYSQL_OPTION_WRITE_TIMEOUT = 12,
    MYSQL_OPTION_MAX_PACKET = 39,        /* size_t */
    MYSQL_OPTION_RESTRICTED_AUTH = 7026, /* the plugins a server may choose from */
};

/*
 * Loads the library into this process for good. 0, or -ENOENT when it is not installed or
 * lacks a function; then *why says which package gives it.
 */
int mysql_library_load(struct mysql_library *library, const char **why);

#endif
