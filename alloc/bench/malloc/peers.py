"""The allocators that bench-malloc compares, and how a program gets each of them."""
import os
import platform
import subprocess

FOLDER = f"/usr/lib/{platform.machine()}-linux-gnu"
PRELOADS = {
    "glibc": "",
    "arena2": "",
    "jemalloc": f"{FOLDER}/libjemalloc.so.2",
    "tcmalloc": f"{FOLDER}/libtcmalloc_minimal.so.4",
    "mimalloc": f"{FOLDER}/libmimalloc.so.2",
}
NAMES = [*PRELOADS, "strata"]


def setup(strata_library):
    PRELOADS["strata"] = strata_library
    missing = [path for path in PRELOADS.values() if path and not os.path.exists(path)]
    if missing:
        raise SystemExit(f"bench-malloc: no '{missing[0]}': run tools/setup bench")


def environment(name, preload=True):
    variables = dict(os.environ)
    variables.pop("LD_PRELOAD", None)
    if PRELOADS[name] and preload:
        variables["LD_PRELOAD"] = PRELOADS[name]
    if name == "arena2":
        variables["MALLOC_ARENA_MAX"] = "2"
    return variables


def figures(name, command):
    """What the program printed on its one line, as numbers."""
    done = subprocess.run(command, env=environment(name), stdout=subprocess.PIPE, text=True, check=True,
                          timeout=600)
    return [float(word) for word in done.stdout.split()]
