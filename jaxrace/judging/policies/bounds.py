"""Lower bounds of a policy's performance, by name, on the host in float64.

Values are importance-weighted returns X >= 0. What ``jaxrace.improvement.bounds`` has as programs
of JAX is here in NumPy: ``bound`` is the test of one candidate; ``predict`` says for many of them,
with its slopes, what the bound of m values like these would be. Axes: L candidates, n values, B
resamples. Sources: Thomas et al. 2015 (AAAI and ICML); Maurer and Pontil 2009; Efron 1987; Hall
1992; Waudby-Smith and Ramdas 2024.
"""

import abc
import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from jaxrace.core.validation import require_choice
from jaxrace.evidence.quantiles import normal_quantile, normal_share, student_quantile
from jaxrace.judging.policies.lower_bounds import (
    Predicted,
    below_mean,
    best_cap,
    betting_bound,
    capped_bound,
    moments,
    predicted_betting_bound,
)
from jaxrace.judging.policies.splits import every_so_many, stratified_order

# One in so many values is spent on choosing a threshold (ICML 2015, Algorithm 1), but at least two:
# one alone has no variance.
_ONE_IN, _LEAST_SPENT = 20, 2
_DRAWN_AT_ONCE = 2**20  # values of resamples
_TINY = float(np.finfo(np.float64).tiny)


class LowerBound(abc.ABC):
    """A lower confidence bound of the mean of X, which holds with probability 1 - delta."""

    is_safe: ClassVar[bool]

    @abc.abstractmethod
    def predict(self, values: np.ndarray, rows: np.ndarray, delta: float, number: int) -> Predicted:
        """The bound that m = ``number`` values like those of ``rows`` in [L, n] would give."""

    def bound(
        self, rng: np.random.Generator, values: np.ndarray, behaviour: np.ndarray, delta: float
    ) -> float:
        """The bound of values, [n], of trajectories by these policies, int [n]."""
        del rng, behaviour
        return float(self.predict(values, np.ones(len(values), bool), delta, len(values)).lower)


class StudentT(LowerBound):
    """Mean - s t_{1 - delta, m - 1} / sqrt(m) (ICML 2015, Algorithm 2). Semi-safe."""

    is_safe = False

    def predict(self, values: np.ndarray, rows: np.ndarray, delta: float, number: int) -> Predicted:
        """See ``LowerBound``."""
        return below_mean(values, rows, student_quantile(delta, number - 1) / math.sqrt(number))


