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
    # A recipe begins its line; words that found no room in it follow below blanks.
    "$STRATA" bench --list | grep -o '^[^ ]\+' >recipes
    [ "$(grep -cxf recipes <<<"$output")" = "$(wc -l <recipes)" ]
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

@test "bash proposes no kernel thread, and no process for a file" {
    local one
    start_quiet
    proposed strata explain ''
    has "$output" "$quiet"
    touch -- a-file
    # A kernel thread has no mappings; none may be here, in a container.
    for one in $(ps -e -o vsz= -o comm= | awk '$1 == 0 && NF == 2 {print $2}' | sort -u); do
        ps -e -o vsz= -o comm= | awk -v name="$one" '$1 > 0 && $2 == name {found = 1} END {exit found}' || continue
        ! grep -qxF -- "$one" <<<"$output" || { echo "proposed: $one" >&2; return 1; }
    done
    for one in -o --output; do
        proposed strata capture 1 $one ''
        has "$output" a-file
        lacks "$output" "$quiet"
    done
}

# Values that the program itself names when it is given a wrong one.
values=(top\ --sort=retained plan\ --case=worst plan\ --server=swoole bench\ --load=wrk bench\ --work=hello)

@test "bash proposes the values of options that have a table" {
    touch a-file
    local one
    for one in "${values[@]}"; do
        proposed strata ${one%=*} ''
        has $'\n'"$output"$'\n' $'\n'"${one#*=}"$'\n'
        lacks "$output" a-file
    done
}

@test "zsh and fish propose the values of options that have a table, and files for -o" {
    local one command option
    for one in "${values[@]}"; do
        command=${one%% *} option=${one#* } option=${option%=*}
        output=$(XDG_CONFIG_HOME=$PWD HOME=$PWD fish -c "source '$completions/strata.fish'; complete -C 'strata $command $option '")
        has $'\n'"$output"$'\n' $'\n'"${one#*=}"
        output=$(zsh -f -c '_arguments() { print -l -- "$@"; }; words=(strata $2 x); CURRENT=3; . "$1"' zsh \
            "$completions/_strata" "$command" | grep -e "^$option\[")
        [[ $output =~ [\(\ ]${one#*=}[\ \)] ]]
    done
    output=$(zsh -f -c '_arguments() { print -l -- "$@"; }; words=(strata capture x); CURRENT=3; . "$1"' zsh "$completions/_strata")
    grep -qe '-o\[.*:_files$' <<<"$output"
}

@test "behind a lab stand its settings, and no lab" {
    touch a-file
    mkdir labs
    # What any lab says of a word that it does not know.
    printf '#!/bin/sh\necho "lab: no setting of this lab; settings are:\n  threads=N  how many (1 to 9, now 4)\n  file=TEXT  a file\n  --check  exit" >&2\nexit 2\n' >labs/lab-cliff
    chmod +x labs/lab-cliff
    export STRATA_LABS=$PWD/labs
    proposed strata lab cliff ''
    [ "$output" = $'threads=\nfile=' ]
    output=$(PATH=$(dirname "$STRATA"):$PATH XDG_CONFIG_HOME=$PWD HOME=$PWD \
        fish -c "source '$completions/strata.fish'; complete -C 'strata lab cliff '")
    [ "$output" = $'file=\nthreads=' ]
    output=$(PATH=$(dirname "$STRATA"):$PATH zsh -f -c '_arguments() { :; }; compadd() { print -l -- $names; }
        words=(strata); CURRENT=1; . "$1"; words=(lab cliff ""); _strata_settings_lab' zsh "$completions/_strata")
    [ "$output" = $'threads=\nfile=' ]
}

@test "behind run stand commands, then files" {
    touch a-file
    printf '#!/bin/sh\n' >a-command-of-mine
    chmod +x a-command-of-mine
    export PATH=$PWD:$PATH
    local words
    for words in '' '--' '--limit 64M --' '-o layers --check'; do
        proposed strata run $words a-comm
        has "$output" a-command-of-mine
    done
    proposed strata run -- a-command-of-mine a-
    has "$output" a-file
    output=$(XDG_CONFIG_HOME=$PWD HOME=$PWD fish -c "source '$completions/strata.fish'; complete -C 'strata run a-comm'")
    has "$output" a-command-of-mine
    grep -q '_command_names -e' "$completions/_strata"
}
