"""Timing of whole commands for the benchmarks: medians of several runs, and their own memory."""
import math
import os
import statistics
import subprocess

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
BUILD = os.path.abspath(os.environ.get("STRATA_BUILD", os.path.join(ROOT, "build", "release")))
STRATA = os.path.join(BUILD, "src", "cmd", "strata")
RUN_MEASURED = os.path.join(BUILD, "bench", "run_measured")


class Measured:
    def __init__(self, name, seconds, cpu_seconds, peak_bytes):
        self.name, self.seconds = name, seconds
        self.cpu_seconds, self.peak_bytes = cpu_seconds, peak_bytes

    def row(self, base=None):
        ratio = f"{self.seconds / base.seconds:8.1f} x" if base else " " * 10
        return (f"{self.name:34} {self.seconds * 1000:10.1f} ms {self.cpu_seconds * 1000:10.1f} ms cpu "
                f"{self.peak_bytes / 1048576:8.1f} MiB {ratio}")


def run_once(command):
    """(wall seconds, cpu seconds, peak RSS) of one command, which must succeed."""
    done = subprocess.run([RUN_MEASURED, *command], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=True)
    wall_ns, cpu_us, peak_kib, status = map(int, done.stdout.split()[-4:])
    if status not in (0, 1, 5):
        raise SystemExit(f"'{' '.join(command)}' failed with {status}: {done.stderr}")
    return wall_ns / 1e9, cpu_us / 1e6, peak_kib * 1024


def measure(name, command, runs=5):
    """Medians; the first run only warms caches and is not counted."""
    run_once(command)
    results = [run_once(command) for _ in range(runs)]
    seconds, cpu, peak = zip(*results)
    return Measured(name, statistics.median(seconds), statistics.median(cpu), max(peak))


def median_interval(values):
    """The interval of 95 % of the median, by ranks: for 20 values and more."""
    ordered = sorted(values)
    reach = 1.96 * math.sqrt(len(ordered)) / 2
    middle = (len(ordered) - 1) / 2
    return ordered[max(0, math.floor(middle - reach))], ordered[min(len(ordered) - 1, math.ceil(middle + reach))]


def print_machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        model = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    print(f"machine: {os.cpu_count()} x {model[0] if model else 'unknown processor'}, "
          f"kernel {os.uname().release}, load {os.getloadavg()[0]:.1f}")
