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
    [ "$errors" = "usage: strata lab cliff [--check]" ]
}
