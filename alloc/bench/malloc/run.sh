#!/usr/bin/env bash
# Runs every shape with every allocator in turns and prints medians and ratios.
#
# usage: run.sh DIRECTORY LIBRARY [RUNS]
#
# DIRECTORY holds malloc-shapes and receives malloc-samples.txt and malloc-table.txt.
# Runs are interleaved, so that a slow minute hits all alike. The wait for memory after
# the work (2 s) is taken in the first run only.
set -euo pipefail

directory=$1
library=$2
runs=${3:-5}
here=$(dirname "$0")
samples=$directory/malloc-samples.txt
shapes="mixed larson remote bursts growth big tiny churn nothing"
folder=/usr/lib/$(uname -m)-linux-gnu

peers=(glibc arena2 jemalloc tcmalloc mimalloc strata)
declare -A preload=(
    [glibc]="" [arena2]=""
    [jemalloc]=$folder/libjemalloc.so.2
    [tcmalloc]=$folder/libtcmalloc_minimal.so.4
    [mimalloc]=$folder/libmimalloc.so.2
    [strata]=$library
)
for peer in "${peers[@]}"; do
    if [ -n "${preload[$peer]}" ] && [ ! -e "${preload[$peer]}" ]; then
        echo "bench-malloc: no '${preload[$peer]}': install libjemalloc2" \
            "libtcmalloc-minimal4 libmimalloc2.0" >&2
        exit 1
    fi
done

: >"$samples"
for run in $(seq "$runs"); do
    wait_seconds=$((run == 1 ? 2 : 0))
    for shape in $shapes; do
        for peer in "${peers[@]}"; do
            arenas=()
            if [ "$peer" = arena2 ]; then arenas=(MALLOC_ARENA_MAX=2); fi
            line=$(env ${arenas[@]+"${arenas[@]}"} LD_PRELOAD="${preload[$peer]}" \
                "$directory/malloc-shapes" "$shape" "$wait_seconds")
            echo "$run $shape $peer $line" >>"$samples"
        done
    done
    echo "run $run of $runs done" >&2
done

{
    echo "bench-malloc: $runs interleaved runs, $(uname -sr), $(nproc) processors," \
        "load $(cut -d' ' -f1 /proc/loadavg)"
    awk -v peers="${peers[*]}" -v shapes="$shapes" -f "$here/table.awk" "$samples"
} | tee "$directory/malloc-table.txt"
