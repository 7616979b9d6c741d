"""MariaDB asked over its own socket, with and without rights; and servers that lie or hang."""
import contextlib
import glob
import json
import os
import subprocess
import sys
import threading
import unittest

import servers
import tool

INSTRUMENTS = ["--performance-schema=ON", "--performance-schema-instrument=memory/%=ON"]
PASSWORD = "s3cret-Of-Nobody"
LEAST_COVERAGE = 80
MOST_MEMORY_MIB = 300
LONGEST_WAIT_MS = 3000


def report_of(pid, *options, run=tool.run_in_time):
    """The JSON of an explanation that may lack what the server would say."""
    done = run("explain", pid, "--json", *options)
    if done.returncode not in (0, 5):
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def server_of(report):
    if len(report["mysql"]) != 1:
        raise AssertionError(f"not one server: {report['mysql']}")
    return report["mysql"][0]


def execute(path, *statements):
    connection = servers.MariaConnection(path)
    for statement in statements:
        connection.query(statement)
    connection.close()


@contextlib.contextmanager
def option_file(home, user, password, group="strata"):
    path = os.path.join(home, f"{user}.cnf")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"[{group}]\nuser = {user}\npassword = \"{password}\"\n")
    os.chmod(path, 0o600)
    yield path


class Answered(unittest.TestCase):
    def check_rest(self, report):
        """Whatever the server says, the other layers are there."""
        for name in ("in_use", "held", "resident", "residual"):
            self.assertIn(tool.layer(report, name)["state"], ("ok", "stale"), name)

    def check_account(self, report):
        account = server_of(report)["account"]
        self.assertEqual(account["outside_malloc"] + account["inside_malloc"], account["tracked"])
        self.assertEqual(account["inside_malloc"] + account["headers"] + account["untracked"],
                         account["in_use"])
        tracked = tool.layer(report, "tracked")
        self.assertEqual(sum(part["bytes"] for part in tracked["parts"]), tracked["bytes"])
        self.assertEqual(tracked["bytes"], account["tracked"])
        return account

    def test_all_instruments(self):
        with servers.mariadb(*INSTRUMENTS) as server, servers.folder() as home:
            report = report_of(server.pid)
            self.check_rest(report)
            account = self.check_account(report)
            print(f"coverage {account['coverage_percent']} %, untracked {account['untracked']} bytes "
                  f"of {account['in_use']} in use")
            self.assertGreaterEqual(account["coverage_percent"], LEAST_COVERAGE)
            self.assertLessEqual(account["coverage_percent"], 103)
            said = server_of(report)
            self.assertEqual(said["since"], "start")
            self.assertEqual(said["facts"]["instruments"], said["facts"]["instruments_on"])
            total = int(servers_total(server.path))
            self.assertLess(abs(said["facts"]["instrumented"] - total), 4 << 20)
            self.check_rights(server, home)
            self.check_not_asked(server)
            self.check_socket_gone(server)

    def check_rights(self, server, home):
        """A user with the GRANT of the README, one without any, and a wrong password."""
        execute(server.path, f"CREATE USER strata@localhost IDENTIFIED BY '{PASSWORD}'",
                f"CREATE USER poor@localhost IDENTIFIED BY '{PASSWORD}'",
                "GRANT SELECT ON performance_schema.* TO strata@localhost",
                "CREATE USER root2@localhost", "ALTER USER root@localhost IDENTIFIED BY 'other'")
        with option_file(home, "strata", PASSWORD) as file:
            capture = os.path.join(home, "server.strata")
            done = tool.run_in_time("explain", server.pid, "--json", "--defaults-file", file,
                                    "--capture", capture)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(server_of(json.loads(done.stdout))["memory_state"], "ok")
            with open(capture, "rb") as stored:
                self.check_secret(stored.read(), done.stdout, done.stderr)
            text = tool.run("explain", server.pid, "--all", "--defaults-file", file)
            self.check_secret(text.stdout, text.stderr)
        with option_file(home, "poor", PASSWORD, "client") as file:
            report = report_of(server.pid, "--defaults-file", file)
            self.check_rest(report)
            self.assertEqual(server_of(report)["state"], "ok")
            self.assertEqual(server_of(report)["memory_state"], "denied")
            self.assertIn("GRANT SELECT ON performance_schema.*", server_of(report)["memory_why"])
            self.assertEqual(server_of(report)["account"]["source"], "memory-used")
            self.assertIn("mysql-coverage", [finding["rule"] for finding in report["findings"]])
        with option_file(home, "strata", PASSWORD + "x") as file:
            report = report_of(server.pid, "--defaults-file", file)
            self.check_rest(report)
            self.assertEqual(server_of(report)["state"], "denied")
            self.assertEqual(tool.layer(report, "tracked")["state"], "denied")
            self.check_secret(json.dumps(report).encode())
        report = report_of(server.pid, "--defaults-file", os.path.join(home, "none.cnf"))
        self.assertEqual(server_of(report)["state"], "denied")

    def check_secret(self, *texts):
        for text in texts:
            self.assertNotIn(PASSWORD.encode(), text)

    def check_not_asked(self, server):
        report = report_of(server.pid, "--no-ask")
        self.check_rest(report)
        self.assertEqual(server_of(report)["state"], "absent")
        self.assertIn("--no-ask", server_of(report)["why"])

    def check_socket_gone(self, server):
        os.unlink(server.path)
        report = report_of(server.pid)
        self.check_rest(report)
        self.assertEqual(server_of(report)["state"], "absent")
        self.assertIn("socket", server_of(report)["why"])

    def test_performance_schema_off(self):
        with servers.mariadb() as server:
            report = report_of(server.pid)
            self.check_rest(report)
            account = self.check_account(report)
            self.assertEqual(account["source"], "memory-used")
            self.assertEqual(server_of(report)["memory_why"], "performance_schema is OFF")
            self.check_stopped(server)
            self.check_killed(server)

    def check_stopped(self, server):
        """A server that accepts and says nothing: the read ends, the rest is there."""
        os.kill(server.pid, 19)
        try:
            report = report_of(server.pid, run=tool.run)
        finally:
            os.kill(server.pid, 18)
        self.check_rest(report)
        self.assertNotEqual(server_of(report)["state"], "ok")

    def check_killed(self, server):
        """It ends at any moment of a read: an exit code that says so, and no crash."""
        codes = []
        killer = threading.Timer(0.15, server.process.kill)
        killer.start()
        while server.process.poll() is None:
            codes.append(tool.run("explain", server.pid, "--json").returncode)
        killer.join()
        codes.append(tool.run("explain", server.pid, "--json").returncode)
        print("exit codes while it is killed:", codes)
        self.assertTrue(set(codes) <= {0, 4, 5}, codes)
        self.assertEqual(codes[-1], 4)

    def test_port_and_own_mounts(self):
        """A unix socket in a mount namespace of its own; without it, the port."""
        with servers.folder() as hidden:
            path = os.path.join(hidden, "s")
            with servers.mariadb("--skip-networking=0", "--bind-address=127.0.0.1", "--port=0",
                                 f"--socket={path}", own_mounts=hidden) as server:
                report = report_of(server.pid)
                self.assertEqual(server_of(report)["state"], "ok", server_of(report))
                self.assertEqual(server_of(report)["address"], path)
                self.assertFalse(os.path.exists(path))
                os.unlink(f"/proc/{server.pid}/root{path}")
                report = report_of(server.pid)
                self.assertEqual(server_of(report)["state"], "ok", server_of(report))
                self.assertRegex(server_of(report)["address"], r"^127\.0\.0\.1:\d+$")

    def test_switched_on_late(self):
        with servers.mariadb("--performance-schema=ON") as server:
            report = report_of(server.pid)
            self.assertIn("for itself only", summary_of(report, "mysql-coverage"))
            execute(server.path, "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' "
                                 "WHERE NAME LIKE 'memory/%'", "FLUSH PRIVILEGES", "FLUSH TABLES")
            report = report_of(server.pid)
            self.assertEqual(server_of(report)["since"], "later")
            self.assertIn("switched on while the server ran", summary_of(report, "mysql-coverage"))
            self.check_account(report)

    def test_without_client_library(self):
        """Where libmariadb is not installed, strata says which package has it."""
        found = glob.glob("/usr/lib/*/libmariadb.so.3")
        self.assertTrue(found, "missing package: libmariadb3; run tools/setup test")
        library = found[0]
        with servers.mariadb() as server:
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", f"mount --bind /dev/null {library} && exec "
                 f"{tool.STRATA} explain {server.pid} --json"], capture_output=True, timeout=240, check=False)
            report = json.loads(done.stdout)
            self.check_rest(report)
            self.assertEqual(server_of(report)["state"], "absent")
            self.assertIn("libmariadb3", server_of(report)["why"])


