"""Lower bounds of a policy's performance, by name. Axes: L candidates, n values, B resamples.

Values are importance-weighted returns X >= 0. A bound is *safe* if it holds with probability
1 - delta whatever their distribution, *semi-safe* if that needs a false but reasonable assumption.
Here they are NumPy's, for many candidates at once, with slopes; ``jaxrace.improvement.bounds``
adds what draws random numbers in JAX. Sources: see ``lower_bounds``.
"""

import abc
import dataclasses
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxrace.core.validation import require_integer, require_positive
from jaxrace.evidence.quantiles import normal_quantile, normal_share, student_quantile
from jaxrace.judging.policies import lower_bounds
from jaxrace.judging.policies.lower_bounds import Normal, Sloped, best_cap
from jaxrace.judging.policies.trajectories import Array, some_of_each

# One in so many values is spent on choosing a threshold (ICML 2015, Algorithm 1), but at least two:
# one alone has no variance.
ONE_IN, LEAST_SPENT = 20, 2
_DRAWN_AT_ONCE = 2**20  # values of resamples
_TINY = float(np.finfo(np.float64).tiny)


class Used(NamedTuple):
    """The values that a bound is made of."""

    present: Array  # bool [..., n]
    behaviour: Array  # int [n], which policy generated them

    @property
    def total(self) -> Array:
        """How many, int32 [...]."""
        return self.present.sum(-1, dtype=np.int32)


@dataclasses.dataclass(frozen=True)
class LowerBound(abc.ABC):
    """A lower confidence bound of the mean of X, which holds with probability 1 - delta.

    One ``draw`` serves any number of candidates.
    """

    is_safe: ClassVar[bool]

    def draw(self, rng: Any, rows: Used, number: Array) -> Any:
        """What is left to chance (a generator of NumPy or a key): nothing, unless overridden."""
        del rng, rows, number

    @abc.abstractmethod
    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        """The bound that m = ``number`` values like these would give."""

    def bound(self, drawn: Any, values: Array, rows: Used, delta: Array) -> Array:
        """The bound."""
        return self.predict(drawn, values, rows, delta, rows.total).lower

    def bound_of_one(self, rng: Any, values: Array, rows: Used, delta: Array) -> Array:
        """The bound of a single candidate, for which chance works alone."""
        return self.bound(self.draw(rng, rows, rows.total), values, rows, delta)


@dataclasses.dataclass(frozen=True)
class StudentTOfLog(LowerBound):
    """Student's t: as if the mean were normally distributed. Semi-safe."""

    is_safe = False
    _quantile: ClassVar = staticmethod(student_quantile)

    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        quantile = self._quantile(delta, number - 1)
        return lower_bounds.student_bound(values, rows.present, quantile, number)


