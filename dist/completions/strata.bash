# bash completion for strata; written by tools/generate-docs
# shellcheck shell=bash

_strata() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local command= options= words= valued= first= files=yes word i IFS=$' \t\n'
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
    done
    case $command in
    '') options='--json --bytes --all --color --width --fail-on --root --help ' words='explain capture bench plan top export record report run rules lab help' files=no ;;
    explain) options='--json --bytes --all --color --width --fail-on --root --defaults-file --no-ask --capture --since --no-keep --at --help ' words=$(ps -e -o vsz= -o comm= 2>/dev/null | sed -nE 's/^ *[1-9][0-9]* ([A-Za-z0-9._@+-]+)$/\1/p' | sort -u) ;;
    capture) options='--root --defaults-file --no-ask --output --help ' words=$(ps -e -o vsz= -o comm= 2>/dev/null | sed -nE 's/^ *[1-9][0-9]* ([A-Za-z0-9._@+-]+)$/\1/p' | sort -u) ;;
    bench) options='--json --output --limit --models --list --workers --connections --seconds --runs --quiet --warm --work --load --rate --keep-alive --url --attach --expect --price-memory --price-cpu --currency --markdown --html --silent --help ' words=$(printf '%s\n' fpm fpm-nginx frankenphp gunicorn mariadb model-event model-prefork model-supervisor nginx node roadrunner swoole swoole-blocking unit) ;;
    plan) options='--json --bytes --color --width --root --no-ask --limit --memory-limit --others --reserve --case --server --prometheus --days --pool --at --help ' ;;
    top) options='--bytes --all --color --width --root --no-ask --every --once --sort --filter --help ' ;;
    export) options='--root --no-ask --every --once --most --per-pid --listen --textfile --help ' ;;
    record) options='--json --root --defaults-file --no-ask --output --every --for --deep-every --keep --max-size --help ' words=$(ps -e -o vsz= -o comm= 2>/dev/null | sed -nE 's/^ *[1-9][0-9]* ([A-Za-z0-9._@+-]+)$/\1/p' | sort -u) ;;
    report) options='--json --fail-on --output --at --from --to --compare --help ' ;;
    run) valued='--output -o --limit --soft-limit ' options='--bytes --output --check --limit --soft-limit --help ' ;;
    rules) options='--json --color --width --help ' words=$(printf '%s\n' glibc-arenas glibc-retained glibc-fragmentation strata-limit strata-retained glibc-pinned-heap glibc-mmap-threshold allocator-opaque preload-not-active lazy-free thp-inflation untouched-reservation thread-stacks limit-nofile mysql-thread-cache mysql-connection-buffers mysql-configuration mysql-pool-emptied mysql-coverage mysql-schema-memory file-pages-look-alarming unexplained-residual swap hugetlb cgroup-near-limit cgroup-stalls page-cache-in-container slab-in-container shmem-charged rss-sum-overstates measured-inside-vm php-near-limit php-chunk-cliff php-idle-cache php-collectable php-native-memory fpm-worst-case fpm-children-overcommit fpm-opcache-in-pool fpm-status-memory growth-leak growth-plateau) files=no ;;
    lab) valued='' options='--check --help ' words=$(printf '%s\n' layers steps limit cliff sweep survivors chunks-return php-layers php-steps php-limit php-cliff fpm-staircase arena-churn alloc-test docker-number mysql-churn) files=no ;;
    help) options='--help ' words=$(printf '%s\n' overview explain capture bench plan top export record report run rules lab help targets exit-codes) files=no ;;
    esac
    for ((i++; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* || " $valued " == *" ${COMP_WORDS[i-1]} "* ]] ||
            { first=${COMP_WORDS[i]}; break; }
    done
    case $command:$first in
    run:) words=$(compgen -c -- "$current") ;;
    run:*) options= ;;
    lab:?*) words=$("${COMP_WORDS[0]}" lab "$first" '?' 2>&1 | sed -nE 's/^  ([a-z_-]+=).*/\1/p') ;;
    esac
    [[ $command:$first == run:?* ]] ||
    case $previous in
    --color) options= words='auto always never' files=no ;;
    --fail-on) options= words='info warn critical' files=no ;;
    --root) options= words= files=yes ;;
    --defaults-file) options= words= files=yes ;;
    --capture) options= words= files=yes ;;
    --since) options= words= files=yes ;;
    --output | -o) options= words= files=yes ;;
    --case) options= words='expected p95 worst' files=no ;;
    --server) options= words='php-fpm swoole roadrunner gunicorn nginx other' files=no ;;
    --textfile) options= words= files=yes ;;
    --sort) options= words='tracked held resident pss charged retained name pid finding' files=no ;;
    --compare) options= words= files=yes ;;
    --work) options= words='query hello large mix heavy' files=no ;;
    --load) options= words='own wrk ab' files=no ;;
    esac
    [[ $current != -* || -z $options ]] || words=$options files=no
    COMPREPLY=()
    while read -r word; do
        [[ -z $word || $word != "$current"* ]] || COMPREPLY+=("$word")
    done <<<"${words// /$'\n'}"
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
    [[ $files == no ]] ||
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _strata strata
