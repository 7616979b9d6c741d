/*
 * views.h - the application in front of the database: its tables, and its page views.
 */
#ifndef STRATA_LABS_MYSQL_CHURN_VIEWS_H
#define STRATA_LABS_MYSQL_CHURN_VIEWS_H

#include <stdint.h>

struct client;

struct views {
    const char *socket;
    int64_t first;    /* number of the first view */
    int64_t pages;    /* page views from there on */
    int64_t clients;  /* at the same time, each with a connection for each view */
    int64_t pause_ms; /* of a client between two views: 0 to twice that */
    int64_t rows;     /* of the larger table */
    int64_t done;     /* result */
};

/* Makes the tables and fills them; ends the program when the server refuses. */
void views_load(struct client *client, int64_t rows);

/* Reads every row once, so that the buffer pool is as full as it gets. */
void views_warm(struct client *client);

/*
 * Drives page views: connect, five queries, disconnect. The sizes come from the number of the view,
 * so two runs ask for the same work. Ends the program when one fails.
 */
void views_drive(struct views *views);

#endif
