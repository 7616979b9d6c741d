# `strata run`: the command's own exit, what it says of programs that no preload reaches.
load helper

# A file that looks like a program; offset 4: class, 18: machine.
forge() {
    cp "$(readlink -f /bin/true)" "$1"
    chmod 755 "$1"
}

poke() {
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "the exit code is the command's" {
    expect 0 "$STRATA" run -- true
    expect 7 "$STRATA" run sh -c 'exit 7'
    expect 137 "$STRATA" run sh -c 'kill -9 $$'
    has "$errors" "ended by signal 9"
    expect 127 "$STRATA" run no-such-command-here
    has "$errors" "cannot run 'no-such-command-here'"
    expect 126 "$STRATA" run ./stdout
    expect 2 "$STRATA" run
}

@test "output and options of the command are its own" {
    expect 0 "$STRATA" run printf '%s-' --check -o a
    [ "$output" = '--check--o-a-' ]
    expect 0 "$STRATA" run -o layers -- sh -c 'echo out; echo err >&2'
    [ "$output" = out ]
    [ "$errors" = err ]
    has "$(cat layers)" "peak charged"
}

@test "the layers are those of the malloc replacement" {
    expect 0 "$STRATA" run --bytes -- /usr/bin/python3 -c 'x = [bytes(1 << 20) for i in range(20)]'
    peak=$(awk '$3 == "peak" && $4 == "charged" {print $1}' stderr)
    [ "$peak" -gt 20971520 ]
    sum=$(awk '$3 ~ /^(in|kept|free|books)$/ {s += $1} END {print s}' stderr)
    [ "$sum" = "$(awk '$3 == "charged" {print $1}' stderr)" ]
    lacks "$errors" $' \n'
}

@test "a limit is passed on, refuses, and is reported" {
    expect 1 "$STRATA" run --limit 64M -- /usr/bin/python3 -c 'x = [bytes(1 << 20) for i in range(200)]'
    has "$errors" MemoryError
    has "$errors" "limit 64.0 MiB: "
    lacks "$errors" " 0 requests refused"
    expect 0 "$STRATA" run --soft-limit 32M -- /usr/bin/python3 -c 'x = [bytes(1 << 20) for i in range(200)]'
    for none in 64MB 0 0% 101% 99999999999999999999G 99999999T; do
        expect 2 "$STRATA" run --limit "$none" -- true
        has "$errors" "'$none'"
    done
}

@test "what the limit does not bound is told when it went above it" {
    expect 0 "$STRATA" run --limit 64M -- /usr/bin/python3 -c 'import mmap
m = mmap.mmap(-1, 100 << 20)
for place in range(0, 100 << 20, 4096): m[place] = 1'
    has "$errors" "0 requests refused"
    has "$errors" "above the limit, which bounds malloc alone: 1"
    expect 0 "$STRATA" run --limit 64M -- true
    lacks "$errors" "above the limit"
    expect 0 "$STRATA" run -- /usr/bin/python3 -c ''
    lacks "$errors" "above the limit"
}

@test "held and charged are the figures of explain" {
    STRATA_BACKGROUND=no "$STRATA" run --bytes -o layers -- /usr/bin/python3 -c 'import os, time
kept = [bytes(1 << 20) for i in range(20)]
del kept[::2]
open("pid", "w").write(str(os.getpid()))
os.rename("pid", "ready")
time.sleep(3600)' >told 2>&1 3>&- &
    runner=$!
    started+=("$runner")
    wait_for test -e ready
    started+=("$(cat ready)")
    "$STRATA" explain --json "$(cat ready)" >explained || [ $? -eq 5 ]
    kill -9 "$(cat ready)"
    wait "$runner" || [ $? -eq 137 ]
    own='next(a for a in d["allocators"] if a["name"] == "strata")'
    [ "$(awk '$3 == "held" {print $1}' layers)" = "$(field explained "$own['held']")" ]
    [ "$(awk '$3 == "charged" {print $1}' layers)" = "$(field explained "$own['touched'] + $own['books']")" ]
}

@test "an existing preload stays behind ours" {
    LD_PRELOAD=libc.so.6 expect 0 "$STRATA" run -- printenv LD_PRELOAD
    [[ $output == */libstrata-malloc.so:libc.so.6 ]]
}

@test "the command gets no descriptor and no variable of ours" {
    local before
    # What bats itself was started with is the command's as well.
    expect 0 sh -c 'ls /proc/$$/fd'
    before=$output
    expect 0 "$STRATA" run -- sh -c 'ls /proc/$$/fd'
    [ "$output" = "$before" ]
    expect 0 "$STRATA" run -- env
    has "$output" "LD_PRELOAD="
    lacks "$output" "STRATA_RUN"
}

@test "--check proves that the preload acted, however short the command" {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        expect 0 "$STRATA" run --check -- true
        has "$errors" "the preload acted on 'true'"
    done
    expect 0 "$STRATA" run -- true
    lacks "$errors" "the preload acted"
    printf '#include <stdlib.h>\nint main(void) { void *(*volatile f)(size_t) = malloc; return f(1) == 0; }' >taken.c
    gcc -no-pie -fno-pic -o taken taken.c # its malloc has an address of the program, and no more
    readelf -W --dyn-syms taken | grep -q '[1-9a-f][0-9a-f]*  *0 FUNC .* UND malloc'
    expect 0 "$STRATA" run --check -- ./taken
    has "$errors" "the preload acted on './taken'"
    STRATA_MALLOC_LIBRARY=/nonexistent expect 125 "$STRATA" run --check -- true
    has "$errors" "cannot find 'libstrata-malloc.so'"
}

@test "a library of that name which is not ours proves nothing" {
    mkdir other
    cp "$(gcc -print-file-name=libm.so.6)" other/libstrata-malloc.so
    STRATA_MALLOC_LIBRARY=$PWD/other/libstrata-malloc.so expect 125 "$STRATA" run --check -- true
    has "$errors" "did not start in it"
}

@test "a program with its own malloc is found out" {
    cat >own.c <<'END'
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t n) { used += (n + 15) & ~15UL; return memory + used - ((n + 15) & ~15UL); }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
void free(void *p) { (void)p; }
int main(void) { return malloc(10) == NULL; }
END
    gcc -rdynamic -fno-builtin -o own own.c
    expect 0 "$STRATA" run -- ./own
    expect 125 "$STRATA" run --check -- ./own
    has "$errors" "brings its own malloc"
}

