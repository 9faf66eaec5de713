"""Numbers of the host that simulators and policies keep: a device must hold them."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxrace.core.narrowing import as_host_array, require_range


def as_float32(name: str, values: Any) -> jax.Array:
    """A float32 array; BadArgument where a finite number of the host would become infinite."""
    require_held(name, values, jnp.float32)
    return jnp.asarray(values, jnp.float32)


# A loop whose carry starts with a weak type and goes on with a strong one fails or compiles twice;
# with x64 a weak float becomes a float64.
def strongly_typed(tree: Any, name: str = "leaves") -> Any:
    """The pytree with arrays for leaves, none of them weakly typed.

    Python's floats become float32 and its integers int32; arrays keep their shape and dtype.
    BadArgument for a number out of the range of what it becomes.
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


@dataclasses.dataclass(frozen=True)
class Float32Params:
    """Base of parameters; BadArgument where a float32 does not hold one."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            require_held(field.name, getattr(self, field.name), jnp.float32)


def require_held(name: str, tree: Any, dtype: DTypeLike | None = None) -> None:
    """Raise unless a dtype holds the numbers of Python and of NumPy among the leaves.

    By default it is the dtype that JAX gives them.
    """
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, int | float | complex | np.ndarray | np.generic):
            # A Python integer may have more bits than any dtype.
            array = np.asarray(leaf) if isinstance(leaf, int) else as_host_array(name, leaf)
            usual = np.dtype(int) if array.dtype == object else array.dtype
            kept = jax.dtypes.canonicalize_dtype(usual) if dtype is None else dtype
            require_range(name, array, kept)
