"""Compiling ahead of time, so that its cost is known apart from the run's."""

import os
from typing import Any

import jax

# XLA's lower optimisation level took half the time to compile a policy search for a CPU, and the
# search ran as fast (measured with jaxlib 0.10.2).
_LEVEL = "xla_backend_optimization_level"
_CPU_LEVEL = "1"


def compile_ahead(function: Any, *args: Any) -> Any:
    """Trace and compile a jitted function for arguments like these.

    For a CPU with a lower level of optimisation than XLA's own, unless XLA_FLAGS sets one.

    Args:
        function: What ``jax.jit`` returned.
        *args: Arrays or ``jax.ShapeDtypeStruct``s, and the values of static arguments.

    Returns:
        The compiled program, to be called with the arguments that are not static.

    >>> import jax.numpy as jnp
    >>> program = compile_ahead(jax.jit(lambda x: 2 * x), jax.ShapeDtypeStruct((2,), jnp.float32))
    >>> print(program(jnp.array([1.0, 2.0], jnp.float32)))
    [2. 4.]
    """
    return function.lower(*args).compile(compiler_options=_options())


def _options() -> dict[str, str | bool] | None:
    """Of the compiler; a level in XLA_FLAGS is the user's choice."""
    chosen = f"--{_LEVEL}=" in os.environ.get("XLA_FLAGS", "")
    return None if chosen or jax.default_backend() != "cpu" else {_LEVEL: _CPU_LEVEL}
