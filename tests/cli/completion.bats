# What the shells propose; the scripts are in dist/completions.
load helper

completions=$BATS_TEST_DIRNAME/../../dist/completions

# proposed WORD...: what bash proposes for the last of the words, into $output
proposed() {
    output=$(PATH=$(dirname "$STRATA"):$PATH bash -c '
        . "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _strata
        printf "%s\n" "${COMPREPLY[@]}"' bash "$completions/strata.bash" "$@")
}

@test "bash proposes commands, options and their values" {
    proposed strata ex
    has "$output" explain
    proposed strata explain --fail
    [ "$output" = --fail-on ]
    proposed strata explain --fail-on ""
    [ "$output" = $'info\nwarn\ncritical' ]
}

@test "bash proposes rules and labs without running anything" {
    proposed strata rules glibc-ret
    has "$output" glibc-retained
    proposed strata lab cl
    [ "$output" = cliff ]
    STRATA=/nowhere/strata proposed strata lab cl # whatever strata is, or none
    [ "$output" = cliff ]
}

# What may stand behind a command, out of the tables: recipes, subjects of help, labs, rules.
known=(bench\ fpm-ng=fpm-nginx help\ tar=targets help\ exi=exit-codes help\ over=overview
    help\ rec=record lab\ docker=docker-number rules\ swa=swap)

@test "bash proposes every recipe, subject of help, lab and rule" {
    touch fpm-ngx targets.txt # files stand beside recipes only
    local one
    for one in "${known[@]}"; do
        proposed strata ${one%=*}
        has "$output" "${one#*=}"
        [[ $one == bench* ]] || lacks "$output" targets.txt
    done
    proposed strata bench ''
    [ "$(grep -cxf <("$STRATA" bench --list | cut -d' ' -f1) <<<"$output")" = "$("$STRATA" bench --list | wc -l)" ]
}

@test "fish proposes every recipe, subject of help, lab and rule" {
    touch targets.txt
    local one
    for one in "${known[@]}"; do
        output=$(XDG_CONFIG_HOME=$PWD HOME=$PWD fish -c "source '$completions/strata.fish'; complete -C 'strata ${one%=*}'")
        has "$output" "${one#*=}"
        [[ $one == bench* ]] || lacks "$output" targets.txt
    done
}

@test "zsh proposes every recipe, subject of help, lab and rule" {
    local one
    for one in "${known[@]}"; do
        output=$(zsh -f -c '_arguments() { :; }; _files() { print a-file; }; _describe() { print -l ${(P)2}; }
            words=(strata); CURRENT=1
            . "$1"; "_strata_words_$2"' zsh "$completions/_strata" "${one%% *}")
        grep -qx -- "${one#*=}" <<<"$output"
        [[ $one == bench* ]] || lacks "$output" a-file
    done
}

@test "bash proposes running programs and files, and runs no name as a command" {
    cp "$(command -v sleep)" 'quiet-one'
    cp "$(command -v sleep)" '$(touch ran)'
    start ./quiet-one 300
    wait_for is_called "$pid" quiet-one
    start './$(touch ran)' 300
    wait_for is_called "$pid" '$(touch ran)'
    proposed strata explain quiet
    has "$output" quiet-one
    proposed strata explain ''
    [ ! -e ran ]
}

@test "zsh and fish read their scripts" {
    zsh -n "$completions/_strata"
    fish -n "$completions/strata.fish"
    out=$(XDG_CONFIG_HOME=$PWD HOME=$PWD fish -c "source '$completions/strata.fish'; complete -C 'strata explain --fail-on '")
    has "$out" critical
}
