"""The parts of bench-malloc: what is run, case by case, and the table of each."""
import math
import os
import statistics
import subprocess

import plot
import report

HERE = os.path.dirname(os.path.realpath(__file__))
MIB_IN_KIB = 1024


class Part:
    """A table. `chosen` are the options, `cases` the names of its rows, `programs` what they run;
    measure() gives the figures of one run, and columns() what the table shows of them."""
    def __init__(self, chosen):
        self.chosen = chosen
        self.programs = []
        self.cases = []

    def program(self, name):
        return os.path.join(self.chosen.programs, name)

    def prepare(self):
        """Before the first sample."""

    def measure(self, case, peer, run):
        raise NotImplementedError

    def table(self, results):
        """Lines; results: {(case, peer's name): [figures]}, for cases that all peers have run."""
        raise NotImplementedError


class Shapes(Part):
    name = "shapes"
    SHAPES = ["mixed", "larson", "remote", "bursts", "growth", "big", "tiny", "churn", "nothing"]
    TRACES = ["compiler", "store", "requests"]
    WAIT_SECONDS = 2

    def __init__(self, chosen):
        super().__init__(chosen)
        self.cases = chosen.shapes.split(",")
        traces = [self.program(f"trace-{case}") for case in self.cases if case in self.TRACES]
        self.programs = [self.program("malloc-shapes"), self.program("malloc-replay"), *traces]

    def prepare(self):
        if set(self.cases) & set(self.TRACES):
            subprocess.run([os.path.join(HERE, "record-traces"), self.program("malloc-record.so"),
                            self.chosen.programs], check=True)

    def measure(self, case, peer, run):
        """Only the first run waits for memory to go back."""
        wait = str(0 if run else self.WAIT_SECONDS)
        if case in self.TRACES:
            return peer.figures([self.program("malloc-replay"), self.program(f"trace-{case}"), wait])
        return peer.figures([self.program("malloc-shapes"), case, wait])

    def table(self, results):
        table = report.Table(results)
        self.chosen.save("malloc.svg", plot.svg(*table.plot_points()))
        return [*table.rows(), "", *table.summary()]


class Threads(Part):
    name = "threads"

    def __init__(self, chosen):
        super().__init__(chosen)
        self.programs = [self.program("malloc-threads")]
        self.churn = f"churn {chosen.churn_seconds}"
        self.serial = f"serial {chosen.serial_threads}"
        self.cases = [self.churn, self.serial]

    def measure(self, case, peer, run):
        return peer.figures([self.program("malloc-threads"), *case.split()])

    def table(self, results):
        names = report.peers_of(results)
        yield "churn: 200 threads a second, at most 32 alive; million operations a processor second (+-%), MiB"
        yield f"{'':9} {'Mops':>12} {'peak':>12} {'mean':>12} {'mean live':>12} {'after':>12} {'live':>6}"
        for peer in names:
            rate, *memory, live = zip(*results.get((self.churn, peer), [[math.nan] * 6]))
            yield (f"{peer:9} {report.with_spread(rate, 3)}"
                   + "".join(f" {report.with_spread(kib, 1, MIB_IN_KIB)}" for kib in memory)
                   + f" {statistics.median(live) / MIB_IN_KIB:6.1f}")
        yield ""
        yield f"serial: {self.chosen.serial_threads} threads one after another; seconds, MiB after a tenth, after all"
        for peer in names:
            seconds, early, end = zip(*results.get((self.serial, peer), [[math.nan] * 3]))
            yield (f"{peer:9} {report.with_spread(seconds, 3)} {report.with_spread(early, 2, MIB_IN_KIB)}"
                   f" {report.with_spread(end, 2, MIB_IN_KIB)}")


class Equal(Part):
    name = "equal"

    def __init__(self, chosen):
        super().__init__(chosen)
        self.programs = [self.program("malloc-equal")]
        self.cases = [f"{block} {chosen.equal_mib} {freed}" for block in (8, 1024) for freed in ("all", "butlast")]

    def measure(self, case, peer, run):
        return peer.figures([self.program("malloc-equal"), *case.split()])

    def table(self, results):
        yield f"equal blocks, {self.chosen.equal_mib} MiB in all; MiB beyond what the program had before"
        yield (f"{'':9} {'block':>5} {'freed':>8} {'alloc s':>12} {'free s':>12} {'full':>12} {'/ user':>7}"
               f" {'at once':>12} {'2 s later':>12}")
        for case in self.cases:
            block, _, freed = case.split()
            for peer in report.peers_of(results, case):
                alloc, free, full, at_once, later = zip(*results[case, peer])
                yield (f"{peer:9} {block:>5} {freed:>8} {report.with_spread(alloc, 2)} {report.with_spread(free, 2)}"
                       f" {report.with_spread(full, 1, MIB_IN_KIB)}"
                       f" {statistics.median(full) / MIB_IN_KIB / self.chosen.equal_mib:7.3f}"
                       f" {report.with_spread(at_once, 1, MIB_IN_KIB)} {report.with_spread(later, 2, MIB_IN_KIB)}")


class MariaDb(Part):
    name = "mariadb"

    def __init__(self, chosen):
        super().__init__(chosen)
        self.programs = [self.program("mariadb-load"), os.path.join(HERE, "mariadb.py")]
        self.cases = [f"{clients} {threads} {chosen.mariadb_seconds}" for threads in ("0", "default")
                      for clients in (16, 64)]
        if not os.path.exists(self.programs[0]):
            raise SystemExit("bench-malloc: no 'mariadb-load': install libmariadb-dev (tools/setup bench), "
                             "then run cmake again")

    def measure(self, case, peer, run):
        import mariadb
        clients, threads, seconds = case.split()
        return mariadb.run(self.programs[0], peer, int(clients), threads, int(seconds))

    def table(self, results):
        yield f"MariaDB, connect, 5 statements, disconnect; {self.chosen.mariadb_seconds} s of load, MiB"
        yield (f"{'':9} {'threads':>8} {'clients':>7} {'statements/s':>12} {'a cpu second':>12} {'peak':>12} {'after':>12}"
               f" {'- tracked':>12}")
        for case in self.cases:
            clients, threads, _ = case.split()
            for peer in report.peers_of(results, case):
                rate, cpu_rate, *memory = zip(*results[case, peer])
                yield (f"{peer:9} {threads:>8} {clients:>7} {report.with_spread(rate, 0)} {report.with_spread(cpu_rate, 0)}"
                       + "".join(f" {report.with_spread(mib, 1)}" for mib in memory))


ALL = {part.name: part for part in (Shapes, Threads, Equal, MariaDb)}
