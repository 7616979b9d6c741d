"""What strata says malloc_trim(0) would give back is what it gives back."""
import concurrent.futures
import os
import re
import subprocess
import unittest

import servers
import tool

RELATIVE = 0.01
ABSOLUTE = 512 * 1024
PAGES = 4000
CLIENTS = 24
SCREEN_LINES = 50
QUERIES = [
    "SELECT a.table_name, a.column_name FROM information_schema.columns a"
    " JOIN information_schema.tables b ON a.table_name = b.table_name"
    " ORDER BY a.column_name, b.table_name LIMIT 2000",
    "SELECT GROUP_CONCAT(REPEAT(seq, 20)) FROM mysql.seq_1_to_20000",
    "SELECT table_schema, COUNT(DISTINCT column_name) FROM information_schema.columns GROUP BY 1",
]


def trim_by_debugger(pid):
    """Lets an unchanged program call malloc_trim(0), as an administrator would."""
    gdb = servers.program("gdb", "gdb")
    done = subprocess.run(
        [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off",
         "-p", str(pid), "-ex", "print ((int (*)(unsigned long))malloc_trim)(0)"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
    if not re.search(r"^\$1 = [01]$", done.stdout, re.M):
        raise AssertionError(f"gdb did not call malloc_trim: {done.stdout}{done.stderr}")


class Trim(unittest.TestCase):
    def check(self, pid, trim):
        """Compares the prediction with how far the anonymous memory falls."""
        glibc = tool.allocator(tool.explain(pid), "glibc")
        before = tool.rollup(pid)["Anonymous"]
        trim()
        fall = before - tool.rollup(pid)["Anonymous"]
        predicted = glibc["trim_gain"]
        print(f"predicted {predicted >> 10} KiB, measured {fall >> 10} KiB of {before >> 10} KiB")
        self.assertGreater(predicted, 4 * ABSOLUTE, "nothing to give back: the test shows nothing")
        self.assertLessEqual(abs(predicted - fall), max(RELATIVE * fall, ABSOLUTE))
        return glibc

    def test_lab(self):
        with servers.folder() as home:
            path = os.path.join(home, "socket")
            with servers.running([tool.lab("arena-server/arena_server"), path]) as server:
                servers.wait_until(lambda: servers.connects(path), "arena_server", server)
                load = tool.lab("arena-server/arena_load")
                subprocess.run([load, path, str(PAGES), str(CLIENTS)], check=True,
                               stdout=subprocess.DEVNULL)
                servers.wait_until(lambda: len(os.listdir(f"/proc/{server.pid}/task")) == 1,
                                   "the last connection's thread")
                with open(f"/proc/{server.pid}/environ", "rb") as file:
                    self.assertNotIn(b"MALLOC_", file.read())
                glibc = self.check(server.pid, lambda: subprocess.run(
                    [load, path, "trim"], check=True, stdout=subprocess.DEVNULL))
                self.assertGreater(len(glibc["arenas"]), 4)

    def test_mariadbd_after_connection_churn(self):
        def churn(path):
            for _ in range(3):
                connection = servers.MariaConnection(path)
                for query in QUERIES:
                    connection.query(query)
                connection.close()

        with servers.mariadb("--thread-cache-size=0") as server:
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                list(pool.map(churn, [server.path] * 12))
            servers.wait_until(lambda: not self.connections(server.path), "the last connection")
            self.check_page(server.pid)
            self.check(server.pid, lambda: trim_by_debugger(server.pid))

    def check_page(self, pid):
        """The page is one screen: who, the layers, the lines to change and what they give back."""
        page = tool.run("explain", "--width", 80, pid).stdout.decode()
        lines = page.splitlines()
        self.assertLessEqual(len(lines), SCREEN_LINES, page)
        self.assertLessEqual(max(map(len, lines)), 80, page)
        self.assertRegex(lines[0], rf"^mariadbd .*pid {pid}\b", page)
        for layer in ("in use", "held", "resident", "pss", "charged"):
            self.assertRegex(page, rf"(?m)^ +[\d.]+ [MG]iB +{layer}\b", page)
        self.assertRegex(page, r"(?m)^What to change: gives back [\d.]+-[\d.]+ MiB \((likely|rough)\)$")
        self.assertRegex(page, r"(?m)^ +(export |Environment=|)MALLOC_[A-Z_]+[=:] ?\"?\d+", page)
        self.assertRegex(page, r"(?m)^  check: ", page)

    @staticmethod
    def connections(path):
        """How many connections there are beside the one that asks."""
        connection = servers.MariaConnection(path)
        rows = connection.query("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'root'")
        connection.close()
        return int(rows[0][0]) - 1


if __name__ == "__main__":
    unittest.main()
