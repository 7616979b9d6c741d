# Facts over time: what is recorded, what survives, and what is said about files that are none.
load helper

# recorded CODE ARGUMENT...: strata record into r.db, full captures at the first and the last tick only
recorded() {
    local wanted=$1
    shift
    expect "$wanted" "$STRATA" record "$@" -o r.db --every 200ms
}

# start_recording TARGET: into r.db, beside the test, until something ends it; $recorder is its pid
start_recording() {
    "$STRATA" record "$1" -o r.db --every 200ms >told 2>&1 3>&- &
    recorder=$!
    started+=("$recorder")
    wait_for has_ticks r.db 2
}

# count TABLE [WHERE]: rows of r.db
count() {
    rows_of r.db "$@"
}

# The time of the last tick in seconds.
last_tick() {
    python3 -c 'import sqlite3; print(sqlite3.connect("r.db").execute("SELECT max(wall_ms) FROM ticks").fetchone()[0] // 1000)'
}

@test "ticks, a capture at the start and at the end, and what it took" {
    start_quiet
    record_ticks r.db 2 "$pid"
    grep -q "ticks and 2 captures in" told
    grep -q "% of one processor" told
    at_least "$(count ticks)" 2
    [ "$(stat -c %a r.db)" = 600 ]
    recorded 0 "$pid" --for 1s --json
    field stdout 'd["ticks"] >= 1 and d["cpu_us"] > 0 and d["file_bytes"] > 0' | grep -q True
}

@test "a moment of a recording is explained byte for byte like its capture" {
    start_quiet
    recorded 0 "$pid" --for 1s
    for options in "" --json "--bytes --all"; do
        "$STRATA" explain r.db $options --capture facts.strata >from-recording
        "$STRATA" explain facts.strata $options >from-capture
        cmp from-recording from-capture
    done
    python3 - <<'PYTHON'
import sqlite3, zlib
plain, data = sqlite3.connect("r.db").execute("SELECT plain_bytes, data FROM captures ORDER BY boot_ms DESC").fetchone()
text = zlib.decompress(data)
assert len(text) == plain
assert text == open("facts.strata", "rb").read()
PYTHON
}

# grown_captures COUNT: so many captures of r.db have more than 60 MiB resident
grown_captures() {
    at_least "$(python3 - <<'PYTHON'
import json, sqlite3, zlib
captures = sqlite3.connect("r.db").execute("SELECT data FROM captures").fetchall()
grown = 0
for (data,) in captures:
    process = json.loads(zlib.decompress(data))["processes"][0]
    grown += process["values"]["vm_rss"] > 60 << 20
print(grown)
PYTHON
)" "$1" 2>/dev/null
}

# A process of 64 MiB more after the first signal USR1, and of as much less after the second.
start_breathing() {
    start python3 -c '
import mmap, signal
held = None
print(flush=True)
def breathe(*_):
    global held
    if held is None:
        held = mmap.mmap(-1, 64 << 20)
        held.write(b"x" * (64 << 20))
    else:
        held.close()
        open("shrunk", "w").close()
signal.signal(signal.SIGUSR1, breathe)
open("ready", "w").close()
while True:
    signal.pause()'
    wait_for test -e ready
}

@test "the highest moment of a recording has a capture, and so has its end" {
    start_breathing
    local target=$pid
    start_recording "$target"
    kill -USR1 "$target"
    wait_for grown_captures 1
    expect 0 "$STRATA" explain r.db --json
    field stdout '[l["bytes"] for l in d["layers"] if l["id"] == "resident"][0] > 60 << 20' | grep -q True
    kill -USR1 "$target"
    wait_for test -e shrunk
    kill -INT "$recorder"
    wait "$recorder"
    expect 0 "$STRATA" explain r.db --json
    lacks "$errors" "before the end"
    field stdout '[l["bytes"] for l in d["layers"] if l["id"] == "resident"][0] < 60 << 20' | grep -q True
}

