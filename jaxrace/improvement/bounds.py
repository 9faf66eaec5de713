"""Lower bounds of a policy's performance for compiled programs: what draws random numbers in JAX.

All else is that of ``jaxrace.judging.policies.bounds``. Axes: n values, B resamples.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import ndtri
from jax.scipy.stats import norm
from numpy.typing import ArrayLike

from jaxrace import kernels
from jaxrace.core import validation
from jaxrace.core.validation import BadArgument
from jaxrace.judging.policies import bounds, trajectories
from jaxrace.judging.policies.bounds import EmpiricalBernstein, LowerBound, Used
from jaxrace.judging.policies.lower_bounds import Normal, Sloped, best_cap, bootstrap_bound
from jaxrace.judging.policies.trajectories import Array, every_so_many, stratified_order

_LEAST_VALUES = 4


def random_order(key: jax.Array, rows: Used) -> jax.Array:
    """See ``stratified_order``: int32 [n]."""
    uniforms = jax.random.uniform(key, rows.behaviour.shape, jnp.float32)
    return stratified_order(uniforms, rows.behaviour, rows.present).astype(jnp.int32)


def random_start(key: jax.Array, count: jax.Array) -> jax.Array:
    """Of ``every_so_many``: int32 []."""
    return jax.random.randint(key, (), 0, jnp.maximum(count, 1), jnp.int32)


class StudentT(bounds.StudentTOfLog):
    """Student's t: as if the mean were normally distributed. Semi-safe."""

    @staticmethod
    def _quantile(delta: jax.Array, degrees: jax.Array) -> jax.Array:
        return kernels.student_quantile(delta, degrees.astype(jnp.float32))


