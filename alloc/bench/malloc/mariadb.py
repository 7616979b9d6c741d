"""MariaDB under connection churn, with each allocator: memory that the server does not track."""
import contextlib
import os
import shlex
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "tests",
                                "system"))
import servers  # noqa: E402

SETTLE_SECONDS = 5
MIB = 1 << 20
TABLES = [
    "CREATE DATABASE bench", "USE bench",
    "CREATE TABLE posts (id INT PRIMARY KEY AUTO_INCREMENT, title VARCHAR(100), body TEXT)",
    "CREATE TABLE comments (id INT PRIMARY KEY AUTO_INCREMENT, post INT, body VARCHAR(300), KEY (post))",
    "INSERT INTO posts (title, body) SELECT CONCAT('title ', seq * 7919 % 2000), "
    "REPEAT(MD5(seq), 1 + seq % 20) FROM seq_1_to_2000",
    "INSERT INTO comments (post, body) SELECT 1 + seq * 31 % 2000, REPEAT(SHA1(seq), 1 + seq % 7) "
    "FROM seq_1_to_10000",
]


def resident_bytes(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    raise SystemExit(f"bench-malloc: no '{key}' in the status of {pid}")


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tracked_bytes(path):
    connection = servers.MariaConnection(path)
    rows = connection.query("SHOW GLOBAL STATUS LIKE 'Memory_used'")
    connection.close()
    return int(rows[0][1])


@contextlib.contextmanager
def started_with(peer):
    """The environment in which servers.mariadb() starts a server with this peer's malloc."""
    before = dict(os.environ)
    with servers.folder() as folder:
        variables = peer.environment()
        if peer.loader:
            wrapper = os.path.join(folder, "mariadbd")
            with open(wrapper, "w", encoding="ascii") as file:
                words = peer.command([servers.program("mariadbd", "mariadb-server-core")])
                file.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            os.chmod(wrapper, 0o755)
            variables["PATH"] = folder + ":" + variables["PATH"]
        os.environ.clear()
        os.environ.update(variables)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def run(load_program, peer, clients, cached_threads, seconds):
    """(statements a second, and for each second of the server's processor time, peak, after, after - tracked) of one
    server under load, in MiB. cached_threads: a number, or "default"."""
    # Small caches, all of them used: what they reserve is tracked, touched or not.
    options = ["--innodb-buffer-pool-size=16M", "--aria-pagecache-buffer-size=8M", "--key-buffer-size=1M",
               "--performance-schema=ON", "--max-connections=300"]
    if cached_threads != "default":
        options.append(f"--thread-cache-size={cached_threads}")
    with started_with(peer), servers.mariadb(*options) as server:
        os.environ.pop("LD_PRELOAD", None)
        connection = servers.MariaConnection(server.path)
        for statement in TABLES:
            connection.query(statement)
        connection.close()
        cpu = processor_seconds(server.pid)
        done = subprocess.run([load_program, server.path, str(clients), str(seconds)],
                              stdout=subprocess.PIPE, text=True, check=True, timeout=seconds + 120)
        rate = float(done.stdout)
        cpu = processor_seconds(server.pid) - cpu
        time.sleep(SETTLE_SECONDS)
        after = resident_bytes(server.pid, "VmRSS:")
        return (rate, rate * seconds / cpu, resident_bytes(server.pid, "VmHWM:") / MIB, after / MIB,
                (after - tracked_bytes(server.path)) / MIB)
