/* cmd_bench.h - `strata bench`: load a server, measure its memory. */
#ifndef STRATA_CMD_CMD_BENCH_H
#define STRATA_CMD_CMD_BENCH_H

struct options;

int cmd_bench(const struct options *options);

#endif