@test "a static program is recognised, and run" {
    printf 'int main(void) { return 3; }' >static.c
    gcc -static -o static static.c
    expect 3 "$STRATA" run -- ./static
    has "$errors" "'./static' is linked statically"
    expect 125 "$STRATA" run --check -- ./static
    lacks "$errors" "ended with"
}

@test "scripts are followed to their interpreters, through env as well" {
    printf 'int main(void) { return 3; }' >static.c
    gcc -static -o static static.c
    printf '#!%s/static\n' "$PWD" >script
    printf '#!/usr/bin/env -S A=1 static x\n' >through-env
    chmod +x script through-env
    export PATH=$PWD:$PATH
    expect 125 "$STRATA" run --check -- ./script
    has "$errors" "/static' is linked statically"
    expect 125 "$STRATA" run --check -- through-env
    has "$errors" "/static' is linked statically"
    printf '#!/bin/sh\nexit 5\n' >plain
    chmod +x plain
    expect 5 "$STRATA" run --check -- ./plain
}

@test "set-user-ID, other classes, machines and musl are recognised" {
    forge bits
    poke bits 4 '\001'
    forge machine
    poke machine 18 '\363\000'
    forge musl
    offset=$(grep -abo -m1 '/lib64/ld-linux-x86-64.so.2' musl | head -n 1 | cut -d: -f1)
    poke musl "$offset" '/lib/ld-musl-x86_64.so.1\000'
    forge truncated
    truncate -s 70 truncated
    expect 125 "$STRATA" run --check -- ./bits
    has "$errors" "32-bit"
    expect 125 "$STRATA" run --check -- ./machine
    has "$errors" "another machine (ELF number 243)"
    expect 125 "$STRATA" run --check -- ./musl
    has "$errors" "linked to musl"
    expect 127 "$STRATA" run --check -- ./truncated # sh takes it for a script
}

@test "a set-user-ID program of another user is recognised" {
    [ "$(id -u)" -eq 0 ] || { echo "needs root to make such a program" >&2; false; }
    place=$(mktemp -d)
    chmod 755 "$place"
    cp "$(readlink -f /bin/true)" "$place/su"
    chown 65534 "$place/su"
    chmod 4755 "$place/su"
    expect 125 "$STRATA" run --check -- "$place/su"
    has "$errors" "set-user-ID"
    chown 0:65534 "$place/su"
    chmod 2755 "$place/su"
    expect 125 "$STRATA" run --check -- "$place/su"
    has "$errors" "set-group-ID"
    rm -r "$place"
}

@test "signals are passed on, the command decides" {
    "$STRATA" run -o layers -- sh -c 'trap "echo got; exit 9" TERM; echo ready; while :; do sleep 0.05; done' >out 2>&1 3>&- &
    pid=$!
    started+=("$pid")
    wait_for grep -q ready out
    kill -TERM "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" -eq 9 ]
    grep -q got out
}

@test "strata-malloc(7) tells every option that the library knows, and no other" {
    listed=$(STRATA_HELP=1 LD_PRELOAD=${STRATA%/src/cmd/strata}/alloc/libstrata-malloc.so /bin/true 2>&1 |
        sed -n 's/^\(STRATA_[A-Z_]*\)=.*/\1/p' | sort)
    described=$(sed -n 's/^\*\(STRATA_[A-Z_]*\)\*=.*/\1/p' "$BATS_TEST_DIRNAME/../../docs/man/strata-malloc.7.scd" |
        grep -v '^STRATA_HELP$' | sort)
    [ -n "$listed" ]
    [ "$listed" = "$described" ]
}

@test "a library below a folder with a blank and a colon is preloaded, and no link is left" {
    local build="$PWD/a blank: and a colon" file
    mkdir -p "$build/src/cmd" "$build/alloc" "$PWD/tmp of mine" links
    cp "$STRATA" "$build/src/cmd/strata"
    cp "${STRATA%/src/cmd/strata}/alloc/libstrata-malloc.so" "$build/alloc"
    for file in "$PWD/links" "$PWD/tmp of mine"; do
        TMPDIR=$file expect 0 "$build/src/cmd/strata" run --check -- sh -c 'grep -m1 -o "/a blank.*" /proc/self/maps; printenv LD_PRELOAD'
        has "$output" "/a blank: and a colon/alloc/libstrata-malloc.so" # of grep, a child of the command
        has "$errors" "peak charged"
        [ ! -e "$(tail -n 1 stdout)" ]
    done
    TMPDIR=$PWD/links expect 7 "$build/src/cmd/strata" run sh -c 'ls "$TMPDIR" >seen; exit 7'
    [ -n "$(cat seen)" ]
    [ -z "$(ls links)" ]
}
