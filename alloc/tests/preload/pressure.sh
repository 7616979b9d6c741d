#!/usr/bin/env bash
# pressure.sh STRATA LIBRARY: a program in a memory cgroup of its own that comes near its
# limit: with STRATA_PRESSURE=yes what is free goes back at once, and it is counted; the
# thread that watches shares no descriptor with the program. Needs root and a memory cgroup
# of version 1 or 2 that may be written to; where there is none it fails and says so.
set -euo pipefail
strata=$1
export STRATA_MALLOC_LIBRARY=$2
limit=$((96 << 20))
work=$(mktemp -d)

fail() {
    echo "pressure: $*" >&2
    exit 1
}

make_group() {
    if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
        group=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
        [ -d "$group" ] || group=/sys/fs/cgroup/memory
        group=$group/strata-test-$$
        mkdir "$group"
        echo $limit >"$group/memory.limit_in_bytes"
    elif [ -f /sys/fs/cgroup/cgroup.subtree_control ] && grep -qw memory /sys/fs/cgroup/cgroup.subtree_control; then
        group=/sys/fs/cgroup/strata-test-$$
        mkdir "$group"
        echo $((limit * 9 / 10)) >"$group/memory.high"
        echo $limit >"$group/memory.max"
    else
        fail "no memory cgroup may be made here: run as root, with /sys/fs/cgroup writable"
    fi
}

# shellcheck disable=SC2317 # called by the trap
clean() {
    rm -rf "$work"
    for _ in $(seq 100); do
        rmdir "$group" 2>/dev/null && return
        sleep 0.1
    done
}

# Fills up to near the limit, frees most of it, and tells what the threads have open.
job='
import os, time
kept = []
for size in (900, 1900, 3900):
    blocks = [bytes(size) for _ in range((75 << 20) // size)]
    kept.append(blocks[::64])
    blocks = None

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

# Until the thread has had its turn, which may take a while on a busy machine.
for _ in range(1200):
    if resident() < (60 << 20): break
    time.sleep(0.05)
time.sleep(1.5)

def show(name, folder):
    for fd in os.listdir(folder):
        try:
            print(name, os.readlink(f"{folder}/{fd}"))
        except OSError:
            pass  # the listing itself

show("program", "/proc/self/fd")
for task in os.listdir("/proc/self/task"):
    name = open(f"/proc/self/task/{task}/comm").read().strip()
    if name == "strata-decay":
        show(name, f"/proc/self/task/{task}/fd")
'

# run SETTING: the job in the group; what it prints and its layers in $work
run() {
    (echo $BASHPID >"$group/cgroup.procs" &&
        exec env "$1" "$strata" run -o "$work/layers" -- /usr/bin/python3 -c "$job") 7<"$0" >"$work/out"
}

make_group
trap clean EXIT
run STRATA_PRESSURE=yes
grep -q 'under pressure: given back [1-9]' "$work/layers" || fail "nothing was given back: $(cat "$work/layers" "$work/out")"
grep -q '^strata-decay .*eventpoll' "$work/out" || fail "the thread watches nothing: $(cat "$work/out")"
grep -q '^strata-decay .*pressure.sh' "$work/out" && fail "the thread keeps a file of the program open"
grep -q '^program .*event' "$work/out" && fail "the program sees a descriptor of the thread"
run STRATA_PRESSURE=no
grep -q 'under pressure' "$work/layers" && fail "given back without being asked to"
# A share of the limit of this group: 80 % of 96 MiB.
(echo $BASHPID >"$group/cgroup.procs" &&
    exec "$strata" run --bytes --limit 80% -o "$work/layers" -- true)
grep -q "limit $((limit * 4 / 5)) B" "$work/layers" || fail "80% is not of the cgroup's limit: $(cat "$work/layers")"
