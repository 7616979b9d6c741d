/* recipe.h - how to start a server for a bench: a small text file and its templates. */
#ifndef STRATA_TRIAL_RECIPE_H
#define STRATA_TRIAL_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/region.h"

enum {
    RECIPE_MAX_BYTES = 64 << 10,
    RECIPE_MAX_ITEMS = 16,
    RECIPE_MAX_WORDS = 64,
    RECIPES_MOST = 64, /* in one folder */
};

/* A program the recipe needs: the first of its candidates that is installed. */
struct recipe_program {
    const char *name;
    const char *candidates; /* words */
    const char *path;       /* NULL: none of them is installed */
};

/* One process tree to start. role: "pool" is measured, "front" beside it, others are not. */
struct recipe_start {
    const char *role;
    const char *command; /* words with placeholders */
};

struct recipe {
    const char *name;   /* of its folder */
    const char *folder; /* where its templates lie */
    const char *title;
    const char *install;  /* what to do when a program is missing */
    const char *needs;    /* condition that 'check' tests, or NULL */
    const char *check;    /* a command that must end with 0, or NULL */
    bool blocking;        /* one request at a time in each worker */
    bool model;           /* says of itself that it is a model */
    bool database;        /* the work "query" asks a MariaDB */
    const char *url;      /* with placeholders; http: or fastcgi: */
    const char *settings; /* what plan calls the server: "php-fpm" */
    int stop_signal;
    struct recipe_program programs[RECIPE_MAX_ITEMS];
    size_t program_count;
    const char *files[RECIPE_MAX_ITEMS]; /* templates, copied to {dir} */
    size_t file_count;
    const char *prepare[RECIPE_MAX_ITEMS]; /* commands to run before */
    size_t prepare_count;
    struct recipe_start starts[RECIPE_MAX_ITEMS];
    size_t start_count;
};

/*
 * Reads text: lines "key = value", '#' begins a comment; see bench/recipes/README.md.
 * Strings come from region. 0, -EINVAL with error set (line and why), -ENOMEM.
 */
int recipe_parse(struct region *region, const char *name, const char *text,
    struct recipe *recipe, struct error *error);

/* Names of the recipes in folder, sorted, from region; how many there are. */
size_t recipe_names(
    struct region *region, const char *folder, const char *names[RECIPES_MOST]);

/* Reads folder/name/recipe. 0, -ENOENT, -EFBIG, or as recipe_parse(). */
int recipe_load(struct region *region, const char *folder, const char *name,
    struct recipe *recipe, struct error *error);

/* Looks each program up in PATH, /usr/sbin and /usr/local/sbin. The first missing, or NULL. */
const struct recipe_program *recipe_find_programs(
    struct region *region, struct recipe *recipe);

/* A placeholder and what stands for it. */
struct recipe_value {
    const char *name; /* "port" */
    const char *text;
};

/*
 * text with each {name} replaced by its value; the recipe's programs count too. Braces around
 * anything else stay, since templates are written in languages that use them.
 */
void recipe_expand(const struct recipe *recipe, const struct recipe_value *values,
    size_t count, const char *text, struct buffer *buffer);

#endif
