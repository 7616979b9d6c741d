# What a user names to be read is a file: nothing is waited for, and nothing is read without end.
load helper

# refuses WHY COMMAND...: with a code of the usual ones and one line; a hang ends with 124
refuses() {
    local why=$1 code=0
    shift
    timeout 60 "$@" >stdout 2>stderr </dev/null || code=$?
    output=$(cat stdout) errors=$(cat stderr)
    if [ "$code" -ne 2 ] && [ "$code" -ne 4 ]; then
        echo "exit code $code: $*" >&2
        cat stdout stderr >&2
        return 1
    fi
    [ -z "$output" ]
    has "$errors" "$why"
    [ "$(wc -l <stderr)" = 1 ]
}

# each command that takes a file, and each option, with $1 in its place; $2 as a capture, $3 as a recording
everything_refuses() {
    local why=$1 capture=$2 recording=$3
    refuses "cannot read capture '$capture': $why" "$STRATA" explain "$capture"
    refuses "cannot read capture '$capture': $why" "$STRATA" explain "$quiet" --since "$capture"
    refuses "cannot read capture '$capture': $why" "$STRATA" plan "$capture" --limit 1G
    refuses "cannot read capture '$capture': $why" "$STRATA" capture "$capture" -o out.strata
    refuses "cannot read recording '$recording': $why" "$STRATA" explain "$recording"
    refuses "cannot read recording '$recording': $why" "$STRATA" explain "$recording" --at 12:00
    refuses "cannot read recording '$recording': $why" "$STRATA" explain "$quiet" --since "$recording"
    refuses "cannot read recording '$recording': $why" "$STRATA" report "$recording" -o out.html
    refuses "cannot read recording '$recording': $why" "$STRATA" report whole.db --compare "$recording" -o out.html
    refuses "cannot read recording '$recording': $why" "$STRATA" plan "$recording" --limit 1G
}

prepare() {
    start_quiet
    record_ticks whole.db 2 "$quiet"
}

@test "a named pipe is refused wherever a file is read" {
    prepare
    mkfifo pipe.json pipe.db pipe
    everything_refuses "it is a named pipe" pipe.json pipe.db
    refuses "cannot read capture './pipe': it is a named pipe" "$STRATA" explain ./pipe
    refuses "cannot read capture './pipe': it is a named pipe" "$STRATA" plan ./pipe --limit 1G
    refuses "cannot read capture 'pipe': it is a named pipe" "$STRATA" explain "$quiet" --since pipe
    refuses "cannot read recording 'pipe': it is a named pipe" "$STRATA" report whole.db --compare pipe -o out.html
    local code=0
    timeout 60 "$STRATA" explain "$quiet" --defaults-file pipe >stdout 2>stderr || code=$?
    [ "$code" -ne 124 ]
}

@test "a folder is refused wherever a file is read" {
    prepare
    mkdir folder.json folder.db
    everything_refuses "it is a folder" folder.json folder.db
}

@test "a device is refused wherever a file is read" {
    prepare
    ln -s /dev/zero zero.json
    ln -s /dev/zero zero.db
    everything_refuses "it is a device" zero.json zero.db
    refuses "/dev/zero" "$STRATA" explain /dev/zero
}

@test "standard input and a pipe of the shell are read" {
    start_quiet
    "$STRATA" capture "$pid" -o facts.strata || allowed $?
    "$STRATA" explain facts.strata >from-file || allowed $?
    "$STRATA" explain - <facts.strata >from-input || allowed $?
    cmp from-input from-file
    "$STRATA" explain facts.strata --since - <facts.strata >since-input || allowed $?
    "$STRATA" explain facts.strata --since <(cat facts.strata) >since-pipe || allowed $?
    grep -q 'Since 20' since-input
    grep -q 'Since 20' since-pipe
}
