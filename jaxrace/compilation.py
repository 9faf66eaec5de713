"""Compiling ahead of time, so that its cost is known apart from the run's."""

import functools
import os
from collections.abc import Callable
from typing import Any

import jax

# XLA's lower optimisation level takes half the time to compile a policy search for a CPU, which
# runs as fast.
_LEVEL = "xla_backend_optimization_level"

# Programs that a function keeps, each for other static arguments. That of a race may take 30 MB.
MOST_PROGRAMS = 32


def bounded_jit(num_static: int, most: int = MOST_PROGRAMS) -> Callable[[Any], Any]:
    """``jax.jit`` that forgets the program which has not been called for the longest time.

    The first ``num_static`` arguments, all by position, are static: hashable. ``jax.jit`` keeps
    thousands of programs: one more for each time that a cell of a notebook defines a function anew.

    >>> @bounded_jit(num_static=1)
    ... def apply(function, x):
    ...     return function(x)
    >>> print(apply(lambda x: x + 1, 2))
    3
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.lru_cache(maxsize=most, typed=True)
        def program(*static: Any) -> Any:
            @functools.wraps(function)
            def of_arrays(*args: Any) -> Any:
                return function(*static, *args)

            return jax.jit(of_arrays)

        def call(*args: Any) -> Any:
            return program(*args[:num_static])(*args[num_static:])

        def lower(*args: Any) -> Any:  # for ``compile_ahead``
            return program(*args[:num_static]).lower(*args[num_static:])

        call.__dict__["lower"] = lower
        return functools.wraps(function)(call)

    return decorate


def compile_ahead(function: Any, *args: Any) -> Any:
    """Trace and compile a jitted function for arguments like these.

    ``args`` are arrays or ``jax.ShapeDtypeStruct``s, and the values of static arguments; the
    program is called without the latter. XLA_FLAGS may set a CPU's level of optimisation.

    >>> program = compile_ahead(jax.jit(lambda x: 2 * x), jax.ShapeDtypeStruct((2,), "float32"))
    >>> print(program(jax.numpy.array([1.0, 2.0], "float32")))
    [2. 4.]
    """
    is_users_choice = f"--{_LEVEL}=" in os.environ.get("XLA_FLAGS", "")
    is_ours = jax.default_backend() == "cpu" and not is_users_choice
    return function.lower(*args).compile(compiler_options={_LEVEL: "1"} if is_ours else None)
