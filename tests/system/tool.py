"""Runs strata for the system tests and takes its JSON apart."""
import json
import os
import re
import resource
import shutil
import subprocess

STRATA = os.environ["STRATA_PROGRAM"]
LABS = os.environ["STRATA_LABS"]
TARGETS = os.environ["STRATA_TARGETS"]
LONGEST_SECONDS = 240  # on a machine that is slow and loaded; nothing but a hang takes so long

os.environ.setdefault("STRATA_STATE", "off")  # outside of ctest, which names a folder of the build

TRIES = 20  # of what another process may disturb
# What strata, or the client library, says of an answer that came too late.
LATE = re.compile(rb"answer(ed)? in time|less busy|system error: 110|\(110\)")


def lab(name):
    return os.path.join(LABS, name)


def target(name):
    """A program of tests/system that is there to be explained."""
    return os.path.join(TARGETS, name)


def copy_for_everybody(folder):
    """A copy of strata in folder: the build may lie where only its owner can go."""
    path = os.path.join(folder, "strata")
    shutil.copy(STRATA, path)
    os.chmod(path, 0o755)
    return path


def run(*words, program=STRATA, **options):
    """One run of strata; it must end by itself and must not die by a signal."""
    done = subprocess.run([program, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=LONGEST_SECONDS, check=False, **options)
    if done.returncode < 0:
        raise AssertionError(f"strata {' '.join(map(str, words))}: signal {-done.returncode}: "
                             f"{done.stderr.decode(errors='replace')}")
    return done


def run_in_time(*words, **options):
    """A run in which every server answered within strata's bounds: on a busy machine the first may not be one."""
    for _ in range(TRIES):
        done = run(*words, **options)
        if not LATE.search(done.stdout):
            break
    return done


class PythonTarget:
    """A python that runs script and then sleeps, to be looked at; it has said so when this returns."""

    def __init__(self, script=""):
        self.process = subprocess.Popen(["python3", "-c", f"{script}\nimport time; print('ready', flush=True); time.sleep(500)"],
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            self.end()
            raise AssertionError("the python to be looked at did not start")
        self.pid = str(self.process.pid)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def limit_memory(mebibytes):
    """For preexec_fn: strata gets so much address space and no more."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
    return limit


def explain(what):
    """The JSON of strata explain; the facts must be complete."""
    done = run_in_time("explain", what, "--json")
    if done.returncode != 0:
        raise AssertionError(f"strata explain {what}: exit code {done.returncode}: "
                             f"{done.stderr.decode()}{done.stdout.decode()[:2000]}")
    return json.loads(done.stdout)


def layer(report, name):
    for item in report["layers"]:
        if item["id"] == name:
            return item
    raise AssertionError(f"no layer '{name}' in {[item['id'] for item in report['layers']]}")


def allocator(report, name):
    for item in report["allocators"]:
        if item["name"] == name:
            return item
    raise AssertionError(f"no allocator '{name}' in {[item['name'] for item in report['allocators']]}")


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
        return file.read().rstrip("\n")


def rollup(pid):
    """The numbers of smaps_rollup in bytes, exact where status may lag."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return {key: int(value) * 1024 for key, value in
                re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M)}
