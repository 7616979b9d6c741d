# What docs/json.md describes is what the program prints.
load helper

@test "docs/json.md names every key of the documents" {
    start_quiet
    "$STRATA" explain --json "$pid" >explain || [ $? -eq 5 ]
    "$STRATA" --json >overview || [ $? -eq 5 ]
    "$STRATA" rules --json >rules
    python3 - "$BATS_TEST_DIRNAME/../../docs/json.md" explain overview rules \
        "$BATS_TEST_DIRNAME"/../golden/explain-*.json "$BATS_TEST_DIRNAME/../golden/overview.json" <<'PYTHON'
import json
import re
import sys

described = set(re.findall(r"`([a-z0-9_]+)`", open(sys.argv[1]).read()))
unknown = set()


def walk(value):
    if isinstance(value, list):
        for item in value:
            walk(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in described:
                unknown.add(key)
            # Names inside these come from docs/facts.md, the rules, or stand there as numbers.
            if key not in ("facts", "evidence", "missing"):
                walk(item)


for name in sys.argv[2:]:
    walk(json.load(open(name)))
if unknown:
    sys.exit(f"docs/json.md does not describe {sorted(unknown)}")
PYTHON
}
