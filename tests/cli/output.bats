# How it looks, and what happens when it cannot be written.
load helper

escape=$'\e'

@test "colour is off in a pipe, on when asked for, off with never" {
    start_quiet
    expect_readable "$STRATA" explain "$pid"
    lacks "$output" "$escape"
    expect_readable "$STRATA" explain --color=always "$pid"
    has "$output" "$escape["
    expect_readable "$STRATA" explain --color=never "$pid"
    lacks "$output" "$escape"
}

# on_terminal COMMAND...: its output on a terminal of 100 columns, in $output
on_terminal() {
    output=$(python3 "$BATS_TEST_DIRNAME/on_terminal.py" "$@")
}

@test "a terminal gets colour, unless NO_COLOR or TERM=dumb says no" {
    start_quiet
    on_terminal "$STRATA" explain "$pid"
    has "$output" "$escape["
    NO_COLOR=1 on_terminal "$STRATA" explain "$pid"
    lacks "$output" "$escape"
    NO_COLOR= on_terminal "$STRATA" explain "$pid"
    has "$output" "$escape["
    TERM=dumb on_terminal "$STRATA" explain "$pid"
    lacks "$output" "$escape"
    NO_COLOR=1 on_terminal "$STRATA" explain --color=always "$pid"
    has "$output" "$escape["
}

@test "other locales get ASCII" {
    start_quiet
    LC_ALL=C expect_readable "$STRATA" explain "$pid"
    ! LC_ALL=C grep -q '[^ -~]' stdout
    has "$output" "#"
}

@test "lines fit the width" {
    start_quiet
    for width in 80 132; do
        expect_readable "$STRATA" explain --width "$width" "$pid"
        [ "$(wc -L <stdout)" -le "$width" ]
        expect_readable "$STRATA" explain --bytes --width "$width" "$pid"
        [ "$(wc -L <stdout)" -le "$width" ]
    done
}

@test "--bytes prints the number that the JSON has" {
    start_quiet
    "$STRATA" explain "$pid" --json --capture facts.strata >document || [ $? -eq 5 ]
    expect_readable "$STRATA" explain --bytes facts.strata
    resident=$(field document '[l["bytes"] for l in d["layers"] if l["id"] == "resident"][0]')
    has "$output" "$resident B  resident"
    # Sentences of findings keep their units; all figures before them are exact.
    lacks "${output%%What to change*}" "MiB"
}

@test "the JSON is valid, and what it says adds up" {
    start_quiet
    "$STRATA" explain --json "$pid" >document || [ $? -eq 5 ]
    python3 -m json.tool document >/dev/null
    [ "$(field document 'd["schema"]')" = 1 ]
    [ "$(field document 'd["target"]["pid"]')" = "$pid" ]
    [ "$(field document 'all(sum(p["bytes"] for p in l["parts"]) == l["bytes"]
        for l in d["layers"] if l.get("parts"))')" = True ]
    [ "$(field document 'all(("bytes" in l) == (l["state"] in ("ok", "stale"))
        for l in d["layers"])')" = True ]
    "$STRATA" rules --json | python3 -m json.tool >/dev/null
}

@test "a full disk, a closed output and a reader that left are errors" {
    start_quiet
    expect 6 bash -c '"$0" explain "$1" >/dev/full' "$STRATA" "$pid"
    has "$errors" "strata: cannot write to standard output: No space left on device"
    expect 6 bash -c '"$0" explain "$1" >&-' "$STRATA" "$pid"
    has "$errors" "cannot write to standard output: Bad file descriptor"
    expect 6 python3 -c 'import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.call(sys.argv[1:], stdout=writer))' "$STRATA" explain --json "$pid"
    has "$errors" "cannot write to standard output: Broken pipe"
    expect 6 bash -c '"$0" help >/dev/full' "$STRATA"
    expect 6 bash -c '"$0" --version >&-' "$STRATA"
}

@test "a closed standard error changes nothing" {
    start_quiet
    expect 4 bash -c '"$0" explain 4194305 2>&-' "$STRATA"
    bash -c '"$0" explain "$1" 2>&- <&-' "$STRATA" "$pid" >out || [ $? -eq 5 ]
    grep -q "Resident: where" out
}

@test "the overview has a row for a large process" {
    start python3 -c 'import time; block = b"x" * (300 << 20); time.sleep(300)'
    is_large() { [ "$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")" -gt 300000 ]; }
    wait_for is_large
    expect_readable "$STRATA"
    has "$output" "$pid"
    has "$output" "resident"
    "$STRATA" --json >document || [ $? -eq 5 ]
    [ "$(field document "any($pid in r['members'] for r in d['rows'])")" = True ]
}

@test "--fail-on decides by severity" {
    start_quiet
    "$STRATA" capture "$pid" -o facts.strata || [ $? -eq 5 ]
    "$STRATA" explain facts.strata --json >document || [ $? -eq 5 ]
    worst=$(field document 'max([["info", "warn", "critical"].index(f["severity"])
        for f in d["findings"]], default=-1)')
    for level in 0 1 2; do
        local code=0
        local name=(info warn critical)
        "$STRATA" explain facts.strata --fail-on "${name[level]}" >/dev/null || code=$?
        if [ "$worst" -ge "$level" ]; then
            [ "$code" -eq 1 ]
        else
            [ "$code" -ne 1 ]
        fi
    done
}

@test "--fail-on of the overview looks at every row" {
    for level in info warn critical; do
        local code=0
        "$STRATA" --json --fail-on "$level" >document || code=$?
        found=$(field document "any(
            ['info', 'warn', 'critical'].index(f['severity']) >= ['info', 'warn', 'critical'].index('$level')
            for r in d['rows'] for f in r['findings'])")
        if [ "$found" = True ]; then
            [ "$code" -eq 1 ]
        else
            [ "$code" -ne 1 ]
        fi
    done
}

@test "free blocks beside blocks in use are not told as memory without pages" {
    start python3 -c 'import time
kept = [bytes(1000) for i in range(40000)]
del kept[::2]
open("holed", "w").close()
time.sleep(300)'
    wait_for test -f holed
    expect_readable "$STRATA" explain --width 120 "$pid"
    has "$output" "in whole resident pages, "
    has "$output" "beside blocks in use"
    lacks "$output" "of it resident"
}
