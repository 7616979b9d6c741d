# What is wrong with a command line, and the help that says how it would be right.
load helper

@test "an unknown command is refused, with a way out" {
    expect 2 "$STRATA" mariadbd
    has "$errors" "strata: unknown command 'mariadbd'"
    has "$errors" "strata explain mariadbd"
    [ -z "$output" ]
}

@test "an empty command is not the overview" {
    expect 2 "$STRATA" ""
    has "$errors" "unknown command ''"
}

@test "unknown options are named as they were typed" {
    expect 2 "$STRATA" explain --frobnicate 1
    has "$errors" "unknown option '--frobnicate'"
    expect 2 "$STRATA" explain -x 1
    has "$errors" "unknown option '-x'"
    expect 2 "$STRATA" --nonsense
    has "$errors" "unknown option '--nonsense'"
}

@test "an option of another command is refused, not ignored" {
    expect 2 "$STRATA" rules --root /
    has "$errors" "does not take option"
    expect 2 "$STRATA" capture 1 -o x --json
    has "$errors" "does not take option '--json'"
}

@test "values are checked before anything is read" {
    expect 2 "$STRATA" explain --color=sometimes 1
    has "$errors" "auto, always or never, not 'sometimes'"
    expect 2 "$STRATA" explain --fail-on panic 1
    has "$errors" "info, warn or critical, not 'panic'"
    expect 2 "$STRATA" explain --width 12 1
    expect 2 "$STRATA" explain --width -5 1
    expect 2 "$STRATA" explain --width 80x 1
    has "$errors" "a number from 60 to 1000, not '80x'"
    expect 2 "$STRATA" explain --json=yes 1
    has "$errors" "no value may follow option '--json=yes'"
    expect 2 "$STRATA" explain 1 --root
    has "$errors" "a value must follow option '--root'"
    expect 2 "$STRATA" explain 1 --root ""
}

@test "too few and too many arguments" {
    expect 2 "$STRATA" explain
    has "$errors" "strata explain TARGET"
    expect 2 "$STRATA" explain 1 2
    has "$errors" "one argument too many: '2'"
    expect 2 "$STRATA" capture 1
    has "$errors" "-o FILE"
}

@test "options may stand behind the target, and -- ends them" {
    expect 0 "$STRATA" rules --color never
    expect 4 "$STRATA" explain -- --no-such-name
    has "$errors" "--no-such-name"
}

@test "a bench of what cannot be loaded or found is refused at once" {
    for url in ftp://127.0.0.1/ fcgi://127.0.0.1/x fastcgi:///path.sock/page fastcgi://unix:/path.sock; do
        expect 2 "$STRATA" bench --attach pool:nosuch --url "$url"
        has "$errors" "fastcgi://unix:/PATH.sock:/SCRIPT"
    done
    expect 2 "$STRATA" bench --attach 1 --url "fastcgi://unix:/path.sock:/$(printf '%0600d' 0)"
    expect 4 "$STRATA" bench --attach pool:nosuch --url fastcgi://unix:/none.sock:/page
    has "$errors" "nosuch"
    [ -z "$output" ]
}

@test "help lists every command and tells the exit codes" {
    expect 0 "$STRATA" help
    for command in explain capture rules; do
        has "$output" "strata $command"
    done
    expect 0 "$STRATA" help exit-codes
    for code in 0 1 2 3 4 5 6; do
        has "$output" "  $code  "
    done
    expect 0 "$STRATA" help targets
    has "$output" "pool:www"
    expect 0 "$STRATA" explain --help
    has "$output" "--fail-on LEVEL"
    lacks "$output" "--output"
    expect 0 "$STRATA" --help
    expect 0 "$STRATA" help overview
    has "$output" "usage: strata [OPTION...]"
    expect 2 "$STRATA" help nothing
}

@test "help fits 80 columns" {
    for topic in "" explain capture rules help targets exit-codes; do
        "$STRATA" help $topic >text
        [ "$(wc -L <text)" -le 80 ]
    done
}

@test "the version is the first line, how it was built stands below" {
    expect 0 "$STRATA" --version
    [[ "${output%%$'\n'*}" =~ ^strata\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    has "$output" "built "
    has "$output" "HTTP"
}

@test "an unknown rule is not there" {
    expect 4 "$STRATA" rules no-such-rule
    has "$errors" "no rule 'no-such-rule'"
}

@test "sizes of a plan: a large machine has room, what is none is refused" {
    cat >result.json <<'JSON'
{"kind": "strata-bench", "rows": [{"recipe": "r", "plan": {"server": "php-fpm", "concurrency_thousandths": 1000,
 "master": 0, "shared_once": 0, "fixed_kernel": 0, "kernel": 0, "base": 0, "shared": 0, "retained": 0,
 "private": [1073741824]}}]}
JSON
    expect 0 "$STRATA" plan result.json --limit 1T --reserve 0
    has "$output" "1024.0 GiB  as asked for"
    for none in 0 -1 1P 16777215T 1TT; do
        expect 2 "$STRATA" plan result.json --limit "$none"
        has "$errors" "'$none'"
    done
}

@test "a plan of a bench has its processors, and a single process is no pool" {
    cat >result.json <<'JSON'
{"kind": "strata-bench", "setup": {"processors": 2},
 "rows": [{"recipe": "r", "plan": {"server": "other", "concurrency_thousandths": 1000,
 "master": 0, "shared_once": 0, "fixed_kernel": 0, "kernel": 0, "base": 0, "shared": 0, "retained": 0,
 "private": [1048576]}}]}
JSON
    expect 0 "$STRATA" plan result.json --limit 2G
    has "$output" "2 processors of the machine of the bench"
    has "$output" "workers = 64"
    sed -i 's/: 2}/: "many"}/' result.json
    expect 4 "$STRATA" plan result.json --limit 2G
    has "$errors" "'processors' is no number"
    start_quiet
    expect 4 "$STRATA" plan "$pid"
    has "$errors" "no pool of workers"
    [ -z "$output" ]
    expect 0 "$STRATA" plan "$pid" --server gunicorn
    has "$output" "gunicorn --workers"
}

@test "an option's help tells what it does to this command only" {
    expect 0 "$STRATA" help run
    has "$output" "exit with 125 unless"
    lacks "$output" "when a figure differs"
    has "$output" "never hold more"
    expect 0 "$STRATA" help lab
    has "$output" "when a figure differs"
    lacks "$output" "125 unless"
    expect 0 "$STRATA" help plan
    lacks "$output" "never hold more"
    expect 2 "$STRATA" explain --limit 1M self
    has "$errors" "does not take option"
}