def servers_total(path):
    connection = servers.MariaConnection(path)
    total = connection.query("SELECT total_allocated FROM sys.x$memory_global_total")[0][0]
    connection.close()
    return total


def summary_of(report, rule):
    for finding in report["findings"]:
        if finding["rule"] == rule:
            return finding["summary"]
    raise AssertionError(f"'{rule}' is silent: {[finding['rule'] for finding in report['findings']]}")


@contextlib.contextmanager
def fake(behaviour, *user):
    """The fake server: (pid, the bytes that clients sent to it)."""
    with servers.folder() as home:
        program = os.path.join(home, "mariadbd")
        os.symlink(sys.executable, program)
        os.chmod(home, 0o777)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mysql_fake.py")
        with open(script, encoding="utf-8") as file, open(os.path.join(home, "fake.py"), "w",
                                                          encoding="utf-8") as copy:
            copy.write(file.read())
        sent = os.path.join(home, "received")
        process = subprocess.Popen([program, os.path.join(home, "fake.py"), os.path.join(home, "s"), behaviour,
                                    sent, *map(str, user)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if process.stdout.readline() != b"ready\n":
                raise AssertionError("the fake server did not start")
            yield process.pid, lambda: content_of(sent)
        finally:
            process.stdin.close()
            process.wait(240)
            process.stdout.close()


def content_of(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


class Hostile(unittest.TestCase):
    def look_until(self, state, *words, **options):
        """A busy machine may answer later than strata waits: then again."""
        for _ in range(tool.TRIES):
            said, received, printed = self.look(*words, **options)
            if said["state"] == state:
                break
        self.assertEqual(said["state"], state, said)
        return said, received, printed

    def look(self, behaviour, *options, user=(), env=None):
        with fake(behaviour, *user) as (pid, received):
            # That it ends at all shows the bound of time: the servers that hang do so for longer than that.
            done = tool.run("explain", pid, "--json", *options, preexec_fn=tool.limit_memory(MOST_MEMORY_MIB),
                            env=env)
            self.assertIn(done.returncode, (0, 5), done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(tool.layer(report, "resident")["state"], "ok")
            return server_of(report), received(), done.stdout

    def test_what_is_no_server(self):
        for behaviour, states in {"garbage": ("malformed", "absent", "gone"), "hangs": ("absent", "gone"),
                                  "drips": ("absent", "gone"), "greets": ("malformed", "absent", "gone")}.items():
            with self.subTest(behaviour):
                said, _, _ = self.look(behaviour)
                self.assertIn(said["state"], states, said)
                self.assertTrue(said["why"])

    def test_the_longest_wait(self):
        """Whatever the clock says: so long strata is ready to wait for a server, and for each of its answers."""
        for behaviour in ("hangs", "drips"):
            with self.subTest(behaviour), servers.folder() as home:
                file = os.path.join(home, "waits")
                self.look(behaviour, env={**os.environ, "LD_PRELOAD": tool.target("libtold_waits.so"),
                                          "WAITS_FILE": file})
                waits = [int(line) for line in content_of(file).split()]
                print(f"{behaviour}: {waits}")
                self.assertGreaterEqual(min(waits), 0)  # none without an end
                self.assertLessEqual(max(waits), LONGEST_WAIT_MS)
                self.assertIn(1000, waits)  # of the client library

    def test_answers_without_bound(self):
        for behaviour in ("columns", "rows", "packet"):
            with self.subTest(behaviour):
                said, _, _ = self.look(behaviour)
                self.assertIn(said["state"], ("malformed", "gone", "absent"), said)

    def test_what_a_client_could_be_made_to_do(self):
        said, received, _ = self.look("infile")
        self.assertNotIn(b"root:", received)
        self.assertNotEqual(said["state"], "ok")

    def test_cells_that_are_no_numbers(self):
        said, _, printed = self.look_until("ok", "cells")
        self.assertNotIn("connections", said["facts"])
        self.assertEqual(said["facts"]["uptime"], 5)
        self.assertNotIn(b"\x1b", printed)

    def test_the_limit_of_time_and_a_server_that_leaves(self):
        said, _, _ = self.look_until("ok", "slow")
        self.assertEqual(said["memory_state"], "absent")
        self.assertIn("less busy", said["memory_why"])
        said, _, _ = self.look_until("gone", "leaves")
        self.assertEqual(said["facts"]["max_connections"], 151)

    def test_no_password_in_clear(self):
        with servers.folder() as home, option_file(home, "strata", PASSWORD) as file:
            for behaviour in ("mysql_clear_password", "dialog", "sha256_password"):
                with self.subTest(behaviour):
                    said, received, printed = self.look(behaviour, "--defaults-file", file)
                    self.assertIn(b"strata", received)  # it was asked as that user
                    self.assertNotIn(PASSWORD.encode(), received + printed)
                    self.assertNotEqual(said["state"], "ok")

    def test_no_password_to_any_user(self):
        """A process of an ordinary user may call itself mariadbd: it is asked, without a password."""
        with servers.folder() as home, option_file(home, "strata", PASSWORD) as file:
            _, received, _ = self.look_until("ok", "polite", "--defaults-file", file, user=(23456,))
            self.assertNotIn(b"strata\0", received)


if __name__ == "__main__":
    unittest.main()
