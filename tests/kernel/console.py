"""What an init of tests/kernel printed: blocks of output, each with a name and an exit code."""
import json
import re

BLOCKS = {}


def read_blocks(path):
    name, lines = None, []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            line = line.rstrip("\r\n")
            end = re.fullmatch(r"@@@ end (\d+)", line)
            if end and name:
                BLOCKS[name] = ("\n".join(lines), int(end.group(1)))
                name = None
            elif line.startswith("@@@ "):
                name, lines = line[4:], []
            elif name:
                lines.append(line)


def explained(name, *codes):
    text, code = BLOCKS[name]
    assert code in codes, f"{name}: exit code {code}: {text[:400]}"
    return json.loads(text)


def layer(document, name):
    return next(one for one in document["layers"] if one["id"] == name)
