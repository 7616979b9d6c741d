"""Samples as medians and spreads, and geometric means of ratios."""
import math
import statistics

import peers

MIB_IN_KIB = 1024
AFTER_LIVE_MIB = 8
SLIGHT_LIVE_MIB = 1
WALL, CPU, PEAK, AFTER, LIVE = range(5)


def geometric_mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios)) if ratios else math.nan


def spread(values):
    """Half of the range, as a share of the median, in percent."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / 2 / middle * 100 if middle > 0 else 0


def with_spread(values, digits, unit=1):
    return f"{statistics.median(values) / unit:6.{digits}f} ({spread(values):3.0f})"


def peers_of(results, case=None):
    """Names, in the order in which they ran."""
    return list(dict.fromkeys(peer for at, peer in results if case in (None, at)))


class Table:
    """Of the shapes, each run of which gave elapsed and processor seconds, and KiB at the peak, after the work (in
    the first run only) and live."""
    def __init__(self, results):
        """results: {(shape, peer): [figures]}"""
        self.results = results
        self.shapes = list(dict.fromkeys(shape for shape, _ in results))
        self.peers = peers_of(results)

    def median(self, shape, peer, field):
        return statistics.median(figures[field] for figures in self.results[shape, peer])

    def after(self, shape, peer):
        return self.results[shape, peer][0][AFTER]

    def live(self, shape):
        return self.results[shape, peers.BASE][0][LIVE]

    def ratios(self, peer, field):
        for shape in self.shapes:
            if shape != "nothing" or field == PEAK:
                yield self.median(shape, peer, field) / self.median(shape, peers.BASE, field)

    def left(self, peer, least_mib):
        for shape in self.shapes:
            if self.live(shape) >= least_mib * MIB_IN_KIB:
                yield self.after(shape, peer) / self.live(shape)

    def rows(self):
        yield f"{'shape':9} {'live MiB':>8}" + "".join(f" {peer:>28}" for peer in self.peers)
        yield " " * 18 + f" {'cpu s (+-%) / peak / after MiB':>28}" * len(self.peers)
        for shape in self.shapes:
            row = f"{shape:9} {self.live(shape) / MIB_IN_KIB:8.1f}"
            for peer in self.peers:
                cpu = [figures[CPU] for figures in self.results[shape, peer]]
                row += f" {statistics.median(cpu):10.3f} ({spread(cpu):2.0f}) /" + \
                    f"{self.median(shape, peer, PEAK) / MIB_IN_KIB:6.1f} /" + \
                    f"{self.after(shape, peer) / MIB_IN_KIB:6.1f}"
            yield row

    def summary(self):
        yield "geometric means: time and peak as ratios to glibc, after as a ratio to the live bytes"
        yield f"{'':9} {'wall':>6} {'cpu':>6} {'peak':>6} {'after, live >= 1 MiB':>21} {'>= 8 MiB':>9} {'highest':>8}"
        for peer in self.peers:
            left = list(self.left(peer, AFTER_LIVE_MIB))
            yield (f"{peer:9} {geometric_mean(self.ratios(peer, WALL)):6.3f} "
                   f"{geometric_mean(self.ratios(peer, CPU)):6.3f} "
                   f"{geometric_mean(self.ratios(peer, PEAK)):6.3f} "
                   f"{geometric_mean(self.left(peer, SLIGHT_LIVE_MIB)):21.3f} {geometric_mean(left):9.3f} "
                   f"{max(left, default=math.nan):8.3f}")
        others = [peer for peer in self.peers if peer != peers.OURS]
        for name, field in (("wall", WALL), ("cpu", CPU), ("peak", PEAK)):
            best = min(geometric_mean(self.ratios(peer, field)) for peer in others)
            ours = geometric_mean(self.ratios(peers.OURS, field))
            yield f"{peers.OURS} {name}: {ours / best:.3f} of the best peer's"

    def plot_points(self):
        means = [(peer, geometric_mean(self.ratios(peer, CPU)), geometric_mean(self.ratios(peer, PEAK)))
                 for peer in self.peers]
        shapes = [(peer, self.median(shape, peer, CPU) / self.median(shape, peers.BASE, CPU),
                   self.median(shape, peer, PEAK) / self.median(shape, peers.BASE, PEAK))
                  for shape in self.shapes if shape != "nothing" for peer in self.peers]
        return means, shapes
