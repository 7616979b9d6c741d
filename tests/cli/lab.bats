# The experiments: their list, one that runs, one that is not there.
load helper

@test "lab without a name lists every lab" {
    expect 0 "$STRATA" lab
    for name in layers steps limit cliff sweep survivors chunks-return \
        php-layers php-steps php-limit php-cliff fpm-staircase \
        arena-churn alloc-test docker-number mysql-churn; do
        has "$output" "$name"
    done
}

@test "a lab runs and checks its figures" {
    expect 0 "$STRATA" lab steps --check
    has "$output" "2,097,152"
}

@test "an unknown lab is like an unknown target" {
    expect 4 "$STRATA" lab no-such-lab
    has "$errors" "'strata lab' lists them"
}

@test "a lab whose program is missing says what to do" {
    export STRATA_LABS=/nonexistent
    expect 5 "$STRATA" lab steps
    has "$errors" "'lab-steps' is not installed"
}

@test "a lab gets its settings, and names them when one is wrong" {
    expect 0 "$STRATA" lab arena-churn jobs=20 threads=4 largest=2048
    has "$output" "20 jobs, 4 at once"
    expect 2 "$STRATA" lab arena-churn jobs=none
    has "$errors" "'jobs=none' is no setting"
    has "$errors" "threads=N"
}

@test "a lab without settings says how it is called, not where it lies" {
    expect 2 "$STRATA" lab cliff size=3
    [ "$(tail -n 1 stderr)" = "usage: strata lab cliff [--check]" ]
}

@test "a lab says what memory it takes, and one that takes more than there is does not start" {
    expect 0 "$STRATA" lab steps
    has "$errors" "lab 'steps' takes up to 16.0 MiB of memory"
    lacks "$(cat stdout)" "takes up to"
    expect 5 "$STRATA" lab alloc-test mib=999999999
    has "$errors" "cannot run lab 'alloc-test': it takes up to"
    [[ "$errors" =~ "'strata lab alloc-test mib="[1-9][0-9]*"' takes no more" ]]
    [ ! -s stdout ]
    expect 5 "$STRATA" lab alloc-test mib=18446744073709551615
    has "$errors" "cannot run lab 'alloc-test'"
}

# taken NAME WORD...: what the lab says it takes; a word that is none of its settings ends it
taken() {
    expect 2 "$STRATA" lab "$@" no-setting=1
    taken=$(grep -o "takes up to .*" stderr)
}

@test "what a lab takes follows its setting, from the value that the lab has without it" {
    local name setting now before
    for name in "arena-churn threads" "alloc-test mib" "docker-number anon" "mysql-churn clients"; do
        read -r name setting <<<"$name"
        taken "$name"
        before=$taken
        now=$(sed -n "s/^  $setting=N .*now \\([0-9]*\\))$/\\1/p" stderr)
        taken "$name" "$setting=$now"
        [ "$taken" = "$before" ]
        taken "$name" "$setting=1"
        [ "$taken" != "$before" ]
    done
}
