/* cmd_help.h - see table.c. */
#ifndef STRATA_CMD_CMD_HELP_H
#define STRATA_CMD_CMD_HELP_H

struct options;

/* What `strata help NAME` prints when NAME is no command. */
struct help_subject {
    const char *name;
    const char *text; /* the first line says what the lines below it are */
};

/* Ends with a row without a name. */
extern const struct help_subject help_subjects[];

/* Plain `strata` has no name to ask for; this is the word for it. */
extern const char help_overview[];

/* Returns an enum exit_code. */
int cmd_help(const struct options *options);

#endif
