/* pages.h - what is written out of the tables of facts, rules, commands and options. */
#ifndef STRATA_TOOLS_GENERATE_DOCS_PAGES_H
#define STRATA_TOOLS_GENERATE_DOCS_PAGES_H

#include <stdio.h>

struct command;

void write_facts(FILE *out);
void write_findings(FILE *out);
void write_metrics(FILE *out);

/* The manual page of a command, for scdoc; that of plain `strata` lists the others. */
void write_manual(FILE *out, const struct command *command);

void write_bash_completion(FILE *out);
void write_zsh_completion(FILE *out);
void write_fish_completion(FILE *out);

#endif
