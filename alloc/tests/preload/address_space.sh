#!/usr/bin/env bash
# address_space.sh LIBRARY: programs under a limit on their address space (ulimit -v), from
# tiny to normal. With the preload a program needs at most 3 MiB more than without, and
# below that it gives up in its own way and does not crash. (python3 may: it does not look
# whether its first blocks were refused, PyThreadState_New of 3.11.)
set -euo pipefail
library=$1
most_more=3072
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# code_at KILOBYTES PRELOAD COMMAND...: the exit code of a command below a limit.
code_at() {
    local kilobytes=$1 preload=$2 code=0
    shift 2
    (ulimit -v "$kilobytes" && LD_PRELOAD=$preload exec "$@") >/dev/null 2>"$said" || code=$?
    if grep 'strata:' "$said" >&2; then code=139; fi
    echo "$code"
}

try() {
    local needed=0 without with kilobytes
    for ((kilobytes = 2000; kilobytes <= 30000; kilobytes += 500)); do
        without=$(code_at "$kilobytes" "" "$@")
        if [ "$without" -eq 0 ] && [ "$needed" -eq 0 ]; then
            needed=$kilobytes
        fi
        [ "$needed" -ne 0 ] || continue
        with=$(code_at "$kilobytes" "$library" "$@")
        if [ "$kilobytes" -ge $((needed + most_more)) ] && [ "$with" -ne 0 ]; then
            echo "'$*' fails with $with below $kilobytes KiB; without it needs $needed" >&2
            exit 1
        fi
        case $1:$with in
        */python3:139) ;;
        *:132 | *:135 | *:139) # illegal instruction, bus error, segmentation fault
            echo "'$*' crashes ($with) below $kilobytes KiB" >&2
            exit 1
            ;;
        esac
    done
    [ "$needed" -ne 0 ] || { echo "'$*' does not run below 30000 KiB at all" >&2; exit 1; }
}

try ls /
try bash -c true
try /usr/bin/python3 -c 'print(sum(range(1000)))'