@dataclasses.dataclass(frozen=True)
class Bootstrap(LowerBound):
    """The bootstrap: as if the values seen were all that there are. Semi-safe.

    Attributes:
        corrected: BCa, corrected for bias and acceleration (ICML 2015, Algorithm 3, whose last line
            is misprinted); else the plain percentile.
        resamples: B.
    """

    corrected: bool = True
    resamples: int = 2000

    is_safe = False

    def predict(self, values: np.ndarray, rows: np.ndarray, delta: float, number: int) -> Predicted:
        """See ``LowerBound``: what infinitely many resamples come to, by Cornish and Fisher.

        Of a resample's mean the quantile at z is mean + s / sqrt(m) (z + (z^2 - 1) g / 6), g being
        its skewness (Hall 1992, section 2.5), and its median is off by g / 6 of its spread.
        """
        count, mean, apart, _ = moments(values, rows)
        spread = np.sqrt((apart**2).sum(-1, keepdims=True) / count)
        # Of equal values the spread is rounding.
        scaled = apart / np.maximum(spread, 1e-9 * mean + _TINY)
        skewness = (scaled**2 * scaled).sum(-1, keepdims=True) / count
        z, root = normal_quantile(delta), math.sqrt(number)
        of_mean, by_mean = skewness / (6 * root), 1 / (6 * root)
        place, by_place = np.full_like(mean, z), np.zeros_like(mean)
        if self.corrected:
            acceleration = skewness / (6 * np.sqrt(count))
            from_bias = of_mean + z
            left = 1 - acceleration * from_bias
            place = of_mean + from_bias / left
            change = by_mean + from_bias**2 / (6 * np.sqrt(count))
            by_place = by_mean + change / left**2
        quantile = place + (place**2 - 1) * of_mean
        by_skewness = by_place * (1 + 2 * place * of_mean) + (place**2 - 1) * by_mean
        lower = mean + spread * quantile / root
        change = quantile * scaled + 3 * by_skewness * (scaled**2 - 1 - skewness * scaled)
        return Predicted(lower[..., 0], rows / count * (1 + change / root))

    def bound(
        self, rng: np.random.Generator, values: np.ndarray, behaviour: np.ndarray, delta: float
    ) -> float:
        """See ``LowerBound``: from resamples, with the quantile between two of them."""
        scale, count = max(float(values.max()), _TINY), len(values)
        return scale * self.from_sums(values / scale, self.sums(rng, values / scale), count, delta)

    def sums(self, rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
        """Of resamples as large as the sample, [B]."""
        count, size = len(values), max(_DRAWN_AT_ONCE // len(values), 1)
        parts = [min(size, self.resamples - start) for start in range(0, self.resamples, size)]
        drawn = (rng.integers(count, size=(part, count), dtype=np.int32) for part in parts)
        return np.concatenate([values.take(one).sum(1) for one in drawn])

    def from_sums(self, values: np.ndarray, sums: np.ndarray, number: int, delta: float) -> float:
        """The lower end of the interval, from the sums of ``number`` values each."""
        mean, resamples = values.mean(), len(sums)
        if values.max() == values.min():
            return float(mean)
        apart, z_low = values - mean, normal_quantile(delta)
        if self.corrected:
            # Of values 0 and 1 (times the largest) many resamples have the very sum of the values,
            # and are not below. Sums of ones are exact, means are not.
            share = (sums < values.sum() * (number / len(values))).mean()
            share = min(max(share, 1 / (resamples + 1)), resamples / (resamples + 1))
            z0 = normal_quantile(share)
            # Leaving out X_i moves the mean by -(X_i - mean) / (n - 1); the divisor cancels.
            acceleration = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
            z_low = z0 + (z0 + z_low) / (1 - acceleration * (z0 + z_low))
        place = (resamples + 1) * normal_share(z_low)
        below = min(max(math.floor(place), 1), resamples - 1)
        left, right = (normal_quantile(one / (resamples + 1)) for one in (below, below + 1))
        share = min(max((z_low - left) / (right - left), 0), 1)
        lower, upper = np.partition(sums, (below - 1, below))[below - 1 : below + 1]
        return float((lower + share * (upper - lower)) / number)


@dataclasses.dataclass(frozen=True)
class EmpiricalBernstein(LowerBound):
    """Maurer and Pontil's bound of min(X, cap), the cap fixed beforehand. Safe."""

    cap: float = 5.0

    is_safe = True

    def predict(self, values: np.ndarray, rows: np.ndarray, delta: float, number: int) -> Predicted:
        """See ``LowerBound``."""
        return capped_bound(values, rows, self.cap, delta, number)


def _spent(number: int) -> int:
    return max(number // _ONE_IN, _LEAST_SPENT)


class _WithThreshold(LowerBound):
    """A bound of min(X, c), with c chosen on a twentieth of the values."""

    is_safe = True

    def predict(self, values: np.ndarray, rows: np.ndarray, delta: float, number: int) -> Predicted:
        """See ``LowerBound``: it guarantees nothing, so that all values serve both purposes."""
        left = number - _spent(number)
        cap = best_cap(values, rows, delta, left)
        return self._predicted(values, rows, cap[:, None], delta, left)

    def bound(
        self, rng: np.random.Generator, values: np.ndarray, behaviour: np.ndarray, delta: float
    ) -> float:
        places = every_so_many(rng, stratified_order(rng, behaviour), _spent(len(values)))
        is_left = np.ones(len(values), bool)
        is_left[places] = False
        left, spent = values[is_left], values[None, places]
        cap = float(best_cap(spent, np.isfinite(spent), delta, len(left))[0])
        # Bets follow the order, and the rows of a log may be sorted by anything.
        return self._certain(rng.permutation(left), cap, delta)

    @abc.abstractmethod
    def _predicted(
        self, values: np.ndarray, rows: np.ndarray, cap: Any, delta: float, number: Any
    ) -> Predicted:
        """Of min(X, c), of values that are left."""

    @abc.abstractmethod
    def _certain(self, values: np.ndarray, cap: float, delta: float) -> float:
        """The bound of min(X, c), of values that are left, in a random order."""


class Concentration(_WithThreshold):
    """The inequality CI of Thomas et al. 2015, with its search for a threshold. Safe.

    The paper's Algorithm 1 counts all values in the bound; here, those that are left.
    """

    def _predicted(
        self, values: np.ndarray, rows: np.ndarray, cap: Any, delta: float, number: Any
    ) -> Predicted:
        return capped_bound(values, rows, cap, delta, number)

    def _certain(self, values: np.ndarray, cap: float, delta: float) -> float:
        return float(capped_bound(values, np.isfinite(values), cap, delta, len(values)).lower)


@dataclasses.dataclass(frozen=True)
class Betting(_WithThreshold):
    """The betting bound of Waudby-Smith and Ramdas 2024, with the threshold of CI. Safe.

    Attributes:
        anytime: Bets that do not depend on how many values there are.
    """

    anytime: bool = False

    def _predicted(
        self, values: np.ndarray, rows: np.ndarray, cap: Any, delta: float, number: Any
    ) -> Predicted:
        return predicted_betting_bound(values, rows, cap, delta, number, self.anytime)

    def _certain(self, values: np.ndarray, cap: float, delta: float) -> float:
        return betting_bound(values, cap, delta, self.anytime)


BOUNDS: dict[str, LowerBound] = {
    "ci": Concentration(),
    "t": StudentT(),
    "bca": Bootstrap(),
    "percentile": Bootstrap(corrected=False),
    "bernstein": EmpiricalBernstein(),
    "betting": Betting(),
    "betting-anytime": Betting(anytime=True),
}


def bound_called(name: str) -> LowerBound:
    """One of ``BOUNDS``; ValueError if there is none of that name.

    >>> bound_called("bca").is_safe
    False
    """
    require_choice("bound", name, tuple(BOUNDS))
    return BOUNDS[name]
