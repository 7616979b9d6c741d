/* amounts.h - bytes by part while a layer is being summed up. */
#ifndef STRATA_MODEL_AMOUNTS_H
#define STRATA_MODEL_AMOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "model/part_table.h"
#include "model/snapshot.h"

/*
 * No part grows beyond this. It is far above what a machine can hold, and PART_KIND_COUNT
 * times it still fits a signed sum, so hostile facts cannot make a total wrap.
 */
#define AMOUNTS_MAX_BYTES (UINT64_C(1) << 50)

struct amounts {
    uint64_t bytes[PART_KIND_COUNT];
    bool estimate[PART_KIND_COUNT];
};

/* Adds bytes to a part, at most up to AMOUNTS_MAX_BYTES. */
void amounts_add(struct amounts *amounts, enum part_kind kind, uint64_t bytes);

/* The same for a number that rests on exclusion or proportion. */
void amounts_add_estimate(struct amounts *amounts, enum part_kind kind, uint64_t bytes);

/* share, from 0 to 1, of bytes, which are cut to AMOUNTS_MAX_BYTES. */
uint64_t amounts_share_of(uint64_t bytes, double share);

/* Takes at most bytes off a part; returns how much was taken. */
uint64_t amounts_take(struct amounts *amounts, enum part_kind kind, uint64_t bytes);

/* Adds every part of other. */
void amounts_add_all(struct amounts *amounts, const struct amounts *other);

/* The sum over all parts; below 2^56. */
uint64_t amounts_total(const struct amounts *amounts);

/*
 * Gives the layer the parts that are not zero, largest first, and their sum as its
 * bytes. source must live as long as the layer. 0 or -ENOMEM, also when source is NULL.
 */
int layer_from_amounts(struct region *region, const struct amounts *amounts,
    enum fact_state state, const char *source, struct layer *layer);

/* A layer without bytes: source says why. 0, or -ENOMEM when source is NULL. */
int layer_missing(struct layer *layer, enum fact_state state, const char *source);

#endif
