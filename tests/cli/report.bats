# The page of a recording: spans, comparison, and what is said about wrong files and times.
load helper

setup_recording() {
    start_quiet
    expect 0 "$STRATA" record "$pid" -o "$1" --every 200ms --for 3s
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
    local all some
    all=$(field stdout 'd["recording"]["ticks"]')
    expect 0 "$STRATA" report r.db --from +1s --to -500ms --json
    some=$(field stdout 'd["recording"]["ticks"]')
    [ "$some" -lt "$all" ]
    [ "$some" -gt 0 ]
    expect 0 "$STRATA" report r.db --at -1s --json
    expect 2 "$STRATA" report r.db --from -1s --to +1s --json
    has "$errors" "--from must be before --to"
    expect 2 "$STRATA" report r.db --from yesterday --json
    expect 4 "$STRATA" report r.db --to 2001-01-01T10:00 --json
}

@test "two recordings side by side" {
    setup_recording old.db
    setup_recording new.db
    expect 0 "$STRATA" report new.db --compare old.db --json
    field stdout 'd["before"]["file"] == "old.db" and len(d["before"]["subjects"]) == 1' | grep -q True
    expect 4 "$STRATA" report new.db --compare missing.db --json
    has "$errors" "missing.db"
}

@test "a recording that grows ends with 1 when that is asked for" {
    cat >grow.py <<'PYTHON'
import time
kept = []
for _ in range(600):
    kept.append(bytearray(4 << 20))
    time.sleep(0.1)
PYTHON
    start python3 grow.py
    expect 0 "$STRATA" record "$pid" -o r.db --every 200ms --for 8s
    expect 1 "$STRATA" report r.db --json --fail-on warn
    has "$output" '"growth-leak"'
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
