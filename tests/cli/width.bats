# No line of text is wider than 80 columns, where it can be wrapped: a word cannot, and a name
# of a cgroup is one.
load helper

fixtures=$BATS_TEST_DIRNAME/../fixtures

# show ARGUMENTS...: what strata says to them goes behind what is in the file shown
show() {
    echo "\$ strata ${*##*/fixtures/}" >>shown
    "$STRATA" "$@" >>shown 2>/dev/null </dev/null || true
}

# expect_narrow LINES: shown has that many lines at least, and none that is too wide
expect_narrow() {
    python3 - "$1" <<'EOF'
import sys
with open("shown", encoding="utf-8") as file:
    lines = file.read().split("\n")
wide = [(len(line), line) for line in lines if len(line) > 80 and not line.startswith("$ ")
        and max(map(len, line.split())) <= 64]
for columns, line in wide:
    print(f"{columns} columns: {line}", file=sys.stderr)
few = len(lines) < int(sys.argv[1])
if few:
    print(f"only {len(lines)} lines", file=sys.stderr)
sys.exit(1 if wide or few else 0)
EOF
}

@test "explain and plan keep to 80 columns" {
    for file in "$fixtures"/cases/*.json; do
        show explain "$file"
        show explain --all "$file"
        show explain --all --bytes "$file"
        show plan "$file"
    done
    expect_narrow 4000
    grep -q '^pool:www · php-fpm · one look at a live pool of ' shown
}

@test "explain, plan and the overview of a host keep to 80 columns" {
    for root in "$fixtures"/*/proc; do
        root=${root%/proc}
        show --root "$root" --all
        for folder in "$root"/proc/[0-9]*; do
            show explain --root "$root" "${folder##*/}"
            show plan --root "$root" "${folder##*/}"
        done
    done
    expect_narrow 1000
}

@test "rules, lists and help keep to 80 columns" {
    show rules
    for rule in $("$STRATA" rules --json | grep -o '"id": *"[^"]*' | cut -d'"' -f4); do
        show rules "$rule"
    done
    show lab
    show bench --list
    show help
    for command in $("$STRATA" help | sed -n 's/^  strata \([a-z]\+\).*/\1/p') overview targets \
        exit-codes; do
        show help "$command"
    done
    expect_narrow 700
}
