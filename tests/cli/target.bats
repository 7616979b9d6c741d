# Targets that are not there, are no process with memory, or are more than one.
load helper

@test "no such pid" {
    expect 4 "$STRATA" explain 4194305
    has "$errors" "4194305"
    [ -z "$output" ]
    expect 4 "$STRATA" explain 99999999999999999999
    expect 4 "$STRATA" explain 0
}

@test "no such name" {
    expect 4 "$STRATA" explain no-such-program-anywhere
    has "$errors" "no-such-program-anywhere"
    expect 4 "$STRATA" explain ""
    expect 4 "$STRATA" explain /no/such/cgroup
}

@test "a process that ended" {
    sleep 0 3>&- &
    local ended=$!
    wait "$ended"
    expect 4 "$STRATA" explain "$ended"
}

@test "a zombie has no memory" {
    start python3 -c 'import os, time
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
with open("zombie.new", "w") as file:
    file.write(str(child))
os.rename("zombie.new", "zombie")
time.sleep(300)'
    wait_for test -f zombie
    expect 4 "$STRATA" explain "$(cat zombie)"
    has "$errors" "zombie"
}

@test "a kernel thread has no memory" {
    mkdir -p root/proc/2 root/sys
    cp "$BATS_TEST_DIRNAME"/../fixtures/kernel-thread/* root/proc/2/
    expect 4 "$STRATA" explain --root root 2
    has "$errors" "kernel thread"
}

@test "a name that only looks like a terminal's escape is shown harmless" {
    expect 4 "$STRATA" explain $'\e]0;owned\a'
    lacks "$errors" $'\e'
    has "$errors" "?]0;owned?"
}

@test "a process is explained by its pid and by its name" {
    start_quiet
    expect_readable "$STRATA" explain "$pid"
    has "$output" "$quiet · pid $pid"
    expect_readable "$STRATA" explain "$quiet"
    has "$output" "$quiet · pid $pid"
}

@test "several processes of one name that do not belong together are listed" {
    local twin=twin-$BASHPID
    start_named "$twin" setsid
    local first=$pid
    start_named "$twin" setsid
    local second=$pid
    if [ "$(cat /proc/self/cgroup)" = "0::/" ] || ! grep -q '\.\(service\|scope\)' /proc/self/cgroup; then
        expect 4 "$STRATA" explain "$twin"
        has "$errors" "$first"
        has "$errors" "$second"
    else
        # All in one unit: one target of two members.
        expect_readable "$STRATA" explain "$twin"
        has "$output" "2 processes"
    fi
}

@test "a process with threads and many arenas is explained" {
    start python3 -c 'import threading, time
blocks = []
ready = threading.Barrier(9)
def work():
    blocks.append([bytes(600) for _ in range(20000)])
    ready.wait()
    time.sleep(300)
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
ready.wait()
open("ready", "w").close()
time.sleep(300)'
    wait_for test -f ready
    expect_readable "$STRATA" explain --all "$pid"
    has "$output" "9 threads"
    has "$output" "main arena"
    has "$output" "residual"
    expect_readable "$STRATA" explain "$pid"
    lacks "$output" "main arena"
    has "$output" "--all adds: every part, the arenas"
}

# Containers that are given the host's /proc have it: system calls take other numbers there.
@test "in a /proc of another pid namespace no call reads the process of the same number" {
    expect 0 unshare --pid --fork "$STRATA" explain $$ --json
    [ "$(field stdout '[l["state"] for l in d["layers"] if l["id"] == "in_use"]')" = "['ok']" ]
}

@test "a file that is no capture is told to be none" {
    echo "# notes" >notes.md
    expect 4 "$STRATA" explain ./notes.md
    has "$errors" "'./notes.md': the file is no capture"
    lacks "$errors" "unit"
}
