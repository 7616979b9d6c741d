#!/bin/sh
# Runs every program of the benchmark in turns and prints medians beside each other.
#
# usage: run.sh DIRECTORY [RUNS]
#
# DIRECTORY holds the programs bench-heap-PEER and receives samples.txt (every number)
# and table.txt (what is printed). RUNS is 5 unless given, at least 3. Runs are
# interleaved: all peers once, then all again, so that a slow minute hits all alike.
set -eu

directory=$1
runs=${2:-5}
here=$(dirname "$0")
samples=$directory/samples.txt

: >"$samples"
for run in $(seq "$runs"); do
    for metric in op-10 op-50 op-90 end; do
        for program in "$directory"/bench-heap-*; do
            peer=${program##*/bench-heap-}
            "$program" "$metric" | while read -r name value; do
                echo "$peer $metric/$name $value" >>"$samples"
            done
        done
    done
    echo "run $run of $runs done" >&2
done

{
    echo "bench-heap: $runs interleaved runs, $(uname -sr), $(nproc) processors," \
        "load $(cut -d' ' -f1 /proc/loadavg)"
    awk -f "$here/table.awk" "$samples"
} | tee "$directory/table.txt"
