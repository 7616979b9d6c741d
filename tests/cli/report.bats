# The page of a recording: spans, comparison, and what is said about wrong files and times.
load helper

setup_recording() {
    start_quiet
    record_ticks "$1" 8 "$pid"
}

# middle FILE: milliseconds from the first tick to half the way to the second, and from the last back
middle() {
    python3 - "$1" <<'PYTHON'
import sqlite3, sys
times = [row[0] for row in sqlite3.connect(sys.argv[1]).execute("SELECT wall_ms FROM ticks ORDER BY wall_ms")]
print((times[1] - times[0]) // 2, (times[-1] - times[-2]) // 2)
PYTHON
}

@test "a page, a document for machines, and standard output" {
    setup_recording r.db
    expect 0 "$STRATA" report r.db -o page.html
    [ -z "$output$errors" ]
    grep -q "uPlot" page.html
    grep -q "The MIT License" page.html
    expect 0 "$STRATA" report r.db -o -
    has "$output" "</html>"
    expect 0 "$STRATA" report r.db --json
    field stdout 'd["schema"] == 1 and d["before"] is None and len(d["recording"]["subjects"]) == 2' | grep -q True
    field stdout 'd["recording"]["subjects"][1]["pid"]' | grep -qx "$pid"
    expect 0 "$STRATA" report r.db --json -o data.json
    cmp stdout /dev/null
    python3 -m json.tool data.json >/dev/null
}

@test "a span of time" {
    setup_recording r.db
    expect 0 "$STRATA" report r.db --json
    local all some after_first before_last
    all=$(field stdout 'd["recording"]["ticks"]')
    read -r after_first before_last < <(middle r.db)
    expect 0 "$STRATA" report r.db --from "+${after_first}ms" --to "-${before_last}ms" --json
    some=$(field stdout 'd["recording"]["ticks"]')
    [ "$some" -eq $((all - 2)) ]
    expect 0 "$STRATA" report r.db --at -1s --json
    expect 2 "$STRATA" report r.db --from -0s --to +0s --json
    has "$errors" "--from must be before --to"
    expect 2 "$STRATA" report r.db --from yesterday --json
    expect 4 "$STRATA" report r.db --to 2001-01-01T10:00 --json
}

@test "two recordings side by side" {
    setup_recording old.db
    setup_recording new.db
    expect 0 "$STRATA" report new.db --compare old.db --json
    field stdout 'd["before"]["file"] == "old.db" and len(d["before"]["subjects"]) == 1' | grep -q True
    field stdout '[(s["since"]["source"], s["since"]["promises"], s["since"]["restarted"]) for s in d["since"]]' |
        grep -qxF "[('old.db', [], True)]"
    expect 4 "$STRATA" report new.db --compare missing.db --json
    has "$errors" "missing.db"
}

ended_of() {
    expect 0 "$STRATA" report e.db --json
    field stdout '[s["ended"] for s in d["recording"]["subjects"] if s["pid"] == '"$1"']'
}

@test "ended is what was gone when its target was asked for, not what was asked for no longer" {
    start sleep 300
    first=$pid
    start python3 -c 'import time; time.sleep(300)'
    second=$pid
    record_ticks e.db 2 "$first"
    record_ticks e.db 4 "$second"
    [ "$(ended_of "$first")" = "[False]" ]
    [ "$(ended_of "$second")" = "[False]" ]
    "$STRATA" record "$first" "$second" -o e.db --every 200ms >told 2>&1 3>&- &
    recorder=$!
    started+=("$recorder")
    wait_for has_ticks e.db 6
    kill "$first"
    wait_for has_ticks e.db 10
    kill -INT "$recorder"
    wait "$recorder"
    [ "$(ended_of "$first")" = "[True]" ]
    [ "$(ended_of "$second")" = "[False]" ]
}

@test "a recording that grows ends with 1 when that is asked for" {
    make_recording=$(dirname "$STRATA")/../../tests/browser/make_recording
    "$make_recording" long.db 2 720 5 1
    expect 1 "$STRATA" report long.db --json --fail-on warn
    has "$output" '"growth-leak"'
    field stdout 'all(f["subject"] > 0 for f in d["recording"]["findings"])' | grep -qx True
    field stdout '[f["fix"] for f in d["recording"]["findings"] if f["rule"] == "growth-leak"][0]' |
        grep -q "^strata explain long.db [^ ]* --at 20[0-9T:-]*Z$"
}

@test "what grew for seconds is neither a leak nor a warm-up" {
    # By the clock, so that it grows evenly on a machine which is busy now and then.
    cat >grow.py <<'PYTHON'
import time
begin, kept = time.monotonic(), []
while True:
    while len(kept) < (time.monotonic() - begin) * 8:
        kept.append(bytearray(1 << 20))
    time.sleep(0.05)
PYTHON
    start python3 grow.py
    record_ticks r.db 40 "$pid"
    expect 0 "$STRATA" report r.db --json --fail-on warn
    lacks "$output" '"growth-'
    field stdout 'd["recording"]["subjects"][0]["by_time"]["verdict"]' | grep -qx short
    field stdout 'd["recording"]["subjects"][0]["by_time"]["span"] < 600' | grep -qx True
    expect 0 "$STRATA" report r.db -o page.html
}

@test "what is no recording, and files that cannot be written" {
    setup_recording r.db
    expect 2 "$STRATA" report r.db
    has "$errors" "-o FILE.html"
    expect 2 "$STRATA" report
    expect 4 "$STRATA" report missing.db -o page.html
    : >empty.db
    expect 4 "$STRATA" report empty.db -o page.html
    has "$errors" "empty"
    [ ! -e page.html ]
    cp r.db old.db
    ln -s r.db link.db
    expect 2 "$STRATA" report r.db -o link.db
    has "$errors" "it is the recording that is read"
    expect 2 "$STRATA" report r.db --compare old.db -o old.db
    expect 2 "$STRATA" explain r.db --capture r.db
    cmp r.db old.db
    expect 6 "$STRATA" report r.db -o /dev/full
    expect 6 "$STRATA" report r.db -o no-such-folder/page.html
    has "$errors" "no-such-folder"
}
