"""What bench-malloc measured, one line of JSON for each run of a program, appended as it comes.

So the work can be done in pieces and rendered at any moment. A sample counts only for the
programs and libraries that it was taken with: whoever builds anew begins anew.
"""
import hashlib
import json
import os
import statistics


def fingerprint(paths):
    """One short name for the content of files."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


class Samples:
    def __init__(self, path, fresh):
        self.path = path
        self.rows = {}
        self.loads = {}
        if fresh and os.path.exists(path):
            os.remove(path)
        line = "\n"
        if os.path.exists(path):
            with open(path, encoding="ascii", errors="replace") as file:
                for line in file:
                    self.keep_line(line)
        # A line that was cut off stays apart from what comes next.
        self.before_next = "" if line.endswith("\n") else "\n"

    def keep_line(self, line):
        try:
            sample = json.loads(line)
        except json.JSONDecodeError:  # cut off by the end of its writer
            return
        key = (sample["key"], sample["part"], sample["case"], sample["peer"])
        self.rows.setdefault(key, []).append(sample["figures"])
        self.loads.setdefault(sample["part"], {}).setdefault(sample["key"], []).append(sample["load"])

    def of(self, key, part, case, peer):
        """Lists of figures, in the order in which they were measured."""
        return self.rows.get((key, part, case, peer), [])

    def load(self, part, keys):
        """Median of the machine's load before each sample."""
        loads = self.loads.get(part, {})
        return statistics.median([load for key in keys for load in loads.get(key, [])] or [0])

    def add(self, key, part, case, peer, figures):
        line = json.dumps({"key": key, "part": part, "case": case, "peer": peer,
                           "load": round(os.getloadavg()[0], 2), "figures": figures})
        with open(self.path, "a", encoding="ascii") as file:
            file.write(self.before_next + line + "\n")
        self.before_next = ""
        self.keep_line(line)
