# helper.bash - what the tests of the command line have in common.
#
# $STRATA is the program. Each test has its own folder ($BATS_TEST_TMPDIR) and ends the
# processes that it started, by their pids.

setup() {
    : "${STRATA:?is the path of the program; ctest sets it}"
    unset NO_COLOR COLUMNS "${!STRATA_@}"
    export TERM=xterm LC_ALL=C.UTF-8 STRATA_STATE=$BATS_TEST_TMPDIR/state
    cd "$BATS_TEST_TMPDIR"
    started=()
}

teardown() {
    for pid in "${started[@]}"; do
        kill -9 "$pid" 2>/dev/null || true
    done
}

# start COMMAND...: in the background, its pid in $pid; closes bats' own descriptor
start() {
    "$@" >/dev/null 2>&1 3>&- &
    pid=$!
    started+=("$pid")
}

# wait_for COMMAND...: until it succeeds; a busy machine may take its time
wait_for() {
    for _ in $(seq 4800); do
        if "$@"; then
            return 0
        fi
        sleep 0.05
    done
    echo "never came true: $*" >&2
    return 1
}

# start_named NAME [COMMAND...]: a quiet process of that name, of at most 15 characters, by
# that command
start_named() {
    local name=$1
    shift
    mkdir -p .programs
    ln -sf "$(command -v sleep)" ".programs/$name"
    start "$@" ".programs/$name" 3600
    wait_for is_called "$pid" "$name"
}

# A process to explain that is quiet. Its name, in $quiet, is of this test alone, since what
# has the same name is told together.
start_quiet() {
    quiet=quiet-$BASHPID
    start_named "$quiet"
}

is_called() {
    [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]
}

# expect CODE COMMAND...: runs it; output in $output, of it standard error in $errors
expect() {
    local wanted=$1
    shift
    local code=0
    "$@" >stdout 2>stderr || code=$?
    output=$(cat stdout)
    errors=$(cat stderr)
    if [ "$code" -ne "$wanted" ]; then
        echo "exit code $code instead of $wanted: $*" >&2
        cat stdout stderr >&2
        return 1
    fi
}

# rows_of FILE TABLE [WHERE]: how many a recording has
rows_of() {
    python3 - "$1" "$2" "${3:-1}" <<'PYTHON'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(f"SELECT count(*) FROM {sys.argv[2]} WHERE {sys.argv[3]}").fetchone()[0])
PYTHON
}

at_least() {
    [ "$1" -ge "$2" ] || { echo "$1 is less than $2" >&2; return 1; }
}

# has_ticks FILE COUNT
has_ticks() {
    [ -e "$1" ] && at_least "$(rows_of "$1" ticks 2>/dev/null || echo 0)" "$2" 2>/dev/null
}

# record_ticks FILE COUNT TARGET: records at 200 ms until there are so many ticks; how long that
# takes is up to the machine
record_ticks() {
    local recorder
    "$STRATA" record "$3" -o "$1" --every 200ms >told 2>&1 3>&- &
    recorder=$!
    started+=("$recorder")
    wait_for has_ticks "$1" "$2"
    kill -INT "$recorder"
    wait "$recorder"
}

# has TEXT PART: shows both when PART is not in TEXT
has() {
    if [[ "$1" != *"$2"* ]]; then
        printf 'no "%s" in: %s\n' "$2" "$1" >&2
        return 1
    fi
}

lacks() {
    if [[ "$1" == *"$2"* ]]; then
        printf 'unwanted "%s" in: %s\n' "$2" "$1" >&2
        return 1
    fi
}

# as_other COMMAND...: as a user who may read nothing of pid 1
as_other() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# field FILE EXPRESSION: a python expression on the parsed document d
field() {
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

# expect_readable COMMAND...: the account was printed in full, or facts are missing that this
# machine denies (a container without access to page frames), and then it says which
expect_readable() {
    local code=0
    "$@" >stdout 2>stderr || code=$?
    output=$(cat stdout)
    errors=$(cat stderr)
    case $code in
    0) return 0 ;;
    5) has "$output" "Missing" ;;
    *)
        echo "exit code $code: $*" >&2
        cat stdout stderr >&2
        return 1
        ;;
    esac
}
