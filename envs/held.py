"""Numbers of the host on their way to a device: refused by name where 32 bits do not hold them.

Python's and NumPy's numbers have 64 bits or more. JAX would silently make them infinite, or cut off
their upper bits or what is behind their decimal point.
"""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_MOST_INT32 = 2**31 - 1
_FLOAT32 = np.finfo(np.float32)


def require_held(name: str, tree: Any, dtype: Any = None) -> None:
    """Raise unless a dtype holds the numbers of a pytree; the last digits of a float may go.

    Leaves that are numbers of Python or of NumPy are looked at. Without a dtype it is the one that
    JAX gives them.
    """
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, int | float | complex | np.ndarray | np.generic):
            values = np.asarray(leaf)
            is_known = values.dtype.kind in "biufc" or isinstance(leaf, int)
            if is_known:
                usual = np.dtype(int) if values.dtype == object else values.dtype
                kept = jax.dtypes.canonicalize_dtype(usual) if dtype is None else dtype
                _require_held(name, values, jnp.dtype(kept))


def _require_held(name: str, values: np.ndarray, dtype: Any) -> None:
    if jnp.issubdtype(dtype, jnp.complexfloating):
        for part in (np.real(values), np.imag(values)):
            _require_held(name, part, jnp.finfo(dtype).dtype)
        return
    if jnp.issubdtype(dtype, jnp.integer):
        limits = jnp.iinfo(dtype)
        is_lost = ~((values >= int(limits.min)) & (values <= int(limits.max)))
        if values.dtype.kind == "f":
            is_lost |= values != np.floor(values)
    elif jnp.issubdtype(dtype, jnp.floating):
        size = np.abs(values)
        is_lost = (size > float(jnp.finfo(dtype).max)) & (size < math.inf)
    else:
        return
    if np.any(is_lost):
        article = "an" if jnp.dtype(dtype).name.startswith("int") else "a"
        said = f"expected numbers that {article} {dtype} holds, got {values[is_lost].flat[0]}"
        raise ValueError(f"{name}: {said}" if name else said)


def as_float32(name: str, values: Any) -> jax.Array:
    """A float32 array; ValueError where a finite number of the host would become infinite."""
    require_held(name, values, jnp.float32)
    return jnp.asarray(values, jnp.float32)


@dataclasses.dataclass(frozen=True)
class Float32Params:
    """Base of parameters; ValueError where a float32 does not hold one."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            require_held(field.name, getattr(self, field.name), jnp.float32)


def require_count(name: str, value: Any, least: int = 1, most: int = _MOST_INT32) -> None:
    """Raise unless a value is an integer of Python with ``least <= value <= most``."""
    if type(value) is not int or value < least:
        what = "a positive integer" if least == 1 else f"an integer of at least {least}"
        raise ValueError(f"{name}: expected {what}, got {value!r}")
    if value > most:
        raise ValueError(f"{name}: expected an integer of at most {most}, got {value!r}")


def require_positive(name: str, value: Any, times: float = 1.0) -> None:
    """Raise unless a number is positive, also as a float32, as it is and ``times`` a factor.

    Arrays of JAX, which may be traced, are not looked at.
    """
    if isinstance(value, jax.Array):
        return
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    is_number |= isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf"
    if not is_number or isinstance(value, np.complexfloating) or not 0 < value < math.inf:
        raise ValueError(f"{name}: expected a positive number, got {value!r}")
    least, most = (
        float(bound) / scale
        for bound, scale in ((_FLOAT32.tiny, min(times, 1.0)), (_FLOAT32.max, max(times, 1.0)))
    )
    if not least <= value <= most:
        raise ValueError(
            f"{name}: expected a positive number from {least:.2g} to {most:.2g}, as float32 holds, "
            f"got {value!r}"
        )


# A weak type is part of an array's type: a loop whose carry starts weak and goes on strong fails or
# compiles twice, and a weak float becomes a float64 wherever x64 is on.
def strongly_typed(tree: Any, name: str = "") -> Any:
    """The pytree with arrays for leaves, none of them weakly typed.

    Python floats become float32 and Python integers int32; arrays keep their shape and dtype.
    ValueError, which starts with `name`, for a number out of the range of what it becomes.
    """
    kinds = {float: jnp.float32, int: jnp.int32}

    def strong(leaf: Any) -> jax.Array:
        dtype = kinds.get(type(leaf))
        require_held(name, leaf, dtype)
        array = jnp.asarray(leaf, dtype)
        if not jax.typeof(array).weak_type:  # also random keys, which cannot be converted
            return array
        return jax.lax.convert_element_type(array, array.dtype)

    return jax.tree.map(strong, tree)