class Bootstrap(bounds.BootstrapOfLog):
    """The bootstrap, predicted from resamples that all candidates share. Semi-safe."""

    def draw(self, rng: jax.Array, rows: Used, number: jax.Array) -> jax.Array:
        """How often each value is in each resample: float32 [n, B]."""
        return kernels.resampling_counts(rng, rows.present, number, self.resamples)

    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        """See ``LowerBound``; m is the size of the resamples drawn."""

        def resampled(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            # A GPU would round the values to 10 bits otherwise.
            return jnp.matmul(x, drawn, precision=lax.Precision.HIGHEST), drawn[:, 0].sum()

        given = values, rows.present, resampled, delta, self.corrected
        return Sloped(bootstrap_bound(*given, _NORMAL), None)

    def bound_of_one(self, rng: Any, values: Array, rows: Used, delta: Array) -> Array:
        def resampled(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            found = kernels.resampled_sums(rng, x, rows.present, rows.total, self.resamples)
            return found, rows.total.astype(jnp.float32)

        return bootstrap_bound(values, rows.present, resampled, delta, self.corrected, _NORMAL)


_NORMAL = Normal(ndtri, norm.cdf, kernels.neighbours)


class Thresholds(NamedTuple):
    """What chooses the threshold, and what makes the bound: of a bound, and of a prediction."""

    places: jax.Array  # int32 [2, a], the values spent; n if unused
    rest: jax.Array  # bool [2, n]
    order: jax.Array  # int32 [n], of the values in the bound


class _Drawn(bounds.WithThreshold):
    """A bound whose threshold is chosen on the same values for all candidates."""

    def draw(self, rng: jax.Array, rows: Used, number: jax.Array) -> Thresholds:
        """Which values are spent on the threshold, every policy's share."""
        order_key, start_key, bet_key = jax.random.split(rng, 3)
        size, total = rows.present.shape[0], rows.total
        order = random_order(order_key, rows)
        share = jnp.maximum(total // bounds.ONE_IN, bounds.LEAST_SPENT)
        room = max(size // bounds.ONE_IN, min(size, bounds.ONE_IN * bounds.LEAST_SPENT))
        places = every_so_many(random_start(start_key, total), order, total, share, room)
        rest = rows.present.at[places].set(False, mode="drop")
        # A prediction guarantees nothing. Where a twentieth of the values is less than two of them,
        # all serve both purposes.
        is_few = total < bounds.ONE_IN * bounds.LEAST_SPENT
        first = jnp.where(jnp.arange(room) < total, order[:room], size)
        return Thresholds(
            jnp.stack([places, jnp.where(is_few, first, places)]),
            jnp.stack([rest, jnp.where(is_few, rows.present, rest)]),
            jax.random.permutation(bet_key, size),
        )

    def predict(self, drawn: Any, values: Array, rows: Used, delta: Array, number: Array) -> Sloped:
        rest, number = drawn.rest[1].sum(dtype=jnp.float32), number.astype(jnp.float32)
        left = number * rest / rows.total.astype(jnp.float32)
        cap = _cap(drawn.places[1], values, delta, left)
        return self._capped(False, values, drawn.rest[1], cap, delta, left)

    def bound(self, drawn: Any, values: Array, rows: Used, delta: Array) -> Array:
        rest, order = drawn.rest[0], drawn.order
        left = rest.sum(dtype=jnp.float32)
        cap = _cap(drawn.places[0], values, delta, left)
        # Bets follow the order, and the rows of a log may be sorted by anything.
        return self._capped(True, values[order], rest[order], cap, delta, left).lower

    bound_of_one = LowerBound.bound_of_one


def _cap(places: jax.Array, values: jax.Array, delta: jax.Array, number: jax.Array) -> jax.Array:
    size = values.shape[0]
    return best_cap(values[jnp.minimum(places, size - 1)], places < size, delta, number)


class Concentration(_Drawn, bounds.ConcentrationOfLog):
    """The inequality CI of Thomas et al. 2015, with its search for a threshold. Safe."""


class Betting(_Drawn, bounds.BettingOfLog):
    """The betting bound of Waudby-Smith and Ramdas 2024, with the threshold of CI. Safe."""


BOUNDS: dict[str, LowerBound] = {  # those of NumPy, by the same names
    "ci": Concentration(),
    "t": StudentT(),
    "bca": Bootstrap(),
    "percentile": Bootstrap(corrected=False),
    "bernstein": EmpiricalBernstein(),
    "betting": Betting(),
    "betting-anytime": Betting(anytime=True),
}


def lower_bound(
    bound: LowerBound,
    key: jax.Array,
    values: ArrayLike,
    delta: float,
    number: int | None = None,
    behaviour: ArrayLike | None = None,
) -> float:
    """A lower bound of the mean of X, [n], which holds with probability 1 - delta.

    X are at least four finite numbers from 0 on. With m = ``number``: a prediction of what the
    bound will be with so many. ``behaviour`` says which policy generated each, integers from 0 on,
    [n]. ValueError if an argument is out of its range.

    >>> lower_bound(BOUNDS["t"], jax.random.key(0), [0.1, 0.2, 0.3, 0.4], delta=0.05)
    0.098...
    """
    validation.require_kind("bound", bound, LowerBound)
    validation.require_keys("key", key, ndim=0)
    validation.require_float32_probability("delta", delta)
    numbers = trajectories.as_numbers("values", values)
    if numbers.ndim != 1 or len(numbers) < _LEAST_VALUES:
        raise BadArgument("values", f"at least {_LEAST_VALUES} of them", f"{[*numbers.shape]}")
    is_bad = ~np.isfinite(numbers) | (numbers < 0)
    trajectories.require_all("values", numbers, is_bad, "a finite number from 0 on")
    strata = trajectories.policy_numbers("behaviour", behaviour, len(numbers))
    if number is not None:
        validation.require_integer("number", number, _LEAST_VALUES)
    rows = Used(jnp.ones(len(numbers), bool), jnp.asarray(strata, jnp.int32))
    given = jnp.asarray(numbers), rows, jnp.float32(delta)
    return float(_lower_bound(bound, number, key, given))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _lower_bound(bound: LowerBound, number: int | None, key: jax.Array, given: Any) -> jax.Array:
    values, rows, delta = given
    if number is None:
        return bound.bound_of_one(key, values, rows, delta)
    wanted = jnp.int32(number)
    return bound.predict(bound.draw(key, rows, wanted), values, rows, delta, wanted).lower
