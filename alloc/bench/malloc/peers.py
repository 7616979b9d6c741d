"""The allocators that bench-malloc compares, and how a program gets each of them."""
import os
import platform
import subprocess

TUPLE = f"{platform.machine()}-linux-gnu"
FOLDER = f"/usr/lib/{TUPLE}"
BASE, OURS = "glibc", "strata"


class Peer:
    def __init__(self, name, preload="", root="", variables=None):
        self.name, self.preload = name, preload
        self.variables = variables or {}
        # Libraries of a newer Debian may need the newer C library, and so its loader.
        self.root = root
        self.loader = os.path.join(root, "ld-linux-x86-64.so.2") if root else ""

    def files(self):
        return [path for path in (self.preload, self.loader and os.path.join(self.root, "libc.so.6")) if path]

    def environment(self):
        variables = {**os.environ, **self.variables}
        variables.pop("LD_PRELOAD", None)
        if self.preload and not self.loader:
            variables["LD_PRELOAD"] = self.preload
        return variables

    def command(self, words):
        if not self.loader:
            return words
        return [self.loader, "--library-path", self.root, *(["--preload", self.preload] if self.preload else []),
                *words]

    def figures(self, words):
        """What the program printed on its one line, as numbers."""
        done = subprocess.run(self.command(words), env=self.environment(), stdout=subprocess.PIPE, text=True,
                              check=True, timeout=600)
        return [float(word) for word in done.stdout.split()]


def newer(folder):
    """What newer-peers fetched, each with the C library it was built for."""
    root = os.path.join(folder, "usr", "lib", TUPLE)
    if not os.path.exists(os.path.join(root, "ld-linux-x86-64.so.2")):
        return []
    found = [Peer("glibc+", root=root)]
    for name, library in (("jemalloc+", "libjemalloc.so.2"), ("tcmalloc+", "libtcmalloc_minimal.so.4"),
                          ("mimalloc+", "libmimalloc.so.3"), ("rpmalloc+", "librpmalloc.so.1")):
        path = os.path.join(root, library)
        if os.path.exists(path):
            found.append(Peer(name, path, root))
    return found


def versions(folder):
    """What the names with a plus stand for."""
    try:
        with open(os.path.join(folder, "versions"), encoding="ascii") as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


def all_of(strata_library, newer_folder):
    return [
        Peer(BASE),
        Peer("arena2", variables={"MALLOC_ARENA_MAX": "2"}),
        Peer("jemalloc", f"{FOLDER}/libjemalloc.so.2"),
        Peer("tcmalloc", f"{FOLDER}/libtcmalloc_minimal.so.4"),
        Peer("mimalloc", f"{FOLDER}/libmimalloc.so.2"),
        *newer(newer_folder),
        Peer(OURS, strata_library),
    ]
