# Metrics: once, as a textfile, and served; what the answers to strange requests are.
load helper

# serve OPTION...: an exporter on a port that is free; its address in $url
serve() {
    "$STRATA" export --listen 127.0.0.1:0 "$@" 2>exporter.log 3>&- &
    pid=$!
    started+=("$pid")
    wait_for grep -q "serving http" exporter.log
    url=$(sed -n 's/.*serving //p' exporter.log)
}

# ask ARGUMENT...: curl without a proxy
ask() {
    curl --noproxy '*' --silent --show-error --max-time 20 "$@"
}

exported() {
    ask "$url" | grep -q '^strata_host_mem_total_bytes '
}

@test "export --once prints the page and ends" {
    start_quiet
    expect 0 "$STRATA" export --once
    has "$output" "strata_host_mem_total_bytes "
    has "$output" 'strata_build_info{version="'
    lacks "$output" "# EOF"
}

@test "export --once looks inside of the largest targets" {
    start_quiet
    expect 0 "$STRATA" export --once --most 1000
    has "$output" "strata_in_use_bytes{name=\"$quiet\""
    has "$output" "strata_target_complete{name=\"$quiet\""
    lacks "$output" 'pid="'
    expect 0 "$STRATA" export --once --most 1000 --per-pid
    grep -q "strata_resident_bytes{name=\"$quiet\".*pid=\"$pid\"" stdout
}

@test "no series appears twice" {
    "$STRATA" export --once --most 1000 >page
    [ -z "$(grep -v '^#' page | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
    "$STRATA" export --once --most 1000 --per-pid >page
    [ -z "$(grep -v '^#' page | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
}

@test "a textfile is whole, readable by all, and alone" {
    mkdir out
    expect 0 "$STRATA" export --once --textfile out/strata.prom
    [ "$(stat -c %a out/strata.prom)" = 644 ]
    [ "$(ls -A out)" = strata.prom ]
    grep -q '^strata_host_mem_total_bytes ' out/strata.prom
    expect 6 "$STRATA" export --once --textfile nowhere/strata.prom
    has "$errors" "cannot write 'nowhere/strata.prom'"
}

@test "a textfile is written anew on the clock" {
    start "$STRATA" export --textfile page.prom --every 200ms
    wait_for test -s page.prom
    rm page.prom
    wait_for test -s page.prom
    kill "$pid"
    wait "$pid"
}

@test "both formats are served by what is asked for" {
    serve
    wait_for exported
    ask -i "$url" >classic
    grep -qi '^content-type: text/plain; version=0.0.4' classic
    ! grep -q '^# EOF' classic
    ask -i -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' "$url" >open
    grep -qi '^content-type: application/openmetrics-text; version=1.0.0; charset=utf-8' open
    [ "$(tail -n 1 open)" = "# EOF" ]
    grep -q '^# UNIT strata_resident_bytes bytes' open
}

@test "only GET and HEAD of /metrics and / are answered" {
    serve
    [ "$(ask -o page -w '%{http_code}' "$url")" = 200 ]
    [ "$(ask -o /dev/null -w '%{http_code}' --head "$url")" = 200 ]
    [ "$(ask -o /dev/null -w '%{http_code}' "${url%metrics}")" = 200 ]
    [ "$(ask -o /dev/null -w '%{http_code}' "${url}x")" = 404 ]
    [ "$(ask -o /dev/null -w '%{http_code}' "${url%metrics}../etc/passwd" --path-as-is)" = 404 ]
    [ "$(ask -o /dev/null -w '%{http_code}' -d data "$url")" = 405 ]
    [ "$(ask -o /dev/null -w '%{http_code}' -X DELETE "$url")" = 405 ]
    ask "$url" >/dev/null
    sleep 1.1
    ask "$url" | grep -q '^strata_http_requests_total{code="405"} 2$'
}

@test "SIGTERM ends it with 0 and frees the port" {
    serve
    kill "$pid"
    wait "$pid"
    lacks "$(ask "$url" 2>&1 || true)" "strata_"
}

@test "a socket of systemd is taken over" {
    python3 - "$STRATA" >port 2>exporter.log 3>&- <<'PYTHON' &
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
os.dup2(listener.fileno(), 3, inheritable=True)
os.set_inheritable(3, True)
print(listener.getsockname()[1], flush=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[1], [sys.argv[1], "export"])
PYTHON
    started+=($!)
    wait_for test -s port
    url=http://127.0.0.1:$(cat port)/metrics
    wait_for exported
}

@test "version 6 of IP is served as well, or its absence is told" {
    if ! python3 -c 'import socket; socket.create_server(("::1", 0), family=socket.AF_INET6)'; then
        expect 6 "$STRATA" export --listen '[::1]:0'
        has "$errors" "cannot listen on '[::1]:0'"
        return
    fi
    "$STRATA" export --listen '[::1]:0' 2>exporter.log 3>&- &
    started+=($!)
    wait_for grep -q 'serving http://\[::1\]:' exporter.log
    url=$(sed -n 's/.*serving //p' exporter.log)
    wait_for exported
}

@test "addresses that are none are refused" {
    expect 2 "$STRATA" export --listen localhost:9812
    has "$errors" "cannot listen on 'localhost:9812': give ADDRESS:PORT"
    expect 2 "$STRATA" export --listen ::1
    expect 2 "$STRATA" export --listen 127.0.0.1:70000
    expect 2 "$STRATA" export --listen ""
    expect 2 "$STRATA" export --once --listen 9812
    expect 2 "$STRATA" export --every 1ms
    expect 2 "$STRATA" export --most 0
    serve
    expect 6 "$STRATA" export --listen "$(sed 's|http://||;s|/metrics||' <<<"$url")"
    has "$errors" "Address already in use"
}

@test "another user's memory is denied, counted and not invented" {
    start_quiet
    code=0
    local open_folder
    open_folder=$(mktemp -d)
    chmod 755 "$open_folder"
    cp "$STRATA" "$open_folder/strata"
    as_other "$open_folder/strata" export --once --most 1000 >page || code=$?
    rm -r "$open_folder"
    [ "$code" -eq 0 ]
    if [ "$(id -u)" -eq 0 ]; then
        [ "$(sed -n 's/^strata_targets_denied //p' page)" -gt 0 ]
        ! grep -q "strata_in_use_bytes{name=\"$quiet\"" page
        grep -q "strata_resident_bytes{name=\"$quiet\"" page
    fi
}