@dataclasses.dataclass(frozen=True)
class BootstrapOfLog(LowerBound):
    """The bootstrap: as if the values seen were all that there are. Semi-safe."""

    corrected: bool = True  # for bias and acceleration (BCa); else the plain percentile
    resamples: int = 2000  # B, at least 2

    is_safe = False

    def __post_init__(self) -> None:
        require_integer("resamples", self.resamples, 2)

    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        """See ``LowerBound``: what infinitely many resamples come to, by Cornish and Fisher.

        Of a resample's mean the quantile at z is mean + s / sqrt(m) (z + (z^2 - 1) g / 6), g being
        its skewness (Hall 1992, section 2.5), and its median is off by g / 6 of its spread.
        """
        count, mean, apart, _ = lower_bounds.moments(values, rows.present)
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
        return Sloped(lower[..., 0], rows.present / count * (1 + change / root))

    def bound_of_one(self, rng: Any, values: Array, rows: Used, delta: Array) -> Array:
        """See ``LowerBound``: from resamples of values [n], all of which count."""
        given = values, rows.present, lambda x: (self.sums(rng, x), len(x)), delta
        return lower_bounds.bootstrap_bound(*given, self.corrected, _NORMAL)

    def sums(self, rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
        """Of resamples as large as the sample, [B]."""
        count, size = len(values), max(_DRAWN_AT_ONCE // len(values), 1)
        parts = [min(size, self.resamples - start) for start in range(0, self.resamples, size)]
        drawn = (rng.integers(count, size=(part, count), dtype=np.int32) for part in parts)
        return np.concatenate([values.take(one).sum(1) for one in drawn])


def _neighbours(sums: np.ndarray, place: int, _guess: float) -> tuple[float, float]:
    lower, upper = np.partition(sums, (place - 1, place))[place - 1 : place + 1]
    return lower, upper


_NORMAL = Normal(normal_quantile, normal_share, _neighbours)


@dataclasses.dataclass(frozen=True)
class EmpiricalBernstein(LowerBound):
    """Maurer and Pontil's bound of min(X, cap), the cap, above 0, fixed beforehand. Safe."""

    cap: float = 5.0

    is_safe = True

    def __post_init__(self) -> None:
        require_positive("cap", self.cap)

    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        return lower_bounds.capped_bound(values, rows.present, self.cap, delta, number)


class WithThreshold(LowerBound):
    """A bound of min(X, c), with c chosen on a twentieth of the values. Safe."""

    is_safe = True

    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        """See ``LowerBound``: it guarantees nothing, so that all values serve both purposes."""
        left = number - _spent(number)
        cap = best_cap(values, rows.present, delta, left)[..., None]
        return self._capped(False, values, rows.present, cap, delta, left)

    def bound_of_one(self, rng: Any, values: Array, rows: Used, delta: Array) -> Array:
        """See ``LowerBound``: of values [n], all of which count."""
        places = some_of_each(rng, rows.behaviour, _spent(len(values)))
        left, spent = np.delete(values, places), values[places]
        cap = best_cap(spent[None], np.isfinite(spent[None]), delta, len(left))[0]
        # Bets follow the order, and the rows of a log may be sorted by anything.
        left = rng.permutation(left)
        return self._capped(True, left, np.isfinite(left), cap, delta, len(left)).lower

    @abc.abstractmethod
    def _capped(self, is_certain: bool, *given: Array) -> Sloped:
        """The bound of min(X, c), or what m values would give; of values, used, c, delta and m."""


def _spent(number: int) -> int:
    return max(number // ONE_IN, LEAST_SPENT)


@dataclasses.dataclass(frozen=True)
class ConcentrationOfLog(WithThreshold):
    """The concentration inequality CI of Thomas et al. 2015, with its search for a threshold. Safe.

    The paper's Algorithm 1 counts all values in the bound; here, those that are left.
    """

    def _capped(self, is_certain: bool, *given: Array) -> Sloped:
        return lower_bounds.capped_bound(*given)


@dataclasses.dataclass(frozen=True)
class BettingOfLog(WithThreshold):
    """The betting bound of Waudby-Smith and Ramdas 2024, with the threshold of CI. Safe.

    With ``anytime`` bets do not depend on how many values there are. Every call draws threshold and
    order anew, so that it holds for one look, too; the function ``betting_bound`` with ``anytime``
    holds for all looks, at values in their order and with a threshold fixed beforehand.
    """

    anytime: bool = False

    def _capped(self, is_certain: bool, *given: Array) -> Sloped:
        if is_certain:
            return Sloped(lower_bounds.betting_bound(*given[:-1], anytime=self.anytime), None)
        return lower_bounds.predicted_betting_bound(*given, anytime=self.anytime)


BOUNDS: dict[str, LowerBound] = {
    "ci": ConcentrationOfLog(),
    "t": StudentTOfLog(),
    "bca": BootstrapOfLog(),
    "percentile": BootstrapOfLog(corrected=False),
    "bernstein": EmpiricalBernstein(),
    "betting": BettingOfLog(),
    "betting-anytime": BettingOfLog(anytime=True),
}
