"""Trajectories and who generated them, and the checks of both. Axes: n trajectories, T steps.

On the host arrays are NumPy's, and numbers float64; ``jaxrace.improvement`` hands the same to JAX.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.core.validation import require_number

# Of actions and policies: they are kept as int32.
MOST = 2**31 - 1

# Of the positive float32 numbers that devices do not take for 0.
SMALLEST = float(np.finfo(np.float32).tiny)

_HUGE = float(np.finfo(np.float64).max)
_ROUNDING = 1e-5
_MOST_OFF = 1e-4  # how far rounding may move a return in [0, 1]
_MOST_ROUNDED = 0.01  # by what part of their range rounding may move numbers
_LEAST_TRAJECTORIES = 20
NOBODY = -1  # has generated a row without a trajectory


@dataclasses.dataclass(frozen=True)
class Trajectories:
    """What was seen, done and earned: arrays of NumPy or, from ``jaxrace.improvement``, of JAX."""

    observations: Any  # leaves [n, T, ...]
    actions: Any  # int [n, T]
    probabilities: Any  # float [n, T], of the action, by the policy that took it
    rewards: Any  # float [n, T]
    taken: Any  # bool [n, T], the steps that there were
    behaviour: Any  # int [n], number of the policy that generated it, or NOBODY

    @property
    def present(self) -> Any:
        """The rows with a trajectory, bool [n]."""
        return self.behaviour != NOBODY

    def rows(self, which: np.ndarray) -> "Trajectories":
        """Some of them, bool [n]; on the host, with a single array of observations."""
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return Trajectories(**{name: part[which] for name, part in parts.items()})

    def first_steps(self, count: int) -> "Trajectories":
        """All of them, each no longer than that."""
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        cut = {name: part[:, :count] for name, part in parts.items() if part.ndim > 1}
        return Trajectories(**parts | cut)


@dataclasses.dataclass(frozen=True)
class ReturnRange:
    """The returns that are possible, which makes R(tau) a number in [0, 1].

    Attributes:
        low: R_-, the least discounted sum of rewards.
        high: R_+, the largest; not so close to ``low`` that float32 cannot tell returns apart.
        discount: gamma, in (0, 1].
        smaller: Are small returns better, as of costs? Then R_+ becomes 0, and R_- 1.

    >>> ReturnRange(-10, -6).normalised(-9)
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

    def discounts(self, horizon: int, dtype: Any = np.float32) -> NDArray[Any]:
        """gamma^t for t = 0, ..., [T]."""
        return np.dtype(dtype).type(self.discount) ** np.arange(horizon, dtype=dtype)

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

    def returns(self, data: Trajectories) -> Any:
        """R(tau) of each trajectory, [n]; of an empty row some number."""
        horizon, dtype = data.rewards.shape[-1], data.rewards.dtype
        earned = data.rewards * data.taken * self.discounts(horizon, dtype)
        return self.normalised(earned.sum(-1))


def checked(
    observations: Sequence[Any],
    actions: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    lengths: ArrayLike | None = None,
    behaviour: ArrayLike | None = None,
    returns: ReturnRange | None = None,
) -> Trajectories:
    """A checked set of trajectories, on the host; steps that there were not are 0.

    Args:
        observations: Arrays [n, T, ...].
        actions: Integers from 0 on, [n, T].
        probabilities: Of these actions by the policies that took them, [n, T].
        rewards: [n, T].
        lengths: Steps of each trajectory, 1 to T, [n]; what is beyond does not count. Default T.
        behaviour: Which policy generated each, integers from 0 on, [n]; default: the same one.
        returns: If given, no return may be outside of it.

    Raises:
        ValueError: Shapes do not fit, or a number is out of its range; names trajectory and step.

    >>> data = checked([np.zeros((2, 1, 1))], [[0], [1]], [[0.5], [0.5]], [[1], [0]])
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
    if not observations:
        raise ValueError("observations: expected arrays [n, T, ...], got none")
    seen = [_observations_kept(leaf, taken) for leaf in observations]
    made_by = policy_numbers("behaviour", behaviour, count)
    given = (as_given("", numbers).astype(np.float64) for numbers in (probabilities, rewards))
    chances, earned = (np.where(taken, x, by) for x, by in zip(given, (1, 0), strict=True))
    found = Trajectories(seen, np.where(taken, done, 0), chances, earned, taken, made_by)
    if returns is not None:
        require_returns("rewards", found, returns)
        _require_returns_kept(found, returns)
    return found


def _require_returns_kept(data: Trajectories, returns: ReturnRange) -> None:
    """Raise if sums of so many rewards in float32 are others than those of the rewards given."""
    rounded = dataclasses.replace(data, rewards=data.rewards.astype(np.float32))
    shares = returns.returns(data)
    off = np.abs(shares - returns.returns(rounded))
    if off.max() > _MOST_OFF:
        row = int(off.argmax())
        raise ValueError(
            f"rewards[{row}]: expected a return that float32 tells apart from others between "
            f"{returns.low:g} and {returns.high:g}, got {returns.original(shares[row]):.10g}: "
            "subtract what the rewards have in common, and so many times that from low and high"
        )


def _observations_kept(leaf: Any, taken: np.ndarray) -> np.ndarray:
    """As they are, checked; steps that there were not are 0, whatever stood there."""
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
    return np.where(is_seen, given, 0)


def require_returns(name: str, data: Trajectories, returns: ReturnRange) -> None:
    """Raise ValueError unless all returns are in their range, which every bound relies on."""
    on_host = {name: np.asarray(getattr(data, name)) for name in ("rewards", "taken")}
    shares = np.asarray(returns.returns(dataclasses.replace(data, **on_host)), np.float64)
    outside = np.asarray(data.present) & ~returns.includes(shares)
    if outside.any():
        row = int(np.argmax(outside))
        total = returns.original(shares[row])
        raise ValueError(
            f"{name}[{row}]: expected a return from {returns.low:g} to {returns.high:g}, "
            f"got {total:.6g}"
        )


def require_enough(data: Trajectories) -> None:
    """Raise ValueError unless there are enough trajectories, 20, to be divided."""
    count = len(data.behaviour)
    if count < _LEAST_TRAJECTORIES:
        raise ValueError(f"data: expected at least {_LEAST_TRAJECTORIES} trajectories, got {count}")


def require_actions(name: str, data: Trajectories, num_actions: int) -> None:
    """Raise ValueError unless policies with so many actions could have done what was done."""
    unknown = np.asarray(data.actions) >= num_actions
    if unknown.any():
        row, step = (int(index) for index in np.argwhere(unknown)[0])
        raise ValueError(
            f"{name}: expected actions below {num_actions}, "
            f"got {int(data.actions[row, step])} in row {row}, step {step}"
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
    if str(getattr(given, "dtype", "")).startswith("key<"):
        raise ValueError(f"{name}: expected numbers, got random keys")
    if isinstance(given, np.ma.MaskedArray):
        raise ValueError(f"{name}: expected arrays or numbers, got a masked array")
    try:
        found = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected arrays or numbers, got {given!r}") from error
    if np.iscomplexobj(found):
        raise ValueError(f"{name}: expected real numbers, got {found.dtype}")
    is_real = found.dtype.kind in "biuf" or "float" in found.dtype.name  # bfloat16 is of no kind
    if not is_real or found.dtype.itemsize > 8:
        got = f"an array of {found.dtype}" if isinstance(given, np.ndarray | list) else repr(given)
        raise ValueError(f"{name}: expected arrays or numbers, got {got}")
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
