"""A database server of another Debian, in its own root folder: does it say what it tracks?

    mysql_versions.py ROOT mysqld|mariadbd     as root; STRATA_PROGRAM names strata
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import servers

STRATA = os.environ["STRATA_PROGRAM"]
INSTRUMENTS = ["--performance-schema=ON", "--performance-schema-instrument=memory/%=ON"]
LEAST_FACTS = 40


def initialise(root, program, data):
    if program == "mysqld":
        words = ["mysqld", "--no-defaults", "--initialize-insecure", f"--datadir={data}", "--user=root"]
    else:
        words = ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db", "--force",
                 "--auth-root-authentication-method=normal"]
    done = subprocess.run(["chroot", root, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


@contextlib.contextmanager
def started(root, program):
    """The server's pid; its folder lies below root and goes with it."""
    os.makedirs(os.path.join(root, "var/lib/mysql-files"), exist_ok=True)
    os.makedirs(os.path.join(root, "tmp"), exist_ok=True)
    home = tempfile.mkdtemp(prefix="s-", dir=os.path.join(root, "tmp"))
    inside = home[len(os.path.realpath(root)):] if home.startswith(os.path.realpath(root)) else home[len(root):]
    try:
        initialise(root, program, f"{inside}/data")
        extra = ["--mysqlx=OFF"] if program == "mysqld" else []
        with open(os.path.join(home, "log"), "wb") as log, servers.running(
                ["chroot", root, program, "--no-defaults", f"--datadir={inside}/data", f"--socket={inside}/s",
                 "--user=root", "--skip-networking", f"--tmpdir={inside}", f"--pid-file={inside}/pid",
                 *INSTRUMENTS, *extra], stdout=log, stderr=log) as process:
            servers.wait_until(lambda: os.path.exists(f"{home}/pid") and os.path.exists(f"{home}/s"), program,
                               process)
            yield process.pid
    finally:
        shutil.rmtree(home, ignore_errors=True)


def check(report):
    server = report["mysql"][0]
    assert server["state"] == "ok", server["why"]
    assert server["memory_state"] == "ok", server["memory_why"]
    assert server["since"] == "start", server["since"]
    assert len(server["facts"]) >= LEAST_FACTS, sorted(server["facts"])
    assert server["facts"]["instruments"] == server["facts"]["instruments_on"]
    assert server["threads"], "no threads"
    total = sum(event["bytes"] for event in server["events"])
    assert total == server["facts"]["instrumented"], (total, server["facts"]["instrumented"])
    tracked = [layer for layer in report["layers"] if layer["id"] == "tracked"][0]
    assert tracked["state"] == "ok" and tracked["bytes"] == server["account"]["tracked"], tracked
    print(f"{server['family']} {server['version']}: {len(server['facts'])} facts, {len(server['events'])} instruments, "
          f"tracked {tracked['bytes'] >> 20} MiB, "
          f"{server['account'].get('coverage_percent', 'unknown')} % of malloc's blocks")


def main():
    root, program = sys.argv[1:3]
    with started(root, program) as pid:
        done = subprocess.run([STRATA, "explain", str(pid), "--json"], capture_output=True, check=False)
        if done.returncode not in (0, 5):
            raise AssertionError(done.stderr.decode())
        check(json.loads(done.stdout))


main()
