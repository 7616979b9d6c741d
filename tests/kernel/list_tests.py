"""list_tests.py BUILD REGEX: the tests of a build that match, for the init of a test kernel.

One line for each: NAME FOLDER PROGRAM ENVIRONMENT..., as ctest has them, without the emulator.
"""
import json
import shlex
import subprocess
import sys


def main(build, pattern):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", pattern],
                             check=True, capture_output=True, text=True).stdout
    for test in json.loads(listing)["tests"]:
        properties = {one["name"]: one["value"] for one in test.get("properties", [])}
        program = next(word for word in test["command"] if word.startswith(build))
        environment = properties.get("ENVIRONMENT", [])
        print(test["name"], properties["WORKING_DIRECTORY"], program,
              *(shlex.quote(word) for word in environment))


if __name__ == "__main__":
    main(*sys.argv[1:])
