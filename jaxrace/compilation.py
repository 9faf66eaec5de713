"""Compiling ahead of time, so that its cost is known apart from the run's."""

import functools
import os
from collections.abc import Callable
from typing import Any

import jax

# XLA's lower optimisation level took half the time to compile a policy search for a CPU, and the
# search ran as fast (measured with jaxlib 0.10.2).
_LEVEL = "xla_backend_optimization_level"
_CPU_LEVEL = "1"

# Programs that a function keeps, each for other static arguments. That of a race may take 30 MB.
MOST_PROGRAMS = 32


def bounded_jit(num_static: int, most: int = MOST_PROGRAMS) -> Callable[[Any], Any]:
    """``jax.jit`` that forgets the program which has not been called for the longest time.

    ``jax.jit`` keeps thousands of programs, and what they are compiled for. Where that is a
    function of the user's, each time that it is defined anew, as in a cell of a notebook, leaves
    one more program that nobody can call any more.

    Args:
        num_static: How many arguments, the first ones, are static: hashable.
        most: Programs that are kept.

    Returns:
        A decorator of functions of arguments by position.

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
    flags = os.environ.get("XLA_FLAGS", "")
    is_users_choice = f"--{_LEVEL}=" in flags
    on_cpu = jax.default_backend() == "cpu"
    options: Any = {_LEVEL: _CPU_LEVEL} if on_cpu and not is_users_choice else None
    return function.lower(*args).compile(compiler_options=options)
