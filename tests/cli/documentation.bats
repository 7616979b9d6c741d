# What docs/json.md describes is what the program prints.
load helper

# described FOLDER: fails for a key that docs/json.md does not name. FOLDER has documents as COMMAND.NAME.json;
# a command's own part must name it, for the overview that of explain may.
described() {
    python3 - "$BATS_TEST_DIRNAME/../../docs" "$1" <<'PYTHON'
import glob
import json
import os
import re
import sys

docs, folder = sys.argv[1:]
with open(os.path.join(docs, "json.md"), encoding="utf-8") as file:
    parts = dict(part.split("\n", 1) for part in re.split(r"^## ", file.read(), flags=re.M)[1:])
with open(os.path.join(docs, "findings.md"), encoding="utf-8") as file:
    evidence = set(re.findall(r"\b([a-z0-9_]+)(?=:|,)", " ".join(re.findall(r"^- \*\*evidence\*\*: .*", file.read(), re.M))))
names = {title: set(re.findall(r"`([a-z0-9_]+)`", text)) for title, text in parts.items()}
unknown = set()


def walk(value, command, known):
    for item in value if isinstance(value, list) else []:
        walk(item, command, known)
    for key, item in value.items() if isinstance(value, dict) else []:
        if key not in known:
            unknown.add(f"{command}: {key}")
        if key == "evidence":
            # The findings of golden documents are made up.
            walk(None if "golden" in path else item, command, known | evidence)
        elif key == "since":  # one form, wherever it stands
            walk(item, command, known | names["strata explain --json"])
        elif key not in ("facts", "missing"):  # names of docs/facts.md, and of numbers that stand beside
            walk(item, command, known)


for path in glob.glob(os.path.join(folder, "*.json")):
    command = os.path.basename(path).split(".")[0]
    known = names["strata --json" if command == "overview" else f"strata {command} --json"]
    if command == "overview":
        known = known | names["strata explain --json"]
    with open(path, encoding="utf-8") as file:
        walk(json.load(file), command, known)
if unknown:
    sys.exit("docs/json.md does not describe " + ", ".join(sorted(unknown)))
PYTHON
}

@test "docs/json.md names every key of what explain, rules and the overview print" {
    local golden golden_name
    mkdir documents
    start_quiet
    "$STRATA" explain --json "$pid" >documents/explain.live.json || [ $? -eq 5 ]
    "$STRATA" --json >documents/overview.live.json || [ $? -eq 5 ]
    "$STRATA" rules --json >documents/rules.json
    for golden in "$BATS_TEST_DIRNAME"/../golden/{explain-*,overview}.json; do
        golden_name=$(basename "$golden" .json)
        cp "$golden" "documents/${golden_name%%-*}.golden-$golden_name.json"
    done
    for golden in "$BATS_TEST_DIRNAME"/../fixtures/cases/*.json; do
        "$STRATA" explain --json "$golden" >"documents/explain.$(basename "$golden")" || [ $? -eq 5 ]
    done
    described documents
}

@test "docs/json.md names every key of what record, report, bench and plan print" {
    mkdir documents
    start_quiet
    "$STRATA" record "$pid" -o day.db --every 200ms --for 1s --json >documents/record.json 2>told
    "$STRATA" report day.db --json >documents/report.json
    "$STRATA" report day.db --compare day.db --json >documents/report.compared.json
    "$STRATA" bench model-prefork --json --silent --workers 2 --connections 2 --seconds 1 --runs 1 --quiet 1 --warm 1 \
        --load own --price-memory 3 --price-cpu 20 >documents/bench.json || [ $? -eq 5 ]
    # A run that a busy machine spoils does not count, so the plan is made of another result.
    echo '{"schema": 1, "kind": "strata-bench", "rows": [{"recipe": "r", "title": "r", "plan": {"server": "gunicorn",
        "concurrency_thousandths": 800, "master": 1, "shared_once": 1, "fixed_kernel": 1, "kernel": 1, "base": 1,
        "shared": 1, "retained": 8388608, "private": [33554432, 33554432]}}]}' >result.json
    "$STRATA" plan result.json --limit 512M --json >documents/plan.json || [ $? -eq 5 ]
    described documents
}

# What no server of this test brings about: the names in the program's text.
@test "docs/json.md names every key that the writers of documents have" {
    python3 - "$BATS_TEST_DIRNAME/../.." documents <<'PYTHON'
import glob
import json
import os
import re
import sys

root, folder = sys.argv[1:]
WRITERS = {
    "explain": ["src/present/explain_json.c", "src/present/json_parts.c", "src/present/allocator_json.c",
                "src/present/mysql_json.c", "src/present/strata_json.c", "src/present/zend_json.c",
                "src/present/since_json.c"],
    "overview": ["src/present/overview_json.c"], "report": ["src/present/report_json.c"],
    "record": ["src/cmd/cmd_record.c"], "plan": ["src/cmd/plan_json.c"], "bench": ["src/trial/result_json.c"],
    "rules": ["src/present/rules.c"]}
KEY = re.compile(r'\b(?!json_quoted\()\w+\(\s*&?json,\s*"([a-z0-9_]+)"|\{"([a-z0-9_]+)",\s*\w*json_')
EVIDENCE = re.compile(r'finding_add_\w+\(\s*&?[\w>-]+,\s*"([a-z0-9_]+)"')


def names_in(pattern, paths):
    found = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found |= {name for groups in pattern.finditer(file.read()) for name in groups.groups() if name}
    assert found, paths
    return {name: None for name in found}


os.makedirs(folder)
documents = {command: names_in(KEY, [os.path.join(root, path) for path in paths]) for command, paths in WRITERS.items()}
documents["explain"]["evidence"] = names_in(EVIDENCE, glob.glob(os.path.join(root, "src", "findings", "**", "*.c"), recursive=True))
for command, keys in documents.items():
    with open(os.path.join(folder, command + ".json"), "w", encoding="utf-8") as file:
        json.dump(keys, file)
PYTHON
    described documents
}

# The table is made by hand: the names are in the code of the rules alone. Those that findings.md has stand there.
@test "the table of evidence in docs/json.md has no name that no rule gives" {
    python3 - "$BATS_TEST_DIRNAME/../.." <<'PYTHON'
import glob
import os
import re
import sys

root = sys.argv[1]
with open(os.path.join(root, "docs", "json.md"), encoding="utf-8") as file:
    table = file.read().split("\n| evidence | meaning |\n", 1)[1].split("\n\n", 1)[0]
told = set(re.findall(r"`([a-z0-9_]+)`", " ".join(row.split("|")[1] for row in table.splitlines())))
given = set()
for path in glob.glob(os.path.join(root, "src", "findings", "*.c")):
    with open(path, encoding="utf-8") as file:
        given |= set(re.findall(r'finding_add_\w+\(\s*&?[\w>-]+,\s*"([a-z0-9_]+)"', file.read()))
assert len(told) > 50 and len(given) > 100, (told, given)
if told - given:
    sys.exit("docs/json.md has evidence that no rule gives: " + ", ".join(sorted(told - given)))
PYTHON
}
