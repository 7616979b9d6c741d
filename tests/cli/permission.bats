# Without the right to look inside a process of somebody else.
load helper

# The program where another user may run it.
setup_file() {
    open_folder=$(mktemp -d)
    chmod 755 "$open_folder"
    cp "$STRATA" "$open_folder/strata"
    chmod 755 "$open_folder/strata"
    export open_folder
}

teardown_file() {
    rm -r "$open_folder"
}

@test "not permitted: the exit code, what is missing and what would help" {
    expect 3 as_other "$open_folder/strata" explain 1
    has "$output" "pid 1"
    has "$output" "facts missing: denied "
    has "$output" "sudo"
    lacks "$output" " 0.0 MiB  in use"
    has "$output" "allocator unknown"
    expect 3 as_other "$open_folder/strata" explain --all 1
    has "$output" "Missing"
    has "$output" "denied"
    has "$output" "sudo"
    lacks "$output" "glibc malloc"
}

@test "what needs no permission is still a number" {
    expect 3 as_other "$open_folder/strata" explain 1 --json
    [ "$(field stdout '[l["state"] for l in d["layers"] if l["id"] == "resident"]')" = "['ok']" ]
    [ "$(field stdout 'len([g for g in d["gaps"] if g["state"] == "denied"]) > 0')" = True ]
    [ "$(field stdout '[l["state"] for l in d["layers"] if l["id"] == "pss"]')" = "['denied']" ]
}

@test "the overview of somebody who sees a part ends with 5, live or not" {
    expect 5 as_other "$open_folder/strata"
    expect 5 as_other "$open_folder/strata" top --once
    has "$output" "Missing"
}

@test "a capture by somebody else keeps the reasons, and tells them" {
    as_other "$open_folder/strata" capture 1 -o - >facts.strata 2>told || [ $? -eq 3 ]
    grep -q "strata: missing" told
    expect 3 "$STRATA" explain facts.strata
    has "$output" "denied"
}

@test "a recording of somebody else says what it will not have, and does not end as if it were whole" {
    mkdir -m 777 "$open_folder/open"
    expect 3 as_other "$open_folder/strata" record 1 -o "$open_folder/open/r.db" --every 200ms --for 500ms
    has "$errors" "strata: missing"
    [ "$(grep -c "missing 'smaps'" stderr)" -le 1 ]
    start sleep 3600
    expect 0 "$STRATA" record "$pid" -o own.db --every 200ms --for 500ms
    lacks "$errors" "missing"
}

@test "the overview of somebody else is partial" {
    expect 5 as_other "$open_folder/strata"
    has "$output" "denied"
}

@test "a capture that may not be read" {
    mkdir -m 755 "$open_folder/shared"
    echo '{}' >"$open_folder/shared/secret.strata"
    chmod 0 "$open_folder/shared/secret.strata"
    expect 3 as_other "$open_folder/strata" explain "$open_folder/shared/secret.strata"
    has "$errors" "secret.strata"
}

# as_unit COMMAND...: with what the unit of dist/systemd gives
as_unit() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups \
            --inh-caps=-all,+sys_ptrace,+dac_read_search --ambient-caps=-all,+sys_ptrace,+dac_read_search \
            --bounding-set=-all,+sys_ptrace,+dac_read_search "$@"
    else
        "$@"
    fi
}

# Frame numbers are the one thing that the unit never has.
@test "with the capabilities of the unit a target is complete" {
    start_quiet
    expect 0 as_unit "$open_folder/strata" export --once --most 1000 --per-pid
    complete=$(sed -n "s/^strata_target_complete{.*pid=\"$pid\"} //p" stdout)
    [ "$complete" = 1 ]
    # Without the right to look inside it is not.
    if [ "$(id -u)" -eq 0 ]; then
        as_other "$open_folder/strata" export --once --most 1000 --per-pid >other || true
        lacks "$(grep "pid=\"$pid\"" other | grep '^strata_target_complete')" "} 1"
    fi
}
