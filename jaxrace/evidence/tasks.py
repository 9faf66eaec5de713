"""Shared tasks: the e-process of options that ran on the same tasks, in one order.

A pair's differences d_1, d_2, ... are those of the tasks, in their order, up to the last one that
both have run, and S_s is the sum of the first s. Each has one factor 1 + lambda_s (d_s - c_s). In a
stream of tasks, which are alike and independent, c_s = mu and lambda_s = lambda; in a list of N
tasks, in an order by lot, both are those of ``task_bets.frame_of_list``.

In a list, i over j is certain once S_s - (N - s) > mu N; after N tasks S_N > mu N alone decides. A
task that one of the two lacks counts as d = -1 until it is run: all factors grow with all d, so the
evidence is at most that of the order without gaps, whatever fills them later.
Axes: K options, T tasks, R values of an option on a task, P pairs.
"""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jaxrace.evidence.levels import Bets, By, FloatArray, Gaps, IntArray, log_sum
from jaxrace.evidence.process import NEVER, Process, in_chunks, least_wins
from jaxrace.evidence.task_bets import frame_of_list, winnings

# Sums of differences are as exact as this, per task: what is closer is a tie.
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True)
class SharedPairs:
    """Tables of shared tasks.

    Attributes:
        values: float [K, T, R], larger is better; NaN where there is none. By mean they are
            scaled to a range of width 1.
        by: What is compared: wins (signs of differences, averaged over pairs of values), or means.
        bets: The mixture.
        num_tasks: N, of a finite list; None for a stream.
        compare: The signs of two arrays of values, instead of those of their differences.
        gaps: Do tasks that one of two lacks count as lost, or are they skipped?
    """

    values: FloatArray
    by: By
    bets: Bets
    num_tasks: int | None = None
    compare: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    gaps: Gaps = "lost"

    def differences(self, first: IntArray, second: IntArray) -> FloatArray:
        """d [P, T], NaN where one of the two has no value."""
        if self.by == "mean":
            return self.task_means[first] - self.task_means[second]
        x, y = self.values[first], self.values[second]
        compare = _signs if self.compare is None else self.compare
        total = np.zeros(x.shape[:2])
        pairs = np.zeros(x.shape[:2])
        for one in range(x.shape[2]):
            for other in range(y.shape[2]):
                signs = compare(x[..., one], y[..., other])
                total += np.nan_to_num(signs)
                pairs += ~np.isnan(signs)
        return np.divide(total, pairs, out=np.full_like(total, np.nan), where=pairs > 0)

    @functools.cached_property
    def task_means(self) -> FloatArray:
        """Over the values of a task: [K, T], NaN without any."""
        count = (~np.isnan(self.values)).sum(-1)
        total = np.nansum(self.values, -1)
        return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)

    @property
    def ran_by_all(self) -> NDArray[np.bool_]:
        """Which tasks all options have run: [T]."""
        return np.asarray((~np.isnan(self.values)).any(2).all(0))

    def shares(self, among: NDArray[np.bool_]) -> FloatArray:
        """How much each of some tasks counts, beside the one that counts most: [those of T]."""
        return np.ones(int(among.sum()))

    def process(self, first: IntArray, second: IntArray, null: float | FloatArray = 0.0) -> Process:
        """The e-processes of ordered pairs; see ``process.Pairs``."""
        null = np.broadcast_to(np.asarray(null, float), first.shape)
        numbers = self.values.shape[1] * max(len(self.bets.bets), self.values.shape[2])
        parts = [
            self._of_chunk(self.differences(first[part], second[part]), null[part])
            for part in in_chunks(len(first), numbers)
        ]
        if not parts:
            return self._of_chunk(np.zeros((0, self.values.shape[1])), null)
        found = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        return Process(*found)

    def reached(
        self, first: IntArray, second: IntArray, null: float | FloatArray, level: float
    ) -> IntArray:
        """Tasks of both when the evidence first was at a level, of tables without gaps: [P].

        ``process.NEVER`` if it never was. A list is known at its end.
        """
        null = np.broadcast_to(np.asarray(null, float), first.shape)
        found = np.full(first.shape, NEVER)
        for part in in_chunks(len(first), self.values.shape[1] * len(self.bets.bets)):
            differences = self.differences(first[part], second[part])
            _, path = self._path(differences, np.ones(differences.shape, bool), null[part])
            is_there = path >= level
            found[part] = np.where(is_there.any(1), is_there.argmax(1) + 1, NEVER)
        return found

    def least_further(self, process: Process, null: float, level: float) -> IntArray:
        """Further tasks of both at best; see ``process.Pairs``."""
        if self.num_tasks is None:
            return least_wins(process, null, self.bets, level, 1)
        total, number = process.mean * process.common, process.common
        logs = process.log_bets + np.log(self.bets.weights)
        further = np.where(process.highest >= level, 0, self.num_tasks - number)
        is_open = further > 0
        rounding = _ROUNDING * self.num_tasks
        for step in range(1, int(further.max(initial=0)) + 1):
            task = number + step
            frame = frame_of_list(null, total + step - 1, task, self.num_tasks)
            logs += np.log(1 + winnings(np.array(self.bets.bets)[:, None], 1, *frame)).T
            surplus = total + step - (self.num_tasks - task) - null * self.num_tasks
            done = (log_sum(logs) >= level) | (surplus > rounding)
            further = np.where(is_open & done, np.minimum(further, step), further)
            is_open &= ~done
            if not is_open.any():
                break
        return further

    def _of_chunk(self, differences: FloatArray, null: FloatArray) -> Process:
        has_both = ~np.isnan(differences)
        differences = np.where(has_both, differences, 0.0)
        common, sums = has_both.sum(1), differences.sum(1)
        log_bets, highest = self._evidence(differences, has_both, null)
        if self.gaps == "lost" and not has_both.all():
            gaps = ~has_both & (has_both[:, ::-1].cumsum(1)[:, ::-1] > 0)
            some = gaps.any(1)
            lost = np.where(gaps, -1.0, differences)[some]
            highest[some] = self._evidence(lost, (has_both | gaps)[some], null[some])[1]
        whole = tied = np.zeros(len(differences), bool)
        if self.num_tasks is not None:
            rounding = _ROUNDING * self.num_tasks
            whole = common == self.num_tasks
            surplus = sums - null * self.num_tasks
            highest = np.where(whole, np.where(surplus > rounding, np.inf, -np.inf), highest)
            tied = whole & (abs(surplus) <= rounding)
        return Process(log_bets, highest, sums / np.maximum(common, 1), common, whole, tied)

    def _evidence(
        self, differences: FloatArray, counts: NDArray[np.bool_], null: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """``log_bets`` and ``highest`` of the differences [P, T] that count."""
        log_bets, path = self._path(differences, counts, null)
        return log_bets, path.max(1, initial=-np.inf)

    def _path(
        self, differences: FloatArray, counts: NDArray[np.bool_], null: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """``log_bets``, and ln E after each of the differences [P, T] that count, else -inf."""
        if self.num_tasks is None:
            expected, growth, surplus = null[:, None], 1.0, np.zeros((len(null), 0))
        else:
            number, total = counts.cumsum(1), differences.cumsum(1)  # s, S_s
            of_pair = null[:, None]
            expected, growth = frame_of_list(of_pair, total - differences, number, self.num_tasks)
            least = total - (self.num_tasks - number)  # of the sum over all tasks
            surplus = least - (of_pair + _ROUNDING) * self.num_tasks
        log_bets, path = self._paths(differences, counts, expected, growth)
        path[:, : surplus.shape[1]][surplus > 0] = np.inf
        return log_bets, path

    def _paths(
        self,
        differences: FloatArray,
        counts: NDArray[np.bool_],
        expected: FloatArray,
        growth: FloatArray | float,
    ) -> tuple[FloatArray, FloatArray]:
        """The same of factors 1 + lambda_s (d_s - c_s), from c_s = ``expected`` and growth."""
        logs = winnings(np.array(self.bets.bets)[:, None, None], differences, expected, growth)
        np.log(np.add(logs, 1, out=logs), out=logs)
        logs = np.multiply(logs, counts, out=logs).cumsum(2)
        if not logs.shape[2]:
            return np.zeros((logs.shape[1], len(logs))), np.zeros((logs.shape[1], 0))
        log_e = log_sum(logs + np.log(self.bets.weights)[:, None, None], 0)
        path = np.where(counts, log_e, -np.inf)
        return logs[..., -1].T.copy(), path  # not all of it is kept


def _signs(x: FloatArray, y: FloatArray) -> FloatArray:
    """+1, -1, 0, or NaN; infinite values are like any others."""
    signs = (x > y).astype(float) - (x < y)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, signs)
