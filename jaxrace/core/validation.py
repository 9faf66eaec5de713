"""Checks of arguments at the Python boundary: each raises BadArgument or does nothing."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


class BadArgument(ValueError):  # noqa: N818 (it says what is wrong by itself)
    """An argument is not what it should be: ``name``, what was ``expected``, what it ``got``.

    ``hint``, with its own punctuation, ends the message: what to do about it.

    >>> error = BadArgument("top", "an integer of at least 1", "0")
    >>> str(error), error.name
    ('top: expected an integer of at least 1, got 0', 'top')
    """

    def __init__(self, name: str, expected: str, got: str, hint: str = "") -> None:
        super().__init__(f"{name}: expected {expected}, got {got}{hint}")
        self.name, self.expected, self.got, self.hint = name, expected, got, hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.expected, self.got, self.hint)


class DataRefused(BadArgument):
    """Data contradict what is assumed of them, and more of them do not help.

    >>> import jaxrace
    >>> pasted = {"a": [0.4, 0.1, 0.7, 0.2, 0.9] * 8, "b": [0.3, 0.6, 0.8, 0.5, 0.0] * 8}
    >>> jaxrace.race(pasted, shared=True)
    Traceback (most recent call last):
    jaxrace.core.validation.DataRefused: tasks: expected different ones, got the 20 rows from ...
    """


MOST_INT32 = 2**31 - 1
# Of the positive normal float32 numbers.
_LEAST, _MOST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def require_integer(name: str, value: Any, least: int, most: float = math.inf) -> None:
    """Raise unless ``value`` is an integer with ``least <= value <= most``."""
    _require_known(name, value)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise BadArgument(name, f"an integer of at least {least}", repr(value))
    if value > most:
        raise BadArgument(name, f"at most {most}", str(value))


def require_top(top: int, num_options: int) -> None:
    """Raise unless ``top`` is an integer, at least 1, and less than the number of options."""
    require_integer("top", top, 1)
    if top >= num_options:
        raise BadArgument("top", f"less than the {num_options} options", str(top))


def require_positive(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is positive and float32 holds it, neither as 0 nor as infinity."""
    _require_known(name, value)
    number = _as_float(value)
    if not 0 < number < math.inf:
        raise BadArgument(name, "a positive number", repr(value))
    if not _LEAST <= number <= _MOST:
        expected = f"a positive number from {_LEAST:.2g} to {_MOST:.2g}, as float32 holds"
        raise BadArgument(name, expected, repr(value))


def require_probability(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is strictly between 0 and 1, and its inverse finite."""
    _require_known(name, value)
    if not np.finfo(np.float64).tiny <= _as_float(value) < 1:
        raise BadArgument(name, "a number between 0 and 1, exclusive", repr(value))


def require_float32_probability(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is a number between 0 and 1 that float32 tells from both."""
    require_probability(name, value)
    if not _LEAST <= float(np.float32(_as_float(value))) < 1:
        expected = "a number between 0 and 1 that float32 tells from both"
        raise BadArgument(name, expected, repr(value))


def require_number(
    name: str, value: ArrayLike, least: float, below: float = math.inf, most: float = _MOST
) -> None:
    """Raise unless ``least <= value < below``, and at most ``most``: what float32 holds."""
    _require_known(name, value)
    if not least <= _as_float(value) < below:
        raise BadArgument(name, f"a number in [{least}, {below})", repr(value))
    if abs(_as_float(value)) > most:
        raise BadArgument(name, f"a number of at most {most:.2g}", repr(value))


def require_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise BadArgument(name, f"one of {', '.join(map(str, choices))}", repr(value))


def require_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless ``value`` is of a class."""
    if not isinstance(value, kind):
        got = repr(value) if len(repr(value)) < 80 else type(value).__name__
        raise BadArgument(name, f"a {kind.__name__}", got)


def require_function(name: str, value: Any) -> None:
    """Raise unless ``value`` can be called and hashed, as static arguments must be."""
    if not callable(value):
        raise BadArgument(name, "a function", repr(value))
    require_hashable(name, value)


def require_hashable(name: str, value: Any) -> None:
    """Raise unless ``value`` can be hashed: compiled programs are kept by it."""
    try:
        hash(value)
    except TypeError as error:
        expected = "a hashable object (a function, a frozen dataclass)"
        raise BadArgument(name, expected, f"{type(value).__name__} ({error})") from error


# Whose numbers: the kind of algorithm, and those of its attributes that they depend on.
Owner = tuple[str, tuple[tuple[str, Any], ...]]


def require_owner(name: str, owned: Any, owner: Owner) -> None:
    """Raise unless numbers or a state, with an attribute ``owner``, belong to this owner."""
    if owned.owner != owner:
        expected, got = (
            f"{name} of {kind}({', '.join(f'{key}={value!r}' for key, value in attributes)})"
            for kind, attributes in (owner, owned.owner)
        )
        raise BadArgument(name, expected, got)


def require_keys(name: str, value: Any, ndim: int) -> None:
    """Raise unless ``value`` is one key (``ndim`` 0) or a list of keys (``ndim`` 1).

    Keys are those of ``jax.random.key``. A list of old-style ones looks like one key in a batch.
    """
    import jax  # late, as the command's help is fast without it

    what = "a list of keys, as jax.random.split makes them" if ndim else "a key from jax.random.key"
    if not isinstance(value, jax.Array):
        raise BadArgument(name, what, repr(value))
    if not jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
        hint = "; jax.random.wrap_key_data makes an old-style key a new one"
        raise BadArgument(name, what, f"{value.dtype}{list(value.shape)}", hint)
    if value.ndim != ndim:
        raise BadArgument(name, what, f"keys of shape {list(value.shape)}")


def require_shape(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Raise unless ``value`` has this shape: JAX broadcasts, and forgives bad indices."""
    if np.shape(value) != shape:
        raise BadArgument(name, f"shape {list(shape)}", str(list(np.shape(value))))


def _require_known(name: str, value: Any) -> None:
    """Raise for a number that JAX traces, which cannot be checked. JAX need not be there."""
    if type(value).__name__.endswith("Tracer"):
        hint = "; make params outside of jit and vmap, and vmap over jaxrace.racing.stack_params"
        raise BadArgument(name, "a number that is known now", "one that JAX traces", hint)


def _as_float(value: ArrayLike) -> float:
    """The number, or NaN, which fails every comparison, for anything else."""
    try:
        array = np.asarray(value)
        # float() would read text, and take a list of one number.
        return float("nan") if array.dtype.kind in "bSU" or array.ndim else float(array)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
