/* glibc_parameters.h - finds and reads struct malloc_par, the settings of glibc malloc. */
#ifndef STRATA_FACTS_GLIBC_PARAMETERS_H
#define STRATA_FACTS_GLIBC_PARAMETERS_H

#include "facts/glibc_reader.h"

/* How well the bytes at some address fit as mp_; 0: not at all. */
struct glibc_parameter_match {
    uint64_t address;
    uint32_t score;
    const struct glibc_parameter_layout *layout;
};

/*
 * Compares the struct at data, of the target's address, with every layout that the state
 * layout of reader->layout allows, and keeps the better one in match. heap_start is where the
 * main heap must have begun (top's end less system_mem), 0 when that is unknown.
 */
void glibc_parameters_match(const struct glibc_layout *layout, const uint8_t *data,
    uint64_t address, uint64_t heap_start, struct glibc_parameter_match *match);

/* Reads mp_ at reader->parameters into parameters; state tells how it went. */
void glibc_parameters_read(
    struct glibc_reader *reader, struct glibc_parameters *parameters);

#endif
