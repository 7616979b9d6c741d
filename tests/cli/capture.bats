# Facts in a file: the same account later, and what is wrong with files that are none.
load helper

# allowed CODE: an account was printed
allowed() {
    [ "$1" -eq 0 ] || [ "$1" -eq 5 ]
}

@test "explaining a capture prints byte for byte what the live run printed" {
    start_quiet
    local code=0
    "$STRATA" explain "$pid" --capture facts.strata >live.txt || code=$?
    allowed "$code"
    for options in "" --bytes --all "--width 120" --color=always; do
        "$STRATA" explain "$pid" $options --capture facts.strata >live || allowed $?
        "$STRATA" explain facts.strata $options >replay || allowed $?
        cmp live replay
    done
    "$STRATA" explain "$pid" --json --capture facts.strata >live || allowed $?
    "$STRATA" explain facts.strata --json >replay || allowed $?
    cmp live replay
}

@test "a capture explained twice is the same, also after its process ended" {
    start_quiet
    "$STRATA" capture "$pid" -o facts.strata || allowed $?
    "$STRATA" explain facts.strata >first || allowed $?
    kill -9 "$pid"
    "$STRATA" explain facts.strata >second || allowed $?
    cmp first second
    grep -q "$quiet · pid $pid" first
}

@test "the exit code of a replay is that of the live run" {
    start_quiet
    local live=0 replay=0
    "$STRATA" explain "$pid" --capture facts.strata >/dev/null || live=$?
    "$STRATA" explain facts.strata --json >/dev/null || replay=$?
    [ "$live" -eq "$replay" ]
}

@test "captures come from standard input and go to standard output" {
    start_quiet
    "$STRATA" capture "$pid" -o - >facts || allowed $?
    "$STRATA" explain - <facts >from-input || allowed $?
    "$STRATA" explain ./facts >from-file || allowed $?
    cmp from-input from-file
}

@test "an existing file is replaced whole, and nothing is left beside it" {
    start_quiet
    echo old >facts.strata
    "$STRATA" capture "$pid" -o facts.strata || allowed $?
    "$STRATA" explain facts.strata >/dev/null || allowed $?
    [ "$(ls | grep -vc '^std')" -eq 1 ]
}

@test "a limit on the size of files is told like a full disk, and leaves nothing behind" {
    start_quiet
    expect 6 bash -c 'ulimit -f 1 && exec "$0" capture "$1" -o facts.strata' "$STRATA" "$pid"
    has "$errors" "File too large"
    [ -z "$(ls | grep '^facts')" ]
}

@test "a capture that cannot be written is told, and the old one stays" {
    start_quiet
    expect 6 "$STRATA" capture "$pid" -o no-such-folder/facts.strata
    has "$errors" "no-such-folder"
    expect 6 "$STRATA" capture "$pid" -o /dev/full
    has "$errors" "No space left"
    expect 6 "$STRATA" explain "$pid" --capture no-such-folder/facts.strata
    expect 2 "$STRATA" explain "$pid" --capture -
}

@test "captures that are none, damaged or cut off" {
    start_quiet
    "$STRATA" capture "$pid" -o good.strata || allowed $?
    : >empty.strata
    head -c 1000 good.strata >cut.strata
    head -c -2 good.strata >nearly.strata
    tr '{' '[' <good.strata >mangled.strata
    head -c 4096 /dev/urandom >noise.strata
    echo '{"strata": 1}' >other.strata
    for file in empty cut nearly mangled noise other; do
        expect 4 "$STRATA" explain "$file.strata"
        has "$errors" "$file.strata"
        [ -z "$output" ]
    done
}

@test "a capture of a newer schema says so" {
    start_quiet
    "$STRATA" capture "$pid" -o facts.strata || allowed $?
    python3 - <<'PYTHON'
import json
facts = json.load(open("facts.strata"))
facts["schema"] = 99
json.dump(facts, open("newer.strata", "w"))
PYTHON
    expect 4 "$STRATA" explain newer.strata
    has "$errors" "99"
}

@test "a missing capture is not looked for among processes" {
    expect 4 "$STRATA" explain missing.strata
    has "$errors" "missing.strata"
    expect 4 "$STRATA" explain missing.json
    mkdir folder.strata
    expect 4 "$STRATA" explain folder.strata
}

@test "names in a hostile capture cannot steer the terminal" {
    start_quiet
    "$STRATA" capture "$pid" -o facts.strata || allowed $?
    python3 - "\"$quiet\"" <<'PYTHON'
import sys
text = open("facts.strata").read()
assert sys.argv[1] in text
open("hostile.strata", "w").write(text.replace(sys.argv[1], '"\\u001b[2J\\u202esleep"'))
PYTHON
    "$STRATA" explain hostile.strata >screen || allowed $?
    ! grep -q $'\e' screen
    grep -q '?\[2J?sleep' screen
    "$STRATA" explain hostile.strata --json >document || allowed $?
    python3 -m json.tool document >/dev/null
}

@test "a pipe is a capture, a program's path is not" {
    start_quiet
    "$STRATA" capture "$pid" -o facts.strata || allowed $?
    "$STRATA" explain <(cat facts.strata) >from-pipe || allowed $?
    "$STRATA" explain facts.strata >from-file || allowed $?
    cmp from-pipe from-file
    name=by-path-$BASHPID
    cp "$(command -v sleep)" "$name"
    start "./$name" 3600
    wait_for is_called "$pid" "$name"
    expect_readable "$STRATA" explain "$PWD/$name"
    has "$output" "$name · pid $pid"
}
