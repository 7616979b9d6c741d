"""Runs strata export for the system tests and reads its page."""
import contextlib
import http.client
import re
import subprocess
import urllib.parse

import servers
import tool

OPEN = "application/openmetrics-text;version=1.0.0"
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:\\.|[^"\\])*)"')


class Exporter:
    def __init__(self, process, url):
        self.process, self.pid = process, process.pid
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port

    def ask(self, path="/metrics", accept=OPEN, seconds=240):
        """(status, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        try:
            connection.request("GET", path, headers={"Accept": accept})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def samples(self):
        """[(metric, labels, value)] of the page now."""
        status, body = self.ask()
        if status != 200 or not body.endswith("# EOF\n"):
            raise AssertionError(f"no whole page: status {status}, {body[-200:]!r}")
        return parse(body)

    def value(self, metric, **labels):
        """The value of the only sample with these labels; None when there is none."""
        found = [value for name, given, value in self.samples()
                 if name == metric and labels.items() <= given.items()]
        if len(found) > 1:
            raise AssertionError(f"{metric}{labels}: {len(found)} samples")
        return found[0] if found else None

    def resident(self):
        return tool.rollup(self.pid)["Rss"]


def parse(body):
    samples = []
    for line in body.split("\n"):
        if line and not line.startswith("#"):
            match = SAMPLE.match(line)
            if match is None:
                raise AssertionError(f"no sample: {line!r}")
            samples.append((match.group(1), dict(LABEL.findall(match.group(2) or "")),
                            float(match.group(3))))
    return samples


@contextlib.contextmanager
def exporter(*words, **options):
    command = [tool.STRATA, "export", "--listen", "127.0.0.1:0", *map(str, words)]
    with servers.running(command, stderr=subprocess.PIPE, **options) as process:
        line = process.stderr.readline().decode()
        match = re.search(r"serving (\S+)", line)
        if match is None:
            raise AssertionError(f"strata export: {line}")
        served = Exporter(process, match.group(1))
        servers.wait_until(lambda: served.value("strata_host_looks_total"), "the first look", process)
        yield served
        if process.poll() is not None:
            raise AssertionError(f"strata export ended with {process.returncode}: {process.stderr.read()}")
