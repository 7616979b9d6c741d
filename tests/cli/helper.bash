# helper.bash - what the tests of the command line have in common.
#
# $STRATA is the program. Each test has its own folder ($BATS_TEST_TMPDIR) and ends the
# processes that it started, by their pids.

setup() {
    : "${STRATA:?is the path of the program; ctest sets it}"
    unset NO_COLOR COLUMNS
    export TERM=xterm LC_ALL=C.UTF-8
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
    for _ in $(seq 600); do
        if "$@"; then
            return 0
        fi
        sleep 0.05
    done
    echo "never came true: $*" >&2
    return 1
}

# A process to explain that is quiet: same facts whenever it is read.
start_quiet() {
    start sleep 300
    wait_for is_called "$pid" sleep
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
