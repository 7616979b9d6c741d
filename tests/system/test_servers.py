"""Every byte of a real server's resident set is in one named part, and little is unexplained."""
import unittest

import servers
import tool

LARGEST_RESIDUAL = 0.02
TRIES = 50


class Servers(unittest.TestCase):
    def check(self, pid):
        """Explains a quiet process; one that moved meanwhile is tried again."""
        for _ in range(TRIES):
            before = tool.rollup(pid)["Rss"]
            report = tool.explain(pid)
            if tool.rollup(pid)["Rss"] == before:
                break
        else:
            self.fail(f"the resident set of {pid} did not hold still for {TRIES} explains")
        resident = tool.layer(report, "resident")
        self.assertEqual(resident["bytes"], before)
        for layer in report["layers"]:
            if layer.get("parts"):
                ids = [part["id"] for part in layer["parts"]]
                self.assertEqual(len(ids), len(set(ids)), layer["id"])
                self.assertEqual(sum(part["bytes"] for part in layer["parts"]), layer["bytes"],
                                 layer["id"])
        residual = tool.layer(report, "residual")
        print(f"residual {residual['bytes']} bytes of {before}, {len(tool.layer(report, 'resident')['parts'])} parts")
        self.assertLessEqual(abs(residual["bytes"]), LARGEST_RESIDUAL * before, residual)
        return report

    def test_mariadbd(self):
        with servers.mariadb() as server:
            for _ in range(20):
                connection = servers.MariaConnection(server.path)
                connection.query("SELECT COUNT(*), MIN(a.table_name) FROM information_schema.columns a")
                connection.close()
            report = self.check(server.pid)
            self.assertGreater(tool.allocator(report, "glibc")["in_use"], 1 << 20)

    def test_nginx(self):
        with servers.nginx() as server:
            for _ in range(50):
                servers.http_get(server.path, "/page.html")
            for pid in server.pids:
                self.check(pid)

    def test_redis(self):
        with servers.redis() as server:
            servers.redis_command(server.path, *[["SET", f"key{i}", "v" * (i % 500)]
                                                 for i in range(20000)])
            self.check(server.pid)

    def test_php_cli(self):
        with servers.php_program() as server:
            self.check(server.pid)

    def test_php_fpm(self):
        with servers.php_fpm(servers.PHP_SCRIPT) as server:
            for _ in range(4):
                self.assertIn(b"ready", servers.fastcgi_get(server.path, server.page))
            for pid in server.pids:
                self.check(pid)

    def test_python(self):
        with servers.python_program() as server:
            self.check(server.pid)


if __name__ == "__main__":
    unittest.main()
