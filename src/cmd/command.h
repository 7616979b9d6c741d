/* command.h - what the program can do: one table, from which help is made as well. */
#ifndef STRATA_CMD_COMMAND_H
#define STRATA_CMD_COMMAND_H

struct options;

struct command {
    const char *name;      /* "" for what plain `strata` does */
    const char *arguments; /* for the usage line: "TARGET" */
    const char *summary;   /* one line */
    const char *text;      /* some lines: what it does, an example */
    unsigned options;      /* enum option_bit of those it takes */
    int least_arguments;
    int most_arguments;
    int (*run)(const struct options *options); /* returns an enum exit_code */
};

/* Ends with a row whose run is NULL; the first row is plain `strata`. */
extern const struct command command_table[];

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

#endif
