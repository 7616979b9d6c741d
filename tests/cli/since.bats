# An earlier look beside this one.
load helper

@test "a capture is set beside an earlier one" {
    start_quiet
    expect_readable "$STRATA" capture "$quiet" -o before.strata
    start_named "$quiet"
    expect_readable "$STRATA" capture "$pid" -o after.strata
    expect_readable "$STRATA" explain after.strata --since before.strata
    has "$output" "Since 20"
    has "$output" "(before.strata, restarted)"
    has "$output" "difference"
    has "$output" "nothing was promised then"
    expect_readable "$STRATA" explain before.strata --since before.strata
    has "$output" "(before.strata, same process)"
    expect_readable "$STRATA" explain before.strata
    lacks "$output" "Since 20"
}

@test "a running process is set beside its capture, also in JSON" {
    start_quiet
    expect_readable "$STRATA" capture "$quiet" -o before.strata
    expect_readable "$STRATA" explain "$quiet" --since before.strata --json
    [ "$(field stdout 'd["since"]["source"], d["since"]["restarted"], d["since"]["promises"]')" = \
        "('before.strata', False, [])" ]
    [ "$(field stdout '[l for l in d["since"]["layers"] if l["id"] == "resident"][0]["before"] > 0')" = True ]
    expect_readable "$STRATA" explain before.strata --json
    [ "$(field stdout '"since" in d')" = False ]
}

@test "of a recording the last look counts, of the target of that name" {
    start_quiet
    local one=$pid
    record_ticks one.db 2 "$one"
    expect_readable "$STRATA" explain "$one" --since one.db
    has "$output" "(one.db, same process)"
    start_named "other-$BASHPID"
    "$STRATA" record "$one" "$pid" -o two.db --every 200ms --for 1s >/dev/null 2>&1
    expect_readable "$STRATA" explain "$one" --since one.db
    expect 4 "$STRATA" explain "$one" --since two.db
    has "$errors" "'two.db' has no target '$quiet', only"
}

@test "a look that is none is told by name, and nothing is shown" {
    start_quiet
    expect 4 "$STRATA" explain "$quiet" --since missing.strata
    has "$errors" "cannot read capture 'missing.strata'"
    [ -z "$output" ]
    echo nothing >not.strata
    expect 4 "$STRATA" explain "$quiet" --since not.strata
    has "$errors" "not.strata"
    expect 2 "$STRATA" capture "$quiet" -o x.strata --since=not.strata
    has "$errors" "this command does not take option '--since=not.strata'"
}
