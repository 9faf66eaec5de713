"""How programs are compiled and kept: in haste where they run briefly, and on disk if asked to.

XLA takes seconds to compile for a CPU what then runs for milliseconds. What plain Python
calls, for little work by its size, is compiled in haste: in a quarter of the time, for a program
that takes five to fifteen times as long. Under a user's `jit` or `vmap` nothing is chosen here.
"""

import contextlib
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxrace.kernels.devices import made_alone

# XLA's lower optimisation level takes half the time to compile a policy search for a CPU, which
# runs as fast.
_LEVEL = "xla_backend_optimization_level"

# Public options of XLA, which come and go with its versions.
_EMITTERS = "xla_cpu_use_fusion_emitters"
_HASTY = {_LEVEL: 0, _EMITTERS: False, "xla_cpu_parallel_codegen_split_count": 1}

# Comparisons, or steps of that size: in haste they take a third of a second.
MOST_BRIEF = 1e8

# Programs that a function keeps, each for other static arguments. That of a race may take 30 MB.
MOST_PROGRAMS = 32

_NOTHING = np.int32(0)


def is_traced(tree: Any) -> bool:
    """Is any array of the tree a tracer, that is, are we inside jit or vmap?"""
    return any(isinstance(x, Tracer) for x in jax.tree.leaves(tree))


def stack(*arrays: Any) -> Any:
    """``jnp.stack``, which compiles a program for every shape; on the host of what is no tracer.

    >>> stack(np.float32(1), np.float32(2)).shape
    (2,)
    """
    return jnp.stack(arrays) if is_traced(arrays) else jax.device_put(np.stack(arrays))


def is_outermost() -> bool:
    """Are operations done here and now, and not written down by a `jit` around them?

    >>> seen = []
    >>> _ = jax.jit(lambda x: seen.append(is_outermost()) or x)(1)
    >>> is_outermost(), seen
    (True, [False])
    """
    return not isinstance(jax.device_put(_NOTHING), Tracer)


def bounded_jit(
    num_static: int,
    most: int = MOST_PROGRAMS,
    work: Callable[..., float] | None = None,
    level: int | Callable[..., int] = 0,
    donated: tuple[int, ...] = (),
) -> Callable[[Any], Any]:
    """``jax.jit`` that forgets the program which has not been called for the longest time.

    The first ``num_static`` arguments, all by position, are static: hashable. ``jax.jit`` keeps
    thousands of programs: one more for each time that a cell of a notebook defines a function anew.

    Args:
        num_static: How many arguments are static.
        most: Programs that are kept.
        work: ``work(*args)``, in comparisons: up to ``MOST_BRIEF`` are compiled in haste where
            plain Python calls. None for a program that is always compiled as JAX does.
        level: XLA's level of optimisation of a program compiled in haste; a number, or
            ``level(*args)``.
        donated: Numbers of the other arguments, from 0, that may be overwritten.

    >>> @bounded_jit(num_static=1)
    ... def apply(function, x):
    ...     return function(x)
    >>> print(apply(lambda x: x + 1, 2))
    3
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.lru_cache(maxsize=most, typed=True)
        def program(hasty: int | None, *static: Any) -> Any:
            @functools.wraps(function)
            def of_arrays(*args: Any) -> Any:
                with contextlib.nullcontext() if hasty is None else made_alone():
                    return function(*static, *args)

            options = None if hasty is None else hasty_options(hasty)
            return jax.jit(of_arrays, donate_argnums=donated, compiler_options=options)

        def call(*args: Any) -> Any:
            static, arrays = args[:num_static], args[num_static:]
            is_little = work is not None and work(*args) <= MOST_BRIEF
            if not is_little or is_traced(args) or not is_outermost():
                return program(None, *static)(*arrays)
            return program(level(*args) if callable(level) else level, *static)(*arrays)

        def lower(*args: Any) -> Any:  # for ``compile_ahead``
            return program(None, *args[:num_static]).lower(*args[num_static:])

        call.__dict__["lower"] = lower
        return functools.wraps(function)(call)

    return decorate


def brief(*_: Any) -> float:
    """The ``work`` of a program that never runs for long, whatever it is given."""
    return 0.0


def hasty_options(level: int = 0) -> dict[str, Any] | None:
    """For ``compile``: those that this XLA knows; None where the user has chosen."""
    if not _is_level_open():
        return None
    known = {option: value for option, value in _HASTY.items() if _is_known(option)}
    return known | {_LEVEL: level}


@functools.cache
def _is_known(option: str) -> bool:
    """Does this XLA know an option? Only compiling tells: some hundredths of a second."""
    try:
        jax.jit(lambda: 0, compiler_options={option: _HASTY[option]}).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


def _is_level_open() -> bool:
    is_users_choice = f"--{_LEVEL}=" in os.environ.get("XLA_FLAGS", "")
    return jax.default_backend() == "cpu" and not is_users_choice


def compile_ahead(function: Any, *args: Any, brief: bool = False) -> Any:
    """Trace and compile a jitted function for arguments like these.

    ``args`` are arrays or ``jax.ShapeDtypeStruct``s, and the values of static arguments; the
    program is called without the latter. XLA_FLAGS may set a CPU's level of optimisation. A program
    that runs briefly is compiled in two thirds of the time, and takes about twice as long.

    >>> program = compile_ahead(jax.jit(lambda x: 2 * x), jax.ShapeDtypeStruct((2,), "float32"))
    >>> print(program(jax.numpy.array([1.0, 2.0], "float32")))
    [2. 4.]
    """
    options: dict[str, Any] | None = {_LEVEL: "1"} if _is_level_open() else None
    if brief and options and _is_known(_EMITTERS):
        options |= {_EMITTERS: False}
    return function.lower(*args).compile(compiler_options=options)


def use_compilation_cache(folder: str | os.PathLike[str] | None = None) -> Path:
    """Keep compiled programs on disk, for the next process: call it before anything is computed.

    A cell of a notebook that is run again, or a script, then finds what it has compiled before.
    Several processes may share the folder. Where it cannot be written, what is there is read, and
    JAX warns.

    Args:
        folder: Where. By default what JAX_COMPILATION_CACHE_DIR says, or else a folder of jaxrace
            in the user's cache folder.

    Returns:
        The folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     use_compilation_cache(folder)
    """
    from platformdirs import user_cache_dir

    folder = folder or os.environ.get("JAX_COMPILATION_CACHE_DIR") or user_cache_dir("jaxrace")
    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # Dozens of small programs together take a second or two.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return Path(folder)