@test "times of a recording" {
    start_quiet
    recorded 0 "$pid" --for 2s
    local last
    last=@$(last_tick)
    expect 0 "$STRATA" explain r.db --at -200ms
    expect 0 "$STRATA" explain r.db --at +0s
    expect 0 "$STRATA" explain r.db --at "$(date -u -d "$last" +%Y-%m-%dT%H:%M:%SZ)"
    expect 0 env TZ=Asia/Kolkata "$STRATA" explain r.db --at "$(TZ=Asia/Kolkata date -d "$last" +%H:%M)"
    expect 4 "$STRATA" explain r.db --at 2001-02-03T04:05
    has "$errors" "lasts from"
    expect 4 "$STRATA" explain r.db --at -1h
    expect 2 "$STRATA" explain r.db --at noon
    has "$errors" "noon"
    expect 2 "$STRATA" explain r.db --at 2026-02-30T10:00Z
    expect 2 "$STRATA" explain "$pid" --at 14:05
    has "$errors" "needs a recording"
}

@test "of several targets one is named" {
    start_quiet
    local first=$pid
    start_quiet
    recorded 0 "$first" "$pid" --for 1s
    expect 4 "$STRATA" explain r.db
    has "$errors" "'$first', '$pid'"
    expect 0 "$STRATA" explain r.db "$first"
    has "$output" "pid $first"
    expect 4 "$STRATA" explain r.db nobody
    has "$errors" "nobody"
}

@test "a killed recorder loses nothing, and recording resumes in the same file" {
    start_quiet
    local target=$pid
    start "$STRATA" record "$target" -o r.db --every 200ms
    local recorder=$pid
    wait_for has_ticks r.db 5
    expect 6 "$STRATA" record "$target" -o r.db --for 1s
    has "$errors" "another strata records into it"
    kill -9 "$recorder"
    wait "$recorder" || true
    local before
    before=$(count ticks)
    at_least "$before" 5
    expect 0 "$STRATA" explain r.db
    recorded 0 "$target" --for 1s
    at_least "$(count ticks)" $((before + 1))
    [ "$(count sessions)" -eq 2 ]
    [ "$(count sessions 'ended_boot_ms IS NOT NULL')" -eq 1 ]
    [ "$(count subjects "kind='process'")" -eq 1 ]
}

@test "a recording that is removed or renamed meanwhile ends, and leaves no log" {
    start_quiet
    local target=$pid
    for how in "rm r.db" "mv r.db moved.db"; do
        "$STRATA" record "$target" -o r.db --every 200ms --for 60s >told 2>&1 3>&- &
        local recorder=$!
        started+=("$recorder")
        wait_for has_ticks r.db 2
        $how
        local code=0
        wait "$recorder" || code=$?
        [ "$code" -eq 6 ]
        grep -q "'r.db': the file was removed or replaced" told
        [ -z "$(ls | grep '^r\.db')" ]
    done
    mv moved.db r.db
    at_least "$(count ticks)" 2
}

@test "a file that is called as SQLite calls memory is a file" {
    start_quiet
    expect 0 "$STRATA" record "$pid" -o :memory: --every 200ms --for 500ms
    expect 0 "$STRATA" explain ./:memory:
}

@test "a recording that was read is one file, as before" {
    start_quiet
    recorded 0 "$pid" --for 500ms
    local before
    before=$(cksum <r.db)
    expect 0 "$STRATA" explain r.db
    expect 0 "$STRATA" report r.db -o page.html
    expect 4 "$STRATA" explain r.db --at -1h
    [ -z "$(ls | grep '^r\.db-')" ]
    [ "$(cksum <r.db)" = "$before" ]
}

@test "a target that is named twice is recorded once" {
    start_quiet
    expect 0 "$STRATA" record "$pid" "$pid" -o r.db --every 200ms --for 500ms
    [ "$(count captures)" -eq 2 ]
    [ "$(count subjects "kind='target'")" -eq 1 ]
}

