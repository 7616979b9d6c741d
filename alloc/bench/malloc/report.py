"""Samples of the shapes as a table of medians and spreads, and geometric means of the ratios."""
import math
import statistics

import peers

MIB_IN_KIB = 1024
AFTER_LIVE_MIB = 8
SLIGHT_LIVE_MIB = 1


class Sample:
    def __init__(self, figures, waited):
        self.wall, self.cpu, self.peak, self.after, self.live = figures
        self.waited = waited


def geometric_mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios)) if ratios else math.nan


def spread(values):
    """Half of the range, as a share of the median, in percent."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / 2 / middle * 100 if middle > 0 else 0


class Table:
    def __init__(self, samples):
        """samples: {(shape, peer): [Sample]}"""
        self.samples = samples
        self.shapes = list(dict.fromkeys(shape for shape, _ in samples))

    def median(self, shape, peer, field):
        return statistics.median(getattr(sample, field) for sample in self.samples[shape, peer])

    def after(self, shape, peer):
        return statistics.median(sample.after for sample in self.samples[shape, peer] if sample.waited)

    def live(self, shape):
        return self.samples[shape, "glibc"][0].live

    def ratios(self, peer, field):
        for shape in self.shapes:
            if shape != "nothing" or field == "peak":
                yield self.median(shape, peer, field) / self.median(shape, "glibc", field)

    def left(self, peer, least_mib):
        for shape in self.shapes:
            if self.live(shape) >= least_mib * MIB_IN_KIB:
                yield self.after(shape, peer) / self.live(shape)

    def rows(self):
        yield f"{'shape':9} {'live MiB':>8}" + "".join(f" {peer:>28}" for peer in peers.NAMES)
        yield " " * 18 + f" {'cpu s (+-%) / peak / after MiB':>28}" * len(peers.NAMES)
        for shape in self.shapes:
            row = f"{shape:9} {self.live(shape) / MIB_IN_KIB:8.1f}"
            for peer in peers.NAMES:
                cpu = [sample.cpu for sample in self.samples[shape, peer]]
                row += f" {statistics.median(cpu):10.3f} ({spread(cpu):2.0f}) /" + \
                    f"{self.median(shape, peer, 'peak') / MIB_IN_KIB:6.1f} /" + \
                    f"{self.after(shape, peer) / MIB_IN_KIB:6.1f}"
            yield row

    def summary(self):
        yield "geometric means: time and peak as ratios to glibc, after as a ratio to the live bytes"
        yield f"{'':9} {'wall':>6} {'cpu':>6} {'peak':>6} {'after, live >= 1 MiB':>21} {'>= 8 MiB':>9} {'highest':>8}"
        for peer in peers.NAMES:
            left = list(self.left(peer, AFTER_LIVE_MIB))
            yield (f"{peer:9} {geometric_mean(self.ratios(peer, 'wall')):6.3f} "
                   f"{geometric_mean(self.ratios(peer, 'cpu')):6.3f} "
                   f"{geometric_mean(self.ratios(peer, 'peak')):6.3f} "
                   f"{geometric_mean(self.left(peer, SLIGHT_LIVE_MIB)):21.3f} {geometric_mean(left):9.3f} "
                   f"{max(left, default=math.nan):8.3f}")
        others = [peer for peer in peers.NAMES if peer != "strata"]
        for field in ("wall", "cpu", "peak"):
            best = min(geometric_mean(self.ratios(peer, field)) for peer in others)
            ours = geometric_mean(self.ratios("strata", field))
            yield f"strata {field}: {ours / best:.3f} of the best peer's"

    def plot_points(self):
        means = [(peer, geometric_mean(self.ratios(peer, "cpu")), geometric_mean(self.ratios(peer, "peak")))
                 for peer in peers.NAMES]
        shapes = [(peer, self.median(shape, peer, "cpu") / self.median(shape, "glibc", "cpu"),
                   self.median(shape, peer, "peak") / self.median(shape, "glibc", "peak"))
                  for shape in self.shapes if shape != "nothing" for peer in peers.NAMES]
        return means, shapes
