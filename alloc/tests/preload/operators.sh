#!/usr/bin/env bash
# operators.sh COMPILER FOLDER LIBRARY: operators.cc on glibc's malloc, with the preload and
# linked against the library.
set -euo pipefail
compiler=$1 folder=$2 library=$3
source=$(dirname "$0")/operators.cc
[ -n "$compiler" ] || { echo 'needs a C++ compiler (Debian: g++)' >&2; exit 1; }

"$compiler" -std=c++17 -pthread -Wall -Wextra -o "$folder/operators" "$source"
"$compiler" -std=c++17 -pthread -o "$folder/operators_linked" "$source" "$library" \
    "-Wl,-rpath,$(dirname "$library")"

# try NAME COMMAND...
try() {
    local name=$1 code=0
    shift
    "$@" || code=$?
    [ $code -eq 0 ] || { echo "$name: went wrong at line $code of operators.cc" >&2; exit 1; }
}
try glibc "$folder/operators"
try preload env "LD_PRELOAD=$library" "$folder/operators"
try linked "$folder/operators_linked"
