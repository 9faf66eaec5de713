"""Groups of tasks, such as benchmarks: the e-process of a weighted mean, in an order by lot.

What is asked is D = sum_g w_g D_g, the mean over groups of the mean difference in each. A group is
a list of N_g tasks in an order by lot, or a stream of tasks that are alike. Which group a task
comes from is drawn as well: at step s with a probability in proportion to w_g (1 - n_g / N_g),
after n_g tasks of it with the sum S_g; of streams to w_g. Then the next difference has a mean of at
most c_s = (mu - sum_g w_g S_g / N_g) / Q_s under the null, Q_s = sum_g w_g (1 - n_g / N_g); of
streams of at most mu. With w_g = N_g / N this is one list in an order by lot. The proof is in
docs/theory/groups.md. A pair's evidence ends before the first task that one of the two lacks, and
goes on when it is run: it never moves, whatever fills the gap.

The draws are those of independent clocks: of a list each task has an exponential one of rate
w_g / N_g, of a stream each group rings at rate w_g. So they depend on the seed, and the names and
numbers of groups, alone, and go on as tasks are added.
Axes: K options, T tasks, R values of an option on a task, P pairs, G groups.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxrace.evidence.levels import BoolArray, FloatArray, IntArray
from jaxrace.evidence.process import Process
from jaxrace.evidence.task_bets import frame_of_groups, shared_bets
from jaxrace.evidence.tasks import SharedPairs

_ROUNDING = 1e-9  # means are as exact as this: what is closer is a tie
_AHEAD = 1.2, 30  # of a stream: so many times the steps that there are, and so many more


class Lottery(NamedTuple):
    """How the tasks of a table were put in an order by lot."""

    weights: dict[str, float]  # of all groups, with sum 1
    sizes: dict[str, int] | None  # their tasks, of lists
    by_name: bool  # is the order within groups by lot, too, or that of the table?
    before: Any  # the table as it was


def groups_of_list(weights: Mapping[str, float], sizes: Mapping[str, int], seed: int) -> list[str]:
    """The group of each task of lists of N_g tasks, in an order by lot: [N].

    >>> groups_of_list({"a": 0.5, "b": 0.5}, {"a": 1, "b": 4}, seed=0)
    ['b', 'b', 'a', 'b', 'b']
    """
    return _merged({g: _clocks(seed, g, n) * (n / weights[g]) for g, n in sizes.items()})


def groups_of_stream(
    weights: Mapping[str, float], counts: Mapping[str, int], seed: int
) -> list[str]:
    """The groups of the next tasks of streams, until some of them have no more than ``counts``.

    It goes on for a while behind that.

    >>> groups_of_stream({"a": 0.5, "b": 0.5}, {"a": 1, "b": 1}, seed=0)[:6]
    ['b', 'b', 'a', 'b', 'a', 'b']
    """
    numbers = {group: counts[group] + 1 for group in weights}
    rings = {g: (_clocks(seed, g, n) / weights[g]).cumsum() for g, n in numbers.items()}
    end = min(times[-1] for times in rings.values()) * _AHEAD[0] + _AHEAD[1]
    for group in weights:
        while rings[group][-1] <= end:
            numbers[group] *= 2
            rings[group] = (_clocks(seed, group, numbers[group]) / weights[group]).cumsum()
    return _merged({group: times[times <= end] for group, times in rings.items()})


def _merged(times: Mapping[str, FloatArray]) -> list[str]:
    """Groups in the order of their times."""
    names = [group for group, of_one in times.items() for _ in of_one]
    order = np.argsort(np.concatenate([*times.values()]), kind="stable")
    return [names[place] for place in order.tolist()]


def in_group_order(tasks: Sequence[str], group: str, seed: int) -> list[str]:
    """The tasks of a list in an order by lot, which depends on the seed and on names alone."""
    return sorted(tasks, key=lambda task: _digest(seed, "order", group, task))


def _digest(seed: int, *words: object) -> bytes:
    return hashlib.sha256("\n".join(map(str, (seed, *words))).encode()).digest()  # 32 bytes


def _clocks(seed: int, group: str, number: int) -> FloatArray:
    """Independent exponential numbers of mean 1; more of them begin with these."""
    digests = b"".join(_digest(seed, "clock", group, place) for place in range(-(-number // 4)))
    bits = np.frombuffer(digests, ">u8")[:number] >> np.uint64(11)
    return -np.log((bits + 1.0) * 2.0**-53)


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupPairs(SharedPairs):
    """Tables of shared tasks in groups, in an order by lot; gaps are never skipped.

    Attributes:
        group: The number of the group of each task, int [T]; each group has one or more.
        weights: Of each group, positive, with sum 1: float [G].
        sizes: N_g of each group, of lists: int [G]; None of streams.
    """

    group: IntArray
    weights: FloatArray
    sizes: IntArray | None = None

    def own_means(self) -> FloatArray:
        """The weighted mean of each option by itself, over the tasks that it has run: [K]."""
        return self._mean(*self.sums(self.task_means))

    def shares(self, among: BoolArray) -> FloatArray:
        """w_g / n_g of each of some tasks, over the largest; each group has some of them."""
        group = self.group[among]
        of_group = self.weights / np.maximum(np.bincount(group, minlength=len(self.weights)), 1)
        return of_group[group] / of_group[group].max(initial=0)

    @functools.cached_property
    def _by_group(self) -> tuple[IntArray, IntArray]:
        """Tasks in the order of their groups, and where each group begins: [T], [G]."""
        order = np.argsort(self.group, kind="stable")
        return order, np.searchsorted(self.group[order], np.arange(len(self.weights)))

    def sums(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of numbers [..., T] in each group the sum, and how many there are: [..., G]."""
        order, starts = self._by_group
        there, known = ~np.isnan(values[..., order]), np.nan_to_num(values[..., order])
        return np.add.reduceat(known, starts, -1), np.add.reduceat(there, starts, -1, float)

    def _mean(self, total: FloatArray, number: FloatArray) -> FloatArray:
        """Of sums in groups the weighted mean, over the groups that have any: 0 without any."""
        weights = np.where(number > 0, self.weights, 0.0)
        means = total / np.maximum(number, 1) * weights
        return means.sum(-1) / np.maximum(weights.sum(-1), 1e-300)

    def least_further(self, process: Process, null: float, level: float) -> IntArray:
        """No bound but 0, as what is ahead may have been run before; see ``process.Pairs``."""
        del null, level
        return np.zeros(len(process.highest), int)

    def _of_chunk(self, differences: FloatArray, null: FloatArray) -> Process:
        has_both = ~np.isnan(differences)
        counts = np.logical_and.accumulate(has_both, 1)
        known = np.where(has_both, differences, 0.0)
        if self.sizes is None:
            expected, growth = null[:, None], np.ones(1)
        else:
            shares = (self.weights / self.sizes)[self.group]
            expected, growth = frame_of_groups(null[:, None], known, shares)
        log_bets, path = self._paths(known, counts, expected, growth)
        highest = path.max(1, initial=-np.inf)
        total, number = self.sums(differences)
        mean, common = self._mean(total, number), has_both.sum(1)
        whole = tied = np.zeros(len(differences), bool)
        if self.sizes is not None:
            # The mean over all tasks is at least this, whatever those that are missing will be.
            least = ((total - (self.sizes - number)) * self.weights / self.sizes).sum(1)
            whole = common == self.num_tasks
            highest[least > null + _ROUNDING] = np.inf
            highest[whole & (mean <= null + _ROUNDING)] = -np.inf
            tied = whole & (abs(mean - null) <= _ROUNDING)
        return Process(log_bets, highest, mean, common, whole, tied)


def in_groups(pairs: SharedPairs, groups: Sequence[str], lot: Lottery, level: float) -> GroupPairs:
    """The same pairs of options, on tasks of these groups [T], in the order of a lottery."""
    numbers = {group: number for number, group in enumerate(lot.weights)}
    weights = np.array([*lot.weights.values()])
    sizes = None if lot.sizes is None else np.array([lot.sizes[group] for group in numbers])
    # Bets are those of one list whose mean has the same variance.
    number = None if sizes is None else round(1 / float((weights**2 / sizes).sum()))
    settings = {field.name: getattr(pairs, field.name) for field in dataclasses.fields(pairs)}
    settings |= {"bets": shared_bets(level, number), "gaps": "lost"}
    group = np.array([numbers[group] for group in groups], int)
    return GroupPairs(**settings, group=group, weights=weights, sizes=sizes)
