#!/usr/bin/env bash
# options.sh LIBRARY: every option does what the help says, and a mistake is told.
set -euo pipefail
library=$1

# says VARIABLE=VALUE TEXT: a program started so writes the text to standard error.
says() {
    said=$(env "$1" LD_PRELOAD="$library" /bin/true 2>&1)
    if [[ $said != *"$2"* ]]; then
        echo "with '$1' nobody said '$2' but: $said" >&2
        exit 1
    fi
}

# python SETTING CODE: what a program says that is started so.
python() {
    env "$1" LD_PRELOAD="$library" /usr/bin/python3 -c "$2" 2>&1
}

# expect TEXT COMMAND...
expect() {
    local wanted=$1 said
    shift
    said=$("$@") || true
    if [ "$said" != "$wanted" ]; then
        echo "'$*' said '$said' instead of '$wanted'" >&2
        exit 1
    fi
}

# threads VARIABLE=VALUE COUNT: a program with 60 MiB of blocks has so many threads.
threads() {
    found=$(env "$1" LD_PRELOAD="$library" /usr/bin/python3 -c '
import os
blocks = [bytes(1000) for _ in range(60000)]
print(len(os.listdir("/proc/self/task")))')
    if [ "$found" != "$2" ]; then
        echo "with '$1' there are $found threads instead of $2" >&2
        exit 1
    fi
}

says STRATA_HELP=1 'STRATA_BACKGROUND=no|yes (yes): '
says STRATA_HELP=1 'STRATA_DEEPBIND=drop|keep (drop): '
says STRATA_NONSENSE=1 "unknown option 'STRATA_NONSENSE=1'"
says STRATA_BACKGROUND=maybe "'maybe' is neither no nor yes"
silence=$(env STRATA_TEST_SEED=1 STRATA_HELP=0 STRATA_STATE=off STRATA_MALLOC_LIBRARY="$library" STRATA_BACKGROUND=no STRATA_CPU_TABLES=no \
    LD_PRELOAD="$library" /bin/true 2>&1)
[ -z "$silence" ] || { echo "said without need: $silence" >&2; exit 1; }
threads STRATA_BACKGROUND=yes 2
threads STRATA_BACKGROUND=no 1
threads STRATA_CPU_TABLES=no 2

# The limit refuses what is above it, and what was refused can be had once others are freed.
blocks='
blocks = []
try:
    while len(blocks) < 200: blocks.append(bytes(1 << 20))
except MemoryError: pass
print(30 < len(blocks) < 64, end=" ")
blocks.clear()
print(len(bytes(30 << 20)) >> 20)'
expect 'True 30' python STRATA_LIMIT=64M "$blocks"
expect 'True 30' python STRATA_LIMIT=65536K "$blocks"
expect 'False 30' python STRATA_LIMIT=512M "$blocks"
expect 'False 30' python STRATA_SOFT_LIMIT=64M "$blocks"
says STRATA_HELP=1 'STRATA_LIMIT=SIZE (none): '
says STRATA_HELP=1 'STRATA_PRESSURE=no|yes (no): '
says STRATA_HELP=1 'STRATA_HARDENED=no|yes (no): '
says STRATA_LIMIT=64MB "'64MB' is no size"
says STRATA_SOFT_LIMIT=101% "'101%' is no size"