@test "signals end a recording as its time would" {
    start_quiet
    local target=$pid
    for signal in INT TERM HUP; do
        start_recording "$target"
        kill -"$signal" "$recorder"
        wait "$recorder"
        grep -q "one processor" told
        rm r.db
    done
    [ -z "$(ls | grep '^r\.db')" ]
}

@test "a pid that ends, ends the recording; a name is waited for" {
    start_quiet
    local first=$pid
    start_recording "$first"
    kill -9 "$first"
    wait "$recorder"
    [ "$(count events "kind='gone'")" -eq 1 ]
    [ "$(count subjects "kind='process' AND last_tick IS NOT NULL")" -eq 1 ]
    rm r.db
    start_quiet
    first=$pid
    start_recording "$quiet"
    kill -9 "$first"
    wait_for is_gone
    start_quiet
    wait_for two_processes
    kill -INT "$recorder"
    wait "$recorder"
}

is_gone() {
    [ "$(count events "kind='gone'")" -eq 1 ]
}

two_processes() {
    [ "$(count subjects "kind='process'")" -eq 2 ]
}

@test "who is not there, and files that cannot be recorded into" {
    expect 4 "$STRATA" record no-such-program -o r.db --for 1s
    has "$errors" "no-such-program"
    [ ! -e r.db ]
    start_quiet
    expect 2 "$STRATA" record "$pid"
    expect 2 "$STRATA" record "$pid" -o -
    expect 2 "$STRATA" record -o r.db
    expect 2 "$STRATA" record "$pid" -o r.db --every 5x
    expect 2 "$STRATA" record "$pid" -o r.db --every 1ms
    expect 2 "$STRATA" record "$pid" -o r.db --every soon
    expect 2 "$STRATA" record "$pid" -o r.db --max-size much
    expect 2 "$STRATA" record "$pid" -o r.db --for 0s
    has "$errors" "no time at all"
    expect 2 "$STRATA" record "$pid" -o r.db --for 200000000000d
    expect 6 "$STRATA" record "$pid" -o no-such-folder/r.db --for 1s
    has "$errors" "no-such-folder"
    mkfifo pipe.db
    expect 4 "$STRATA" record "$pid" -o pipe.db --for 1s
    has "$errors" "no regular file"
    echo "not a database, but a text that is longer than the head of one" >text.db
    expect 4 "$STRATA" record "$pid" -o text.db --for 1s
    has "$errors" "not a database"
    grep -q "not a database, but" text.db
    python3 -c 'import sqlite3; sqlite3.connect("other.db").execute("CREATE TABLE t(x)")'
    expect 4 "$STRATA" record "$pid" -o other.db --for 1s
    has "$errors" "another program"
}

@test "recordings that are none, newer, empty, cut off or damaged" {
    start_quiet
    recorded 0 "$pid" --for 1s
    : >empty.db
    head -c 5000 r.db >cut.db
    head -c 100000 /dev/urandom >noise.db
    echo '{"format": "strata-capture"}' >capture.db
    python3 - <<'PYTHON'
import shutil, sqlite3
shutil.copy("r.db", "newer.db")
newer = sqlite3.connect("newer.db")
newer.execute("PRAGMA user_version=99")
newer.commit()
shutil.copy("r.db", "holes.db")
data = bytearray(open("holes.db", "rb").read())
for page in range(4096, len(data), 8192):
    data[page:page + 64] = b"\xff" * 64
open("holes.db", "wb").write(data)
PYTHON
    for file in empty cut noise capture newer holes missing; do
        expect 4 "$STRATA" explain "$file.db"
        has "$errors" "$file.db"
        [ -z "$output" ]
    done
    expect 4 "$STRATA" explain newer.db
    has "$errors" "99"
    expect 4 "$STRATA" record "$pid" -o newer.db --for 1s
    has "$errors" "newer"
    recorded 0 "$pid" --for 1s
}

