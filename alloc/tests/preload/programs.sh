#!/usr/bin/env bash
# shellcheck disable=SC2016 # programs in quotes expand their own variables
# programs.sh LIBRARY NAME: runs an unmodified program with and without the preload. Exit
# code and standard output must be the same, and so must standard error.
set -euo pipefail
library=$1
name=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# need PROGRAM PACKAGE
need() {
    if ! command -v "$1" >/dev/null; then
        echo "needs the program '$1' (Debian: $2)" >&2
        exit 1
    fi
}

python_job='
import ctypes, json, multiprocessing, threading
def square(x):
    return x * x
with multiprocessing.Pool(2) as pool:
    print(sum(pool.map(square, range(1000))))
def fill():
    json.dumps([{"a": i, "b": str(i)} for i in range(5000)])
threads = [threading.Thread(target=fill) for _ in range(20)]
[t.start() for t in threads]
[t.join() for t in threads]
print(ctypes.create_string_buffer(100000).raw.count(0))
'
php_job='
$a = [];
for ($i = 0; $i < 50000; $i++) { $a[] = str_repeat("x", $i % 300); }
echo count($a), strlen(implode($a)), PHP_EOL;
echo strlen(json_encode($a)), mb_or_iconv("a"), PHP_EOL;
function mb_or_iconv($s) { return iconv("UTF-8", "ISO-8859-1", $s) . ctype_alpha($s); }
foreach (get_loaded_extensions() as $e) { echo $e, " "; }
'

# redis-server is the same program as redis-check-rdb. Over a socket in the work folder, so that no port is taken.
redis_job() {
    need redis-cli redis-tools
    (exec -a redis-server redis-check-rdb --port 0 --unixsocket "$work/socket" --save '' --dir "$work" >/dev/null) &
    server=$!
    for _ in $(seq 2400); do
        if [ -S "$work/socket" ]; then break; fi
        sleep 0.1
    done
    redis-cli -s "$work/socket" eval "for i = 1, 20000 do
        redis.call('set', 'k' .. i, string.rep('x', i % 500)) redis.call('lpush', 'l' .. i % 7, i)
        if i % 3 == 0 then redis.call('del', 'k' .. i - 1) end end return redis.call('dbsize')" 0
    redis-cli -s "$work/socket" llen l3
    redis-cli -s "$work/socket" strlen k4999
    redis-cli -s "$work/socket" shutdown nosave
    wait "$server"
}

# In a function, so that the same command runs twice.
job() {
    case $name in
    bash) need bash bash; bash -c 'for i in {1..300}; do echo "$(echo $i)"; done; a=({1..20000}); echo ${#a[@]}' ;;
    coreutils) find /usr/bin -type f -size +20k | sort -r | sed -n 1,200p | xargs sha256sum | sort -k1 ;;
    python) need /usr/bin/python3 python3; /usr/bin/python3 -c "$python_job" ;;
    sqlite) need sqlite3 sqlite3; sqlite3 :memory: "create table t(a, b); with recursive n(i) as (select 1 union all select i+1 from n where i<50000) insert into t select i, hex(i)||i from n; create index x on t(b); select count(*), sum(a), max(b) from t where b > '3';" ;;
    git) need git git; git init -q "$work/repository.$1"; cd "$work/repository.$1"; seq 20000 >file; git add file; git -c user.name=a -c user.email=a@example.org commit -qm first; git fsck; git gc -q; git show --stat --format=%s ;;
    gcc) need gcc gcc; printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void){int *a=malloc(40);for(int i=0;i<10;i++)a[i]=i*i;printf("%%d\\n",a[9]);free(a);}\n' >"$work/a.c"; gcc -O2 -o "$work/a" "$work/a.c"; "$work/a" ;;
    perl) need perl perl; perl -e 'my %h; $h{$_} = "x" x ($_ % 100) for 1..50000; print scalar(keys %h), "\n"' ;;
    redis) redis_job ;;
    php) need php8.2 php8.2-cli; php8.2 -r "$php_job" ;;
    php-malloc) need php8.2 php8.2-cli; USE_ZEND_ALLOC=0 php8.2 -r "$php_job" ;;
    *) echo "no such program: '$name'" >&2; exit 2 ;;
    esac
}

run() {
    code=0
    (if [ "$1" = with ]; then export LD_PRELOAD="$library"; fi; job "$1") \
        >"$work/$1.out" 2>"$work/$1.err" || code=$?
    printf '\nexit code %s\n' "$code" >>"$work/$1.out"
}

run without
run with
diff -u "$work/without.out" "$work/with.out"
diff -u "$work/without.err" "$work/with.err"
if ! grep -q '^exit code 0$' "$work/with.out"; then
    echo "'$name' failed both with the preload and without:" >&2
    cat "$work/with.out" "$work/with.err" | tail -n 10 >&2
    exit 1
fi
