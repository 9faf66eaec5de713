"""Trajectories and who generated them. Axes: n trajectories of at most T steps."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.compilation import jit
from jaxrace.keys import is_key
from jaxrace.narrowing import as_host_array
from jaxrace.validation import require_number

# Of actions and policies: they are kept as int32.
MOST = 2**31 - 1

# Of the positive float32 numbers that devices do not take for 0.
SMALLEST = float(np.finfo(np.float32).tiny)

# Of the spread of some numbers: what float32 may make of them is off by no more.
_MOST_ROUNDED = 1e-3

_HUGE = float(np.finfo(np.float64).max)
_ROUNDING = 1e-5
_MOST_OFF = 1e-4  # how far rounding may move a return in [0, 1]
_MOST_ROUNDED = 0.01  # by what part of its range rounding may move a return
NOBODY = -1  # has generated a row without a trajectory


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Trajectories:
    """What was seen, done and earned; made by ``trajectories``. A set grows in its empty rows."""

    observations: Any  # leaves [n, T, ...]
    actions: jax.Array  # int32 [n, T]
    probabilities: jax.Array  # float32 [n, T], of the action, by the policy that took it
    rewards: jax.Array  # float32 [n, T]
    taken: jax.Array  # bool [n, T], the steps that there were
    behaviour: jax.Array  # int32 [n], number of the policy that generated it, or NOBODY

    @property
    def present(self) -> jax.Array:
        """The rows with a trajectory, bool [n]."""
        return self.behaviour != NOBODY


@dataclasses.dataclass(frozen=True)
class ReturnRange:
    """The returns that are possible, which makes R(tau) a number in [0, 1].

    Attributes:
        low: R_-, the least discounted sum of rewards.
        high: R_+, the largest; not so close to ``low`` that float32 cannot tell returns apart.
        discount: gamma, in (0, 1].
        smaller: Are small returns better, as of costs? Then R_+ becomes 0, and R_- 1.

    >>> float(ReturnRange(-10, -6).normalised(jnp.float32(-9)))
    0.25
    >>> ReturnRange(0, 20, smaller=True).original(0.25)
    15.0
    """

    low: float
    high: float
    discount: float = 1.0
    smaller: bool = False

    def __post_init__(self) -> None:
        require_number("low", self.low, least=-_HUGE)
        require_number("high", self.high, least=-_HUGE)
        require_number("discount", self.discount, least=0, below=np.nextafter(1, 2))
        if not self.high > self.low:
            raise ValueError(f"high: expected a number above low = {self.low}, got {self.high}")
        largest = max(abs(self.low), abs(self.high))
        if largest * 2.0**-24 > (self.high - self.low) * _MOST_ROUNDED:
            raise ValueError(
                f"high: expected a range in which float32 tells returns apart, got {self.low:g} to "
                f"{self.high:g}; subtract what they have in common from the rewards"
            )
        if self.discount == 0:
            raise ValueError("discount: expected a number in (0, 1], got 0")

    def discounts(self, horizon: int) -> NDArray[np.float32]:
        """gamma^t for t = 0, ..., float32 [T]."""
        return np.float32(self.discount) ** np.arange(horizon, dtype=np.float32)

    def normalised(self, returns: Any) -> Any:
        """(R - R_-) / (R_+ - R_-): larger is better; of costs, 1 less that."""
        if self.smaller:
            return (self.high - returns) / (self.high - self.low)
        return (returns - self.low) / (self.high - self.low)

    def original(self, shares: Any) -> Any:
        """The returns or costs that became these numbers in [0, 1]."""
        if self.smaller:
            return self.high - shares * (self.high - self.low)
        return self.low + shares * (self.high - self.low)

    def includes(self, shares: Any) -> Any:
        """Are normalised returns in [0, 1], but for rounding?"""
        return (shares >= -_ROUNDING) & (shares <= 1 + _ROUNDING)

    def returns(self, data: Trajectories) -> jax.Array:
        """R(tau) of each trajectory, float32 [n]; of an empty row some number."""
        return _returns(self, data.taken, data.rewards)


@jit(1)
def _returns(by: ReturnRange, taken: jax.Array, rewards: jax.Array) -> jax.Array:
    earned = jnp.where(taken, rewards, 0) * by.discounts(rewards.shape[-1])
    return by.normalised(earned.sum(-1))


def trajectories(
    observations: Any,
    actions: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    lengths: ArrayLike | None = None,
    behaviour: ArrayLike | None = None,
    returns: ReturnRange | None = None,
) -> Trajectories:
    """A checked set of trajectories.

    Args:
        observations: Leaves [n, T, ...].
        actions: Integers from 0 on, [n, T].
        probabilities: Of these actions by the policies that took them, [n, T].
        rewards: [n, T].
        lengths: Steps of each trajectory, 1 to T, [n]; what is beyond does not count. Default T.
        behaviour: Which policy generated each, integers from 0 on, [n]; default: the same one.
        returns: If given, no return may be outside of it.

    Raises:
        ValueError: Shapes do not fit, or a number is out of its range; names trajectory and step.

    >>> data = trajectories(np.zeros((2, 3, 1)), [[0, 1, 1]] * 2, [[0.5] * 3] * 2, [[1, 0, 1]] * 2)
    >>> data.present.tolist()
    [True, True]
    """
    done = as_integers("actions", actions)
    count, horizon = done.shape
    steps = as_integers("lengths", np.full(count, horizon) if lengths is None else lengths, count)
    require_all("lengths", steps, (steps < 1) | (steps > horizon), f"1 to {horizon} steps")
    taken = np.arange(horizon) < steps[:, None]
    is_unknown = taken & ((done < 0) | (done > MOST))
    require_all("actions", done, is_unknown, f"a number from 0 to {MOST}")
    if as_given("probabilities", probabilities).dtype == bool:
        raise ValueError("probabilities: expected numbers in (0, 1], got bool")
    chances = as_numbers("probabilities", probabilities, done.shape)
    is_chance = (chances >= SMALLEST) & (chances <= 1)
    require_all("probabilities", chances, taken & ~is_chance, "a number in (0, 1]")
    earned = as_numbers("rewards", rewards, done.shape)
    require_all("rewards", earned, taken & ~np.isfinite(earned), "a finite number")
    require_digits("rewards", as_given("rewards", rewards), taken)
    if not jax.tree.leaves(observations):
        raise ValueError("observations: expected arrays [n, T, ...], got none")
    seen = jax.tree.map(lambda leaf: _observations_kept(leaf, taken), observations)
    made_by = policy_numbers("behaviour", behaviour, count)
    found = Trajectories(
        observations=seen,
        actions=jax.device_put(np.where(taken, done, 0).astype(np.int32)),
        probabilities=jax.device_put(np.where(taken, chances, np.float32(1))),
        rewards=jax.device_put(np.where(taken, earned, np.float32(0))),
        taken=jax.device_put(taken),
        behaviour=jax.device_put(made_by.astype(np.int32)),
    )
    if returns is not None:
        require_returns("rewards", found, returns)
        _require_returns_kept(as_given("rewards", rewards), found, returns)
    return found


def _require_returns_kept(rewards: np.ndarray, data: Trajectories, returns: ReturnRange) -> None:
    """Raise if sums of so many rewards in float32 are others than those of the rewards given."""
    taken = np.asarray(data.taken)
    discounts = returns.discount ** np.arange(taken.shape[1], dtype=np.float64)
    totals = (np.where(taken, rewards, 0).astype(np.float64) * discounts).sum(1)
    off = np.abs(returns.normalised(totals) - np.asarray(returns.returns(data), np.float64))
    if off.max() > _MOST_OFF:
        row = int(off.argmax())
        raise ValueError(
            f"rewards[{row}]: expected a return that float32 tells apart from others between "
            f"{returns.low:g} and {returns.high:g}, got {totals[row]:.10g}: subtract what the "
            "rewards have in common, and so many times that from low and high"
        )


def _observations_kept(leaf: Any, taken: np.ndarray) -> jax.Array:
    """As they are kept, checked; steps that there were not are 0, whatever stood there."""
    numbers = as_numbers("observations", leaf)
    if numbers.shape[:2] != taken.shape:
        expected = ", ".join(map(str, taken.shape))
        got = [*numbers.shape]
        raise ValueError(f"observations: expected arrays [{expected}, ...], got {got}")
    is_seen = taken.reshape(taken.shape + (1,) * (numbers.ndim - 2))
    require_all("observations", numbers, is_seen & ~np.isfinite(numbers), "a finite number")
    given = as_given("observations", leaf)
    if given.dtype.kind in "iu":
        is_large = is_seen & ((given < -MOST) | (given > MOST))
        require_all("observations", given, is_large, "an integer of 32 bits, or floats")
    require_digits("observations", given, taken)
    dtype = jnp.float32 if np.issubdtype(given.dtype, np.floating) else jnp.int32
    return jnp.asarray(np.where(is_seen, given, 0), dtype)


def require_returns(name: str, data: Trajectories, returns: ReturnRange) -> None:
    """Raise ValueError unless all returns are in their range, which every bound relies on."""
    shares = np.asarray(returns.returns(data), np.float64)
    outside = np.asarray(data.present) & ~returns.includes(shares)
    if outside.any():
        row = int(np.argmax(outside))
        total = returns.original(shares[row])
        raise ValueError(
            f"{name}[{row}]: expected a return from {returns.low:g} to {returns.high:g}, "
            f"got {total:.6g}"
        )


def require_actions(name: str, data: Trajectories, num_actions: int) -> None:
    """Raise ValueError unless policies with so many actions could have done what was done."""
    unknown = np.asarray(data.actions) >= num_actions
    if unknown.any():
        row, step = (int(index) for index in np.argwhere(unknown)[0])
        raise ValueError(
            f"{name}: expected actions below {num_actions}, "
            f"got {int(data.actions[row, step])} in row {row}, step {step}"
        )


def empty_rows(example: Trajectories, count: int) -> Trajectories:
    """As many empty rows as wanted, of the shapes of ``example``."""
    empty = jax.tree.map(lambda x: jnp.zeros((count, *x.shape[1:]), x.dtype), example)
    return dataclasses.replace(
        empty,
        probabilities=jnp.ones_like(empty.probabilities),
        behaviour=jnp.full_like(empty.behaviour, NOBODY),
    )


def as_integers(name: str, given: ArrayLike, count: int | None = None) -> np.ndarray:
    """An integer for each of so many rows; or without a count a table of them, [n, T]."""
    expected = f"{name}: expected integers {'[n, T]' if count is None else [count]}"
    try:
        numbers = np.asarray(given)
    except ValueError:
        raise ValueError(f"{expected}, got rows of many lengths") from None
    has_shape = (
        numbers.shape == (count,) if count is not None else numbers.ndim == 2 and numbers.size > 0
    )
    if not (has_shape and np.issubdtype(numbers.dtype, np.integer)):
        raise ValueError(f"{expected}, got {numbers.dtype}{[*numbers.shape]}")
    return numbers


def policy_numbers(name: str, given: ArrayLike | None, count: int) -> np.ndarray:
    """Which policy each of so many rows is by, from 0 on; one and the same if none are given."""
    found = as_integers(name, np.zeros(count, int) if given is None else given, count)
    require_all(name, found, (found < 0) | (found > MOST), f"a number from 0 to {MOST}")
    return found


def as_numbers(name: str, given: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """In float32, as they will be kept: what is too large is infinite, what is too small is 0."""
    found = as_given(name, given)
    with np.errstate(over="ignore", under="ignore"):
        real = found.astype(np.float32)
    if shape is not None and real.shape != shape:
        raise ValueError(f"{name}: expected numbers {[*shape]}, got {[*real.shape]}")
    return real


def as_given(name: str, given: Any) -> np.ndarray:
    """Real numbers, in as many digits as they have; no texts, dates or complex numbers."""
    if is_key(given):
        raise ValueError(f"{name}: expected numbers, got random keys")
    found = np.asarray(as_host_array(name, given))
    if np.iscomplexobj(found):
        raise ValueError(f"{name}: expected real numbers, got {found.dtype}")
    return found


def require_digits(name: str, given: np.ndarray, counted: np.ndarray) -> None:
    """Raise unless float32, with its seven digits, keeps the differences of numbers [n, T, ...].

    At each place of the other axes those that are ``counted``, bool [n, T], are compared.
    """
    if np.can_cast(given.dtype, np.float32, "safe"):
        return
    listed = given[counted].reshape(counted.sum(), -1)
    with np.errstate(under="ignore"):
        rounded = np.abs(listed.astype(np.float32).astype(np.float64) - listed).max(0)
    for low, high, most in zip(listed.min(0), listed.max(0), rounded, strict=True):
        # Of integers the difference may need more bits than they have.
        spread = float(high.item() - low.item())
        if most > _MOST_ROUNDED * spread > 0:
            raise ValueError(
                f"{name}: expected numbers that float32 tells apart, got {low} to {high}, which it "
                f"rounds by up to {most:.2g}: subtract what they have in common"
            )


def require_all(name: str, values: np.ndarray, is_bad: np.ndarray, expected: str) -> None:
    """Raise, and name the first, if a value is bad."""
    if is_bad.any():
        place = tuple(int(index) for index in np.argwhere(is_bad)[0])
        listed = ", ".join(map(str, place))
        raise ValueError(f"{name}[{listed}]: expected {expected}, got {values[place]}")