@test "a file that may not grow: it is told, what is stored stays, recording goes on" {
    start_quiet
    local target=$pid
    (ulimit -f 300 && exec "$STRATA" record "$target" -o r.db --every 200ms --deep-every 200ms) >stdout 2>stderr 3>&- &
    local recorder=$! code=0
    started+=("$recorder")
    wait_for grep -q "trying again at every tick" stderr
    kill -INT "$recorder"
    wait "$recorder" || code=$?
    [ "$code" -eq 6 ]
    grep -q "cannot record into 'r.db'" stderr
    grep -q "could not be stored" stdout
    at_least "$(count ticks)" 3
    expect 0 "$STRATA" explain r.db
    recorded 0 "$target" --for 1s
    [ "$(count sessions)" -eq 2 ]
}

@test "a recording is read from a folder that cannot be written" {
    start_quiet
    recorded 0 "$pid" --for 1s
    local closed code=0
    closed=$(mktemp -d)
    cp r.db "$closed"
    cp "$STRATA" "$closed/strata"
    chmod 644 "$closed/r.db"
    chmod 555 "$closed"
    as_other "$closed/strata" explain "$closed/r.db" >told || code=$?
    chmod 755 "$closed"
    rm -r "$closed"
    allowed "$code"
    grep -q "pid $pid" told
}

# allowed CODE: an account was printed
allowed() {
    [ "$1" -eq 0 ] || [ "$1" -eq 5 ]
}

@test "names in a recording cannot steer the terminal" {
    start_quiet
    recorded 0 "$pid" --for 1s
    python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("r.db")
db.execute("UPDATE subjects SET name='\x1b[2Jevil' WHERE kind='target'")
db.commit()
PYTHON
    expect 4 "$STRATA" explain r.db nobody
    lacks "$errors" $'\e'
}

# on_terminal ARGUMENT...: strata record into r.db on a terminal, what it shows into $output
on_terminal() {
    rm -f r.db
    output=$(python3 "$BATS_TEST_DIRNAME/on_terminal.py" "$STRATA" record "$@" -o r.db --every 200ms --for 1s)
}

@test "a line of progress on a terminal, and only there" {
    start_quiet
    on_terminal "$pid"
    has "$output" "  targets 1/1  processes 1  ticks 1  captures 1"
    has "$output" "of one processor"
    lacks "$output" "recording"
    on_terminal "$pid" --json
    has "$output" "  ticks 1  captures 1"
    rm r.db
    recorded 0 "$pid" --for 1s
    lacks "$errors$output" "processes"
}

@test "the line of progress does not wrap on a narrow terminal" {
    start_quiet
    TERMINAL_COLUMNS=30 on_terminal "$pid"
    has "$output" "targets 1/1"
    python3 - "$output" <<'PYTHON'
import re, sys
lines = re.findall(r"\r\x1b\[K([^\r\n]*)(?=\r\x1b\[K)", sys.argv[1])
assert max(len(line) for line in lines) == 29, lines
PYTHON
}

@test "the line of progress goes on between ticks" {
    start_quiet
    rm -f r.db
    output=$(python3 "$BATS_TEST_DIRNAME/on_terminal.py" "$STRATA" record "$pid" -o r.db --every 1h --for 2500ms)
    [[ "$output" =~ K[1-9][0-9]*" s  " ]]
    [ "$(count ticks)" -eq 2 ] # at the start and at the end
}

@test "without a terminal one line at the start says who, where and until when" {
    start_quiet
    recorded 0 "$pid" --for 500ms --json
    [[ "$errors" =~ ^"strata: recording '$pid' into 'r.db' until "20[0-9-]+T[0-9:]+Z$ ]]
    field stdout 'd["file"]' | grep -qx r.db
    "$STRATA" record "$pid" no-such-program -o r.db --every 200ms >told 2>errors 3>&- &
    local recorder=$!
    started+=("$recorder")
    wait_for grep -q "^strata: recording '$pid', 'no-such-program' into 'r.db' until a signal ends it$" errors
    wait_for has_ticks r.db 3
    kill -INT "$recorder"
    wait "$recorder"
    grep -q "^r.db: .* ticks and" told
    [ "$(grep -c . errors)" -eq 2 ] # and the one that is not there
}
