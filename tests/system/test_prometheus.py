"""The real Prometheus scrapes a real lab: its values, the alert rules, and every expression of dist/."""
import contextlib
import json
import os
import re
import subprocess
import unittest
import urllib.parse
import urllib.request

import yaml

import exporter
import servers
import tool

ROOT = os.environ["STRATA_ROOT"]
DIST = os.path.join(ROOT, "dist")
RULES = os.path.join(DIST, "prometheus", "strata.rules.yml")
# The name of the lab's server, of this run alone: what has the same name is told together.
LAB = f"lab-{os.getpid()}"
NAME = re.compile(r"\bstrata_[a-z_]+")


def promtool(*words, text=None):
    path = servers.program("promtool", "prometheus")
    done = subprocess.run([path, *words], input=text, capture_output=True, text=True, timeout=240,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def read_yaml(*path):
    with open(os.path.join(DIST, *path), encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def documented():
    """{metric: labels} of docs/metrics.md, which is generated from the presenter."""
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| (strata_\w+) \| \w+ \| ([\w, ]*) \|", file.read(), re.M)
    return {name: set(filter(None, labels.split(", "))) for name, labels in rows}


def dashboard():
    with open(os.path.join(DIST, "grafana", "strata.json"), encoding="utf-8") as file:
        return json.load(file)


def expressions():
    """(where, expression) of all alerts and of all panels and variables of the dashboard."""
    for group in read_yaml("prometheus", "strata.rules.yml")[0]["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def without_variables(expression):
    return expression.replace("$instance", ".*").replace("$name", ".*")


class Files(unittest.TestCase):
    def test_promtool_accepts_the_rules(self):
        for words in (("check", "rules", RULES),
                      ("test", "rules", os.path.join(DIST, "prometheus", "strata.rules.test.yml")),
                      ("check", "config", os.path.join(DIST, "prometheus", "scrape.yml"))):
            code, output = promtool(*words)
            self.assertEqual(code, 0, output)

    def test_each_alert_is_tested(self):
        tests = read_yaml("prometheus", "strata.rules.test.yml")[0]["tests"]
        fired = {case["alertname"] for test in tests for case in test["alert_rule_test"]
                 if case["exp_alerts"]}
        rules = {rule["alert"] for group in read_yaml("prometheus", "strata.rules.yml")[0]["groups"]
                 for rule in group["rules"]}
        self.assertEqual(fired, rules)

    def test_promtool_accepts_the_page(self):
        done = tool.run("export", "--once", "--most", 5)
        self.assertEqual(done.returncode, 0)
        code, output = promtool("check", "metrics", text=done.stdout.decode())
        self.assertEqual((code, output), (0, ""))

    def test_every_name_is_exported(self):
        known = documented()
        self.assertGreater(len(known), 60)
        for where, expression in expressions():
            names = NAME.findall(expression)
            self.assertTrue(names or where == "StrataExporterDown", where)
            for name in names:
                self.assertIn(name, known, where)
        for variable in dashboard()["templating"]["list"]:
            for name in NAME.findall(json.dumps(variable)):
                self.assertIn(name, known)
        live = {name for name, _, _ in exporter.parse(
            tool.run("export", "--once", "--most", 5).stdout.decode())}
        self.assertLessEqual(live, set(known))

    def test_every_label_is_exported(self):
        known = documented()
        for where, expression in expressions():
            for name, labels in re.findall(r"(strata_\w+)\{([^}]*)\}", expression):
                used = set(re.findall(r"(\w+)\s*=", labels)) - {"instance", "job"}
                self.assertLessEqual(used, known[name], where)

    def test_the_dashboard_is_whole(self):
        board = dashboard()
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertTrue(board["uid"])
        places = set()
        for panel in board["panels"]:
            place = panel["gridPos"]
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), places, panel["title"])
                    self.assertLess(x, 24)
                    places.add((x, y))

    def test_units_are_sound(self):
        """systemd-analyze accepts the units, and their exposure is low."""
        analyze = servers.program("systemd-analyze", "systemd")
        with servers.folder() as home:
            program = tool.copy_for_everybody(home)
            with open(os.path.join(os.environ["STRATA_BUILD"], "dist", "strata-export.service"),
                      encoding="utf-8") as file:
                service = re.sub(r"^ExecStart=\S+", f"ExecStart={program}", file.read(), flags=re.M)
            path = os.path.join(home, "strata-export.service")
            with open(path, "w", encoding="utf-8") as file:
                file.write(service)
            with open(os.path.join(DIST, "systemd", "strata-export.socket"), encoding="utf-8") as file:
                socket_unit = file.read()
            with open(os.path.join(home, "strata-export.socket"), "w", encoding="utf-8") as file:
                file.write(socket_unit)
            done = subprocess.run([analyze, "verify", "--man=no", path,
                                   os.path.join(home, "strata-export.socket")],
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
            done = subprocess.run([analyze, "security", "--offline=true", "--threshold=25", path],
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_capabilities_of_the_unit_suffice(self):
        """Not root, with what the unit gives: layers of another user's process, and not without."""
        if os.geteuid() != 0:
            self.fail("needs root, to give up all but two capabilities")
        path = os.path.join(os.environ["STRATA_BUILD"], "dist", "strata-export.service")
        with open(path, encoding="utf-8") as file:
            granted = re.search(r"^AmbientCapabilities=(.*)$", file.read(), re.M).group(1)
        words = ",".join("+" + name.removeprefix("CAP_").lower() for name in granted.split())
        with servers.folder() as home, contextlib.ExitStack() as stack:
            program = tool.copy_for_everybody(home)
            # A name of its own: what has the name of many is told of all of them together.
            name = f"own-{os.getpid()}"
            os.symlink(servers.program("sleep", "coreutils"), os.path.join(home, name))
            process = stack.enter_context(servers.running([os.path.join(home, name), "3600"]))
            servers.wait_until(lambda: tool.name_of(process.pid) == name, name, process)
            user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            for capabilities, sees in (([f"--inh-caps={words}", f"--ambient-caps={words}"], True), ([], False)):
                done = subprocess.run(user + capabilities + [program, "export", "--once", "--most", "1000"],
                                      capture_output=True, text=True, timeout=240, check=True)
                found = {(metric, labels.get("name")) for metric, labels, _ in exporter.parse(done.stdout)}
                for layer in ("in_use", "free_resident"):
                    self.assertEqual((f"strata_{layer}_bytes", name) in found, sees, (layer, words))

    def test_the_daemon_set_gives_what_the_unit_gives(self):
        daemon_set = read_yaml("kubernetes", "strata-export.yaml")[0]
        pod = daemon_set["spec"]["template"]["spec"]
        security = pod["containers"][0]["securityContext"]
        self.assertTrue(pod["hostPID"])
        self.assertEqual(security["capabilities"], {"drop": ["ALL"], "add": ["SYS_PTRACE", "DAC_READ_SEARCH"]})
        command = pod["containers"][0]["command"]
        self.assertEqual(command[:2], ["strata", "export"])
        done = tool.run(*command[1:], "--once")  # options it does not know would be told first
        self.assertIn(b"--once and --listen exclude each other", done.stderr)


class Scraped(unittest.TestCase):
    """One Prometheus, one exporter and one lab for all."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        try:
            cls.start()
        except BaseException:
            cls.stack.close()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @classmethod
    def start(cls):
        home = cls.stack.enter_context(servers.folder())
        path = os.path.join(home, "socket")
        os.symlink(tool.lab("arena-server/arena_server"), os.path.join(home, LAB))
        server = cls.stack.enter_context(
            servers.running([os.path.join(home, LAB), path]))
        servers.wait_until(lambda: servers.connects(path), "arena_server", server)
        subprocess.run([tool.lab("arena-server/arena_load"), path, "4000", "24"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.server = server
        cls.served = cls.stack.enter_context(exporter.exporter("--every", "500ms", "--most", "200"))
        cls.start_prometheus(home)

    @classmethod
    def start_prometheus(cls, home):
        # What an alert waits for is a quarter of an hour and more: here it is a second.
        rules = os.path.join(home, "rules.yml")
        with open(RULES, encoding="utf-8") as file, open(rules, "w", encoding="utf-8") as out:
            out.write(re.sub(r"^(\s+for:).*$", r"\1 1s", file.read(), flags=re.M))
        config = read_yaml("prometheus", "scrape.yml")[0]
        config["global"] = {"evaluation_interval": "1s"}
        config["rule_files"] = [rules]
        job = config["scrape_configs"][0]
        job.update(scrape_interval="2s", scrape_timeout="2s")
        job["static_configs"][0]["targets"] = [f"{cls.served.host}:{cls.served.port}"]
        with open(os.path.join(home, "prometheus.yml"), "w", encoding="utf-8") as file:
            yaml.safe_dump(config, file)
        port = servers.free_port()
        cls.api = f"http://127.0.0.1:{port}/api/v1/"
        log = cls.stack.enter_context(open(os.path.join(home, "log"), "wb"))
        cls.prometheus = cls.stack.enter_context(servers.running(
            [servers.program("prometheus", "prometheus"), f"--config.file={home}/prometheus.yml",
             f"--storage.tsdb.path={home}/data", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=log, stderr=log, cwd=home))
        servers.wait_until(lambda: cls.query("up == 1"), "the first scrape", cls.prometheus)

    @classmethod
    def get(cls, path):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(cls.api + path, timeout=240) as answer:
            return json.load(answer)["data"]

    @classmethod
    def query(cls, expression):
        """The samples of an expression; [] also while there is nobody to ask."""
        try:
            return cls.get("query?" + urllib.parse.urlencode({"query": expression}))["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it has just begun
                return []
            raise AssertionError(f"{expression}: {error.read().decode()}") from error
        except OSError:
            return []

    def test_the_page_is_scraped_whole(self):
        def is_up():
            """A busy machine may be too late for one scrape or another."""
            target = self.get("targets")["activeTargets"][0]
            return (target["health"], target["lastError"]) == ("up", "")
        servers.wait_until(is_up, "a scrape without an error", self.prometheus)
        self.assertGreater(float(self.query("scrape_samples_scraped")[0]["value"][1]), 50)

    def test_values_are_those_of_explain(self):
        # An exporter that sleeps after what it took gets to the lab in time; the lab is at rest.
        names, values = ("in_use", "held", "free_resident", "resident"), []

        def are_equal():
            """The lab may still have ended a thread after the look that was scraped, or the kernel taken a page."""
            report = tool.explain(self.server.pid)
            found = [self.query(f'strata_{name}_bytes{{name="{LAB}"}}') for name in names]
            values[:] = [(name, [int(sample["value"][1]) for sample in samples], [tool.layer(report, name)["bytes"]])
                         for name, samples in zip(names, found)]
            return all(scraped == explained for _, scraped, explained in values)
        try:
            servers.wait_until(are_equal, "equal values", self.served.process)
        except AssertionError as error:
            raise AssertionError(f"{error}: {values}") from error

    def test_a_fleet_is_planned(self):
        """What Prometheus has of the lab makes a plan of the lab's own private memory."""
        servers.wait_until(lambda: self.query(f'strata_private_bytes{{name="{LAB}"}}'),
                           "the lab's private memory", self.served.process)
        words = ["plan", "--prometheus", self.api.removesuffix("/api/v1/"), "--limit", "2G", "--days", "1",
                 "--pool"]
        # a plan asks for whole seconds, and what was scraped in this one is of the next
        servers.wait_until(lambda: tool.run(*words, LAB).returncode == 0, "a plan",
                           self.prometheus)
        plan = json.loads(tool.run(*words, LAB, "--json").stdout)
        private = tool.layer(tool.explain(self.server.pid), "exclusive")["bytes"]
        # The largest of several looks; pages come and go while the lab rests.
        self.assertAlmostEqual(plan["worker"]["largest"] - plan["worker"]["kernel"], private, delta=1 << 20)
        self.assertEqual(plan["workers_now"], 1)
        self.assertIn("1 host in 1 day", plan["source"])
        done = tool.run(*words, "nobody")
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"no pool 'nobody'", done.stderr)

    def test_an_alert_fires_on_the_lab(self):
        firing = f'ALERTS{{alertname="StrataRetained",alertstate="firing",name="{LAB}"}}'
        servers.wait_until(lambda: self.query(firing), "the alert", self.served.process)
        for alert in self.get("alerts")["alerts"]:
            if alert["labels"]["alertname"] == "StrataRetained":
                print(alert["annotations"]["summary"])

    def test_every_expression_can_be_asked(self):
        for _, expression in expressions():
            self.query(without_variables(expression))

    def test_panels_have_data(self):
        """All that this machine can have: panels that stay empty here name why."""
        servers.wait_until(lambda: self.query(f'strata_free_resident_bytes{{name="{LAB}"}}'),
                           "the lab's layers", self.served.process)
        empty = []
        for panel in dashboard()["panels"]:
            found = [self.query(without_variables(target["expr"])) for target in panel.get("targets", [])]
            if found and not any(found):
                empty.append(panel["title"])
        # Limits, pressure and events depend on the cgroup of the machine that runs the test, PHP on
        # whether one runs.
        self.assertLessEqual(set(empty), {"Working set and what cannot be reclaimed, of the limit",
                                          "Waiting for memory", "Limit met, processes killed",
                                          "PHP: largest real of memory_limit"})

    def test_series_are_as_many_as_the_documents_say(self):
        with open(os.path.join(ROOT, "docs", "fleet.md"), encoding="utf-8") as file:
            text = file.read()
        host, target, cgroup = (int(re.search(rf"(\d+) series for {what}", text).group(1))
                                for what in ("the host", "each target", "each cgroup"))
        known = documented()
        families = {"host": 0, "target": 0, "cgroup": 0}
        for labels in known.values():
            families["target" if "name" in labels else "cgroup" if "cgroup" in labels else "host"] += 1
        samples = self.served.samples()
        targets = {tuple(sorted((key, value) for key, value in labels.items() if key in ("name", "pool", "unit")))
                   for _, labels, _ in samples if "name" in labels}
        cgroups = {labels["cgroup"] for _, labels, _ in samples if "cgroup" in labels}
        counted = host + target * len(targets) + cgroup * len(cgroups)
        print(f"{len(samples)} samples of {len(targets)} targets and {len(cgroups)} cgroups; "
              f"docs/fleet.md allows {counted}")
        # The document counts every number as known and some findings; a real page has fewer.
        self.assertLessEqual(len(samples), counted)
        self.assertGreater(len(samples), counted // 3)
        self.assertGreaterEqual(target, families["target"])
        self.assertGreaterEqual(cgroup, families["cgroup"])
        self.assertGreaterEqual(host, families["host"])
        table = re.findall(r"^\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", text, re.M)
        self.assertEqual([row[0] for row in table], ["10", "1,000", "100,000"])
        per_host = host + 12 * target + 8 * cgroup
        for row in table:
            hosts, series, samples_a_second = (int(word.replace(",", "")) for word in row)
            self.assertEqual(series, hosts * per_host)
            self.assertEqual(samples_a_second, round(series / 30))
        few = int(re.search(r"\((\d+) series a host", text).group(1))
        self.assertEqual(few, host + 5 * target + cgroup)


if __name__ == "__main__":
    unittest.main()
