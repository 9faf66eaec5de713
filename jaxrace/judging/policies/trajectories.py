"""Trajectories, who generated them, and their checks. Axes: n trajectories of at most T steps.

On the host arrays are NumPy's, and numbers float64; ``jaxrace.improvement`` hands the same to JAX.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxrace.core.validation import BadArgument, require_number

# Arrays of NumPy or of JAX. What a function computes with is the module of its arrays.
Array = Any

TRAIN_ONE_IN = 5  # one in so many trajectories is searched (Thomas et al. 2015, section 4)
NOBODY = -1  # has generated a row without a trajectory
_MOST = 2**31 - 1  # of actions and policies, which are kept as int32
_SMALLEST = float(np.finfo(np.float32).tiny)  # devices take smaller numbers for 0
_HUGE = float(np.finfo(np.float64).max)
_ROUNDING = 1e-5
_MOST_OFF = 1e-4  # how far rounding may move a return in [0, 1]
_MOST_ROUNDED = 0.01  # by what part of their range rounding may move numbers
_LEAST_TRAJECTORIES = 20


@dataclasses.dataclass(frozen=True)
class Trajectories:
    """What was seen, done and earned: arrays of NumPy or, from ``jaxrace.improvement``, of JAX."""

    observations: Any  # leaves [n, T, ...]
    actions: Array  # int [n, T]
    probabilities: Array  # float [n, T], of the action, by the policy that took it
    rewards: Array  # float [n, T]
    taken: Array  # bool [n, T], false beyond the end
    behaviour: Array  # int [n], number of the policy that generated it, or NOBODY

    @property
    def present(self) -> Array:
        """The rows with a trajectory, bool [n]."""
        return self.behaviour != NOBODY

    def each(self, change: Callable[[Array], Array]) -> "Trajectories":
        """The same with changed arrays; on the host, with a single array of observations."""
        names = [field.name for field in dataclasses.fields(self)]
        return Trajectories(**{name: change(getattr(self, name)) for name in names})


@dataclasses.dataclass(frozen=True)
class ReturnRange:
    """The range of possible returns, by which R(tau) becomes a number in [0, 1].

    >>> ReturnRange(-10, -6).normalised(-9)
    0.25
    >>> ReturnRange(0, 20, smaller=True).original(0.25)
    15.0
    """

    low: float  # R_-, the least discounted sum of rewards
    high: float  # R_+, the largest; float32 must tell returns between the two apart
    discount: float = 1.0  # gamma, in (0, 1]
    smaller: bool = False  # are small returns better, as of costs? Then R_+ becomes 0, and R_- 1

    def __post_init__(self) -> None:
        require_number("low", self.low, least=-_HUGE)
        require_number("high", self.high, least=-_HUGE)
        require_number("discount", self.discount, least=0, below=np.nextafter(1, 2))
        if not self.high > self.low:
            raise BadArgument("high", f"a number above low = {self.low}", f"{self.high}")
        largest = max(abs(self.low), abs(self.high))
        if largest * 2.0**-24 > (self.high - self.low) * _MOST_ROUNDED:
            raise BadArgument(
                "high",
                "a range in which float32 tells returns apart",
                f"{self.low:g} to {self.high:g}",
                "; subtract what they have in common from the rewards",
            )
        if self.discount == 0:
            raise BadArgument("discount", "a number in (0, 1]", "0")

    def discounts(self, horizon: int, dtype: Any = np.float32) -> NDArray[Any]:
        """gamma^t for t = 0, ..., [T]."""
        return np.dtype(dtype).type(self.discount) ** np.arange(horizon, dtype=dtype)

    def normalised(self, returns: Array) -> Array:
        """(R - R_-) / (R_+ - R_-): larger is better; of costs, 1 less that."""
        if self.smaller:
            return (self.high - returns) / (self.high - self.low)
        return (returns - self.low) / (self.high - self.low)

    def original(self, shares: Array) -> Array:
        """The returns or costs that became these numbers in [0, 1]."""
        if self.smaller:
            return self.high - shares * (self.high - self.low)
        return self.low + shares * (self.high - self.low)

    def includes(self, shares: Array) -> Array:
        """Are normalised returns in [0, 1], but for rounding?"""
        return (shares >= -_ROUNDING) & (shares <= 1 + _ROUNDING)

    def returns(self, data: Trajectories) -> Array:
        """R(tau) of each trajectory, normalised, [n]; any number for an empty row."""
        horizon, dtype = data.rewards.shape[-1], data.rewards.dtype
        earned = data.rewards * data.taken * self.discounts(horizon, dtype)
        return self.normalised(earned.sum(-1))


def stratified_order(uniforms: Array, behaviour: Array, present: Array) -> Array:
    """Rows by behaviour policy, within each by random numbers [n]; absent ones last: int [n]."""
    xp = behaviour.__array_namespace__()
    return xp.lexsort((uniforms, behaviour, ~present))


def every_so_many(start: Array, order: Array, count: Array, number: Array, most: int) -> Array:
    """``number`` of the first ``count`` rows of an order: int [most], n if unused.

    They are at equal distances: of a stratified order each policy gets its share, if ``start`` is
    random below ``count``.
    """
    xp = order.__array_namespace__()
    # floor((k count + start) / number) for k = 0, 1, ...: whole numbers, all different.
    divisor = xp.maximum(number, 1)
    numbers = xp.arange(most, dtype=order.dtype)
    places = numbers * (count // divisor) + (numbers * (count % divisor) + start) // divisor
    rows = order[xp.minimum(places, order.shape[0] - 1)]
    return xp.where(numbers < number, rows, order.shape[0])


def some_of_each(rng: np.random.Generator, behaviour: np.ndarray, number: int) -> np.ndarray:
    """``number`` random rows, every policy's share: int64 [number].

    >>> rows = some_of_each(np.random.default_rng(0), np.arange(20) % 2, 4)
    >>> (rows % 2).sum()
    np.int64(2)
    """
    count = len(behaviour)
    order = stratified_order(rng.random(count), behaviour, np.ones(count, bool))
    return every_so_many(rng.integers(max(count, 1)), order, count, number, number)


def checked(
    observations: Sequence[Any],
    actions: ArrayLike,
    probabilities: ArrayLike,
    rewards: ArrayLike,
    lengths: ArrayLike | None = None,
    behaviour: ArrayLike | None = None,
    returns: ReturnRange | None = None,
) -> Trajectories:
    """See ``jaxrace.improvement.trajectories``: on the host, observations arrays [n, T, ...]."""
    done = _as_integers("actions", actions)
    count, horizon = done.shape
    steps = _as_integers("lengths", np.full(count, horizon) if lengths is None else lengths, count)
    require_all("lengths", steps, (steps < 1) | (steps > horizon), f"1 to {horizon} steps")
    taken = np.arange(horizon) < steps[:, None]
    is_unknown = taken & ((done < 0) | (done > _MOST))
    require_all("actions", done, is_unknown, f"a number from 0 to {_MOST}")
    if _as_given("probabilities", probabilities).dtype == bool:
        raise BadArgument("probabilities", "numbers in (0, 1]", "bool")
    chances = as_numbers("probabilities", probabilities, done.shape)
    is_chance = (chances >= _SMALLEST) & (chances <= 1)
    require_all("probabilities", chances, taken & ~is_chance, "a number in (0, 1]")
    earned = _kept("rewards", rewards, taken, f"numbers {[*done.shape]}", is_table=True)
    if not observations:
        raise BadArgument("observations", "arrays [n, T, ...]", "none")
    expected = f"arrays [{', '.join(map(str, taken.shape))}, ...]"
    seen = [_kept("observations", leaf, taken, expected) for leaf in observations]
    chances = np.where(taken, _as_given("", probabilities).astype(np.float64), 1)
    made_by = policy_numbers("behaviour", behaviour, count)
    done, earned = np.where(taken, done, 0), earned.astype(np.float64)
    found = Trajectories(seen, done, chances, earned, taken, made_by)
    if returns is not None:
        require_returns("rewards[{}]".format, found, returns)
    return found


def _kept(
    name: str, given: Any, taken: np.ndarray, expected: str, is_table: bool = False
) -> np.ndarray:
    """Numbers [n, T, ...], finite, and told apart by float32; 0 if not taken."""
    found, numbers = _as_given(name, given), as_numbers(name, given)
    if numbers.shape[:2] != taken.shape or (is_table and numbers.ndim > 2):
        raise BadArgument(name, expected, f"{[*numbers.shape]}")
    is_taken = taken.reshape(taken.shape + (1,) * (numbers.ndim - 2))
    require_all(name, numbers, is_taken & ~np.isfinite(numbers), "a finite number")
    if found.dtype.kind in "iu" and not is_table:
        is_large = is_taken & ((found < -_MOST) | (found > _MOST))
        require_all(name, found, is_large, "an integer of 32 bits, or floats")
    if not np.can_cast(found.dtype, np.float32, "safe"):
        listed = found[taken].reshape(taken.sum(), -1)
        with np.errstate(under="ignore"):
            rounded = np.abs(listed.astype(np.float32).astype(np.float64) - listed).max(0)
        for low, high, most in zip(listed.min(0), listed.max(0), rounded, strict=True):
            # Of integers the difference may need more bits than they have.
            if most > _MOST_ROUNDED * float(high.item() - low.item()) > 0:
                raise BadArgument(
                    name,
                    "numbers that float32 tells apart",
                    f"{low} to {high}, which it rounds by up to {most:.2g}",
                    ": subtract what they have in common",
                )
    return np.where(is_taken, found, 0)


def require_returns(place: Callable[[int], str], data: Trajectories, returns: ReturnRange) -> None:
    """Raise unless returns are in their range, which bounds rely on, and float32 holds them.

    ``place`` is what messages call a trajectory.
    """
    names = "rewards", "taken", "present"
    rewards, taken, present = (np.asarray(getattr(data, name)) for name in names)
    exact, rounded = (
        np.where(present, returns.returns(dataclasses.replace(data, rewards=x, taken=taken)), 0)
        for x in (rewards.astype(np.float64), rewards.astype(np.float32))
    )
    outside = present & ~returns.includes(exact)
    is_off = np.abs(exact - rounded) > _MOST_OFF
    if outside.any():
        row = int(np.argmax(outside))
        expected = f"a return from {returns.low:g} to {returns.high:g}"
        least, largest = sorted(
            returns.original(x) for x in (exact[present].min(), exact[present].max())
        )
        hint = (
            ": low and high (--low, --high) are the least and the largest return that is possible, "
            f"in the log's own sign; in it returns are from {least:g} to {largest:g}"
        )
        raise BadArgument(place(row), expected, f"{returns.original(exact[row]):.6g}", hint)
    if is_off.any():
        row = int(np.argmax(is_off))
        raise BadArgument(
            place(row),
            "a return that float32 tells apart from others between "
            f"{returns.low:g} and {returns.high:g}",
            f"{returns.original(exact[row]):.10g}",
            ": subtract what the rewards have in common, and so many times that from low and high",
        )


def require_enough(data: Trajectories) -> None:
    """Raise unless there are enough trajectories, 20, to be divided."""
    count = len(data.behaviour)
    if count < _LEAST_TRAJECTORIES:
        raise BadArgument("data", f"at least {_LEAST_TRAJECTORIES} trajectories", f"{count}")


def require_actions(name: str, data: Trajectories, num_actions: int) -> None:
    """Raise unless policies with so many actions could have done what was done."""
    unknown = np.asarray(data.actions) >= num_actions
    if unknown.any():
        row, step = (int(index) for index in np.argwhere(unknown)[0])
        got = f"{int(data.actions[row, step])} in row {row}, step {step}"
        raise BadArgument(name, f"actions below {num_actions}", got)


def _as_integers(name: str, given: ArrayLike, count: int | None = None) -> np.ndarray:
    """An integer for each of so many rows; or without a count a table of them, [n, T]."""
    expected = f"integers {'[n, T]' if count is None else [count]}"
    try:
        numbers = np.asarray(given)
    except ValueError:
        raise BadArgument(name, expected, "rows of many lengths") from None
    has_shape = (
        numbers.shape == (count,) if count is not None else numbers.ndim == 2 and numbers.size > 0
    )
    if not (has_shape and np.issubdtype(numbers.dtype, np.integer)):
        raise BadArgument(name, expected, f"{numbers.dtype}{[*numbers.shape]}")
    return numbers


def policy_numbers(name: str, given: ArrayLike | None, count: int) -> np.ndarray:
    """Which policy each of so many rows is by, from 0 on; the same one unless given."""
    found = _as_integers(name, np.zeros(count, int) if given is None else given, count)
    require_all(name, found, (found < 0) | (found > _MOST), f"a number from 0 to {_MOST}")
    return found


def as_numbers(name: str, given: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """In float32, as they will be kept: what is too large is infinite, what is too small is 0."""
    with np.errstate(over="ignore", under="ignore"):
        real = _as_given(name, given).astype(np.float32)
    if shape is not None and real.shape != shape:
        raise BadArgument(name, f"numbers {[*shape]}", f"{[*real.shape]}")
    return real


def _as_given(name: str, given: Any) -> np.ndarray:
    """Real numbers, in as many digits as they have; no texts, dates or complex numbers."""
    if isinstance(given, np.ma.MaskedArray):
        raise BadArgument(name, "arrays or numbers", "a masked array")
    try:
        found = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise BadArgument(name, "arrays or numbers", repr(given)) from error
    if np.iscomplexobj(found):
        raise BadArgument(name, "real numbers", f"{found.dtype}")
    is_real = found.dtype.kind in "biuf" or "float" in found.dtype.name  # bfloat16 is of no kind
    if not is_real or found.dtype.itemsize > 8:
        got = f"an array of {found.dtype}" if isinstance(given, np.ndarray | list) else repr(given)
        raise BadArgument(name, "arrays or numbers", got)
    return found


def require_all(name: str, values: np.ndarray, is_bad: np.ndarray, expected: str) -> None:
    """Raise, and name the first, if a value is bad."""
    if is_bad.any():
        place = tuple(int(index) for index in np.argwhere(is_bad)[0])
        listed = ", ".join(map(str, place))
        raise BadArgument(f"{name}[{listed}]", expected, f"{values[place]}")
