"""Programs that are compiled ahead of their first call, and kept on disk."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxrace.core.compilation import is_traced, options_for
from jaxrace.core.validation import BadArgument

Params = TypeVar("Params")


def stack(*arrays: Any) -> Any:
    """``jnp.stack``; on the host unless traced, as it compiles a program for every shape."""
    return jnp.stack(arrays) if is_traced(arrays) else jax.device_put(np.stack(arrays))


def stack_params(params: Sequence[Params]) -> Params:
    """One batch from the params of single races or searches, to vmap over.

    ValueError unless they are of one race or search.

    >>> from jaxrace.racing import HoeffdingRace
    >>> race = HoeffdingRace(num_options=3, top=1)
    >>> settings = [race.params(delta=d, max_rounds=9, value_range=1) for d in (0.05, 0.1)]
    >>> print(stack_params(settings).delta)
    [0.05 0.1 ]
    """
    if not params:
        raise BadArgument("params", "at least one", "none")
    kinds = [(jax.tree.structure(p), *map(jnp.shape, jax.tree.leaves(p))) for p in params]
    if len(set(kinds)) != 1:
        raise BadArgument("params", "those of one race or search", "some that differ in shape")
    return jax.tree.map(stack, *params)


def compile_ahead(function: Any, *args: Any, work: float = math.inf) -> Any:
    """Trace and compile a jitted function for arguments like these, by the size of the job.

    Unless ``work`` is given, that is one which runs again and again.
    ``args`` are arrays or ``jax.ShapeDtypeStruct``s, and the values of static arguments; the
    program is called without the latter.

    >>> program = compile_ahead(jax.jit(lambda x: 2 * x), jax.ShapeDtypeStruct((2,), "float32"))
    >>> print(program(jax.numpy.array([1.0, 2.0], "float32")))
    [2. 4.]
    """
    return function.lower(*args).compile(compiler_options=options_for(work))


def use_compilation_cache(folder: str | os.PathLike[str] | None = None) -> Path:
    """Keep compiled programs on disk, for the next process: call it before anything is computed.

    Returns the folder: the given one, else JAX_COMPILATION_CACHE_DIR, else one in the user's cache
    folder. Several processes may share it. If it cannot be written it is only read, and JAX warns.
    """
    from platformdirs import user_cache_dir

    folder = folder or os.environ.get("JAX_COMPILATION_CACHE_DIR") or user_cache_dir("jaxrace")
    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)  # small ones add up
    return Path(folder)
