"""Checks of arguments at the Python boundary: each raises ValueError or does nothing.

Messages name the argument, what was expected and what came.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Of the positive float32 numbers with all their digits.
_LEAST, _MOST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def require_integer(name: str, value: Any, least: int, most: float = math.inf) -> None:
    """Raise unless ``value`` is an integer with ``least <= value <= most``.

    Raises:
        ValueError: It is not.

    >>> require_integer("top", 0, least=1)
    Traceback (most recent call last):
    ValueError: top: expected an integer of at least 1, got 0
    >>> require_integer("top", 5, least=1, most=4)
    Traceback (most recent call last):
    ValueError: top: expected at most 4, got 5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {value!r}")
    if value > most:
        raise ValueError(f"{name}: expected at most {most}, got {value}")


def require_positive(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is a number above 0 that float32 holds, neither 0 there nor infinite.

    Raises:
        ValueError: It is not.

    >>> require_positive("sigma0", -1.0)
    Traceback (most recent call last):
    ValueError: sigma0: expected a positive number, got -1.0
    """
    number = _as_float(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name}: expected a positive number, got {value!r}")
    if not _LEAST <= number <= _MOST:
        raise ValueError(
            f"{name}: expected a positive number from {_LEAST:.2g} to {_MOST:.2g}, as float32 "
            f"holds, got {value!r}"
        )


def require_probability(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is a number strictly between 0 and 1, whose inverse is finite.

    Raises:
        ValueError: It is not.

    >>> require_probability("delta", 1.0)
    Traceback (most recent call last):
    ValueError: delta: expected a number between 0 and 1, exclusive, got 1.0
    """
    if not np.finfo(np.float64).tiny <= _as_float(value) < 1:
        raise ValueError(f"{name}: expected a number between 0 and 1, exclusive, got {value!r}")


def require_float32_probability(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` is a number between 0 and 1 that float32 tells from both.

    Raises:
        ValueError: It is not.

    >>> require_float32_probability("delta", 1e-50)
    Traceback (most recent call last):
    ValueError: delta: expected a number between 0 and 1 that float32 tells from both, got 1e-50
    """
    require_probability(name, value)
    if not _LEAST <= float(np.float32(_as_float(value))) < 1:
        raise ValueError(
            f"{name}: expected a number between 0 and 1 that float32 tells from both, got {value!r}"
        )


def require_number(
    name: str, value: ArrayLike, least: float, below: float = math.inf, most: float = _MOST
) -> None:
    """Raise unless ``value`` is a number with ``least <= value < below``, at most ``most``.

    That is the largest float32 unless it is said: a larger number would be infinite on a device.

    Raises:
        ValueError: It is not.

    >>> require_number("epsilon", 0.5, least=0, below=0.5)
    Traceback (most recent call last):
    ValueError: epsilon: expected a number in [0, 0.5), got 0.5
    """
    if not least <= _as_float(value) < below:
        raise ValueError(f"{name}: expected a number in [{least}, {below}), got {value!r}")
    if abs(_as_float(value)) > most:
        raise ValueError(f"{name}: expected a number of at most {most:.2g}, got {value!r}")


# Rounding that p_ij + p_ji = 1 may have, as of probabilities printed with a few digits.
_PREFERENCE_TOLERANCE = 1e-6


def require_preferences(name: str, value: ArrayLike) -> None:
    """Raise unless ``value`` [K, K] holds probabilities that i beats j, p_ij + p_ji = 1.

    Raises:
        ValueError: It is not square, has fewer than two options, an entry is no probability, or
            p_ij + p_ji is not 1; the first such entry is named.

    >>> require_preferences("matrix", [[0.5, 0.75], [0.3, 0.5]])
    Traceback (most recent call last):
    ValueError: matrix: expected p_ij + p_ji = 1, got 0.75 + 0.3 for 0 and 1
    """
    found = as_reals(name, value, "[K, K]")
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise ValueError(f"{name}: expected a square, got shape {list(found.shape)}")
    if len(found) < 2:
        raise ValueError(f"{name}: expected at least 2 rows, got {len(found)}")
    bad = np.argwhere(~((found >= 0) & (found <= 1)))
    if bad.size:
        i, j = bad[0]
        raise ValueError(f"{name}: expected probabilities, got {found[i, j]} for {i} against {j}")
    bad = np.argwhere(abs(found + found.T - 1) > _PREFERENCE_TOLERANCE)
    if bad.size:
        i, j = bad[0]
        raise ValueError(
            f"{name}: expected p_ij + p_ji = 1, got {found[i, j]} + {found[j, i]} for {i} and {j}"
        )


def as_reals(name: str, value: Any, shape: str) -> np.ndarray:
    """As float64; NumPy would make numbers of texts, dates, truth values and complex numbers, too.

    Args:
        name: Of the argument, for messages.
        value: Numbers.
        shape: What is expected, for the message.

    Raises:
        ValueError: They are none, or some are masked, or rows have different lengths.

    >>> as_reals("means", ["0.5"], "[K]")
    Traceback (most recent call last):
    ValueError: means: expected numbers [K], got ['0.5']
    """
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    is_real = found.dtype.kind in "iu" or "float" in found.dtype.name  # bfloat16 is of no kind
    if not is_real or np.ma.is_masked(value):
        raise ValueError(f"{name}: expected numbers {shape}, got {value!r}")
    return found.astype(np.float64)


def require_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``.

    Raises:
        ValueError: It is not; the message lists them.

    >>> require_choice("rule", "blunt", ("sharp", "printed"))
    Traceback (most recent call last):
    ValueError: rule: expected one of sharp, printed, got 'blunt'
    """
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(str, choices))}, got {value!r}")


def require_names(name: str, value: Sequence[str], choices: Collection[str]) -> None:
    """Raise unless ``value`` has different names, all of them among ``choices``.

    Raises:
        ValueError: It is not; the message lists the choices.

    >>> require_names("method", ["pkg", "pgk"], ("pkg", "uniform"))
    Traceback (most recent call last):
    ValueError: method: expected some of pkg, uniform, got 'pgk'
    """
    if len(set(value)) < len(value):
        raise ValueError(f"{name}: expected different names, got {','.join(value)!r}")
    for one in value:
        if one not in choices:
            raise ValueError(f"{name}: expected some of {', '.join(choices)}, got {one!r}")


def require_default(name: str, config: Any, why: str) -> None:
    """Raise unless an attribute of a dataclass, which does nothing here, is its default.

    Args:
        name: The attribute.
        config: The dataclass.
        why: Why there is to be none.

    Raises:
        ValueError: Something else was given.

    >>> from jaxrace.commands.select.config import SelectConfig
    >>> require_default("budget", SelectConfig(budget=50), "with a file")
    Traceback (most recent call last):
    ValueError: budget: expected none with a file, got 50
    """
    value = getattr(config, name)
    if value != type(config).__dataclass_fields__[name].default:
        raise ValueError(f"{name}: expected none {why}, got {value!r}")


def require_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless ``value`` is of a class.

    Raises:
        ValueError: It is not.

    >>> require_kind("bound", "t", float)
    Traceback (most recent call last):
    ValueError: bound: expected a float, got 't'
    """
    if not isinstance(value, kind):
        raise ValueError(f"{name}: expected a {kind.__name__}, got {value!r}")


def require_function(name: str, value: Any) -> None:
    """Raise unless ``value`` can be called and hashed, as static arguments must be.

    Raises:
        ValueError: It cannot.

    >>> require_function("sample", 3)
    Traceback (most recent call last):
    ValueError: sample: expected a function, got 3
    """
    if not callable(value):
        raise ValueError(f"{name}: expected a function, got {value!r}")
    require_hashable(name, value)


def require_hashable(name: str, value: Any) -> None:
    """Raise unless ``value`` can be hashed: compiled programs are kept by it.

    Raises:
        ValueError: It cannot; the message says what cannot.

    >>> require_hashable("env", [1])
    Traceback (most recent call last):
    ValueError: env: expected a hashable object (a function, a frozen dataclass), got list (...)
    """
    try:
        hash(value)
    except TypeError as error:
        raise ValueError(
            f"{name}: expected a hashable object (a function, a frozen dataclass), "
            f"got {type(value).__name__} ({error})"
        ) from error


# Of whom numbers are: the kind, and what the numbers depend on.
Owner = tuple[str, tuple[tuple[str, Any], ...]]


def owner_of(algorithm: Any, *names: str) -> Owner:
    """The kind of an algorithm, and those of its attributes that its numbers depend on.

    >>> owner_of(1j, "imag")
    ('complex', (('imag', 1.0),))
    """
    return type(algorithm).__name__, tuple((name, getattr(algorithm, name)) for name in names)


def require_owner(params: Any, owner: Owner) -> None:
    """Raise unless numbers, with an attribute ``owner``, are those of this owner.

    Raises:
        ValueError: They are of another kind or size of algorithm.

    >>> import types
    >>> numbers = types.SimpleNamespace(owner=("Race", (("num_options", 2),)))
    >>> require_owner(numbers, ("Race", (("num_options", 10),)))
    Traceback (most recent call last):
    ValueError: params: expected those of Race(num_options=10), got those of Race(num_options=2)
    """
    if params.owner != owner:
        expected, got = (
            f"{kind}({', '.join(f'{name}={value!r}' for name, value in attributes)})"
            for kind, attributes in (owner, params.owner)
        )
        raise ValueError(f"params: expected those of {expected}, got those of {got}")


def require_keys(name: str, value: Any, ndim: int) -> None:
    """Raise unless ``value`` is one key (``ndim`` 0) or a list of keys (``ndim`` 1).

    Keys are those of ``jax.random.key``. Old-style ones, plain uint32 numbers, are refused: a
    list of them cannot be told from one key with a batch axis.

    Raises:
        ValueError: It is not.

    >>> import jax
    >>> require_keys("key", jax.random.PRNGKey(0), ndim=0)
    Traceback (most recent call last):
    ValueError: key: expected a key from jax.random.key, got uint32[2]; ...
    """
    import jax  # late: the command's help has no time for it

    what = "a list of keys, as jax.random.split makes them" if ndim else "a key from jax.random.key"
    if not isinstance(value, jax.Array):
        raise ValueError(f"{name}: expected {what}, got {value!r}")
    if not jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
        raise ValueError(
            f"{name}: expected {what}, got {value.dtype}{list(value.shape)}; "
            "jax.random.wrap_key_data makes an old-style key a new one"
        )
    if value.ndim != ndim:
        raise ValueError(f"{name}: expected {what}, got keys of shape {list(value.shape)}")


def _as_float(value: ArrayLike) -> float:
    """The number, or NaN for what is none: it fails every comparison."""
    try:
        array = np.asarray(value)
        # Text that reads as a number is none, and neither is a list of one number.
        return float("nan") if array.dtype.kind in "bSU" or array.ndim else float(array)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
