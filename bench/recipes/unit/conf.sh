# Hands the configuration over once the control socket is there, then waits to be ended.
for _ in $(seq 100); do
    [ -S "{dir}/control" ] && break
    sleep 0.1
done
"{curl}" -s -X PUT --data-binary "@{dir}/unit.json" --unix-socket "{dir}/control" \
    http://localhost/config
exec sleep 86400
