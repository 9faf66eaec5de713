"""How programs are compiled and kept, by the size of the job.

Cheap options take a quarter of the time to compile, and the program five to fifteen times as long.
"""

import contextlib
import functools
import itertools
import math
import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxrace.kernels.devices import made_alone, platform

_LEVEL = "xla_backend_optimization_level"
_CHEAP = {  # options that come and go with XLA's versions
    _LEVEL: 0,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}
# On a GPU each process would measure which of several kernels is faster; they round differently.
_UNTUNED = {"xla_gpu_autotune_level": 0}

# Work is counted in comparisons, or steps of that size.
# Up to which cheap options pay, at level 0 and at level 1, and then level 1 without them.
SMALL, MIDDLING, LARGE = 1e7, 1e9, 1e11
_ON_CPU = 3e8  # which a CPU has done before a GPU has its program
_STEP = 100  # what a step of a loop takes, in numbers

_MOST_PROGRAMS = 32  # that a function keeps; one of a race may take 30 MB

_NOTHING = np.int32(0)


def is_traced(tree: Any) -> bool:
    """Is any leaf of the tree a tracer, as inside of jit and vmap?"""
    return any(isinstance(x, Tracer) for x in jax.tree.leaves(tree))


def is_outermost() -> bool:
    """Are operations executed now, and not traced by a `jit` around them?"""
    return not isinstance(jax.device_put(_NOTHING), Tracer)


def jit(
    num_static: int,
    work: Callable[..., float] | None = None,
    most: int = _MOST_PROGRAMS,
    donated: tuple[int, ...] = (),
) -> Callable[[Any], Any]:
    """``jax.jit`` that keeps few programs, with options and a place by the size of the job.

    Args:
        num_static: How many arguments, the first ones by position, are static: hashable.
        work: ``work(*args)``; None for a program that never has much to do.
        most: Programs that are kept; the one called the longest time ago goes first.
        donated: Numbers of the other arguments, from 0, that may be overwritten.

    >>> @jit(num_static=1)
    ... def apply(function, x):
    ...     return function(x)
    >>> print(apply(lambda x: x + 1, 2))
    3
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.lru_cache(maxsize=most, typed=True)
        def program(needed: float | None, place: str, *static: Any) -> Any:
            @functools.wraps(function)
            def of_arrays(*args: Any) -> Any:
                with made_alone() if needed == SMALL else contextlib.nullcontext():
                    return function(*static, *args)

            options = None if needed is None else options_for(needed)
            if needed in (LARGE, math.inf) and jax.default_backend() != "cpu":
                options = None  # for a large batch on a GPU, kernels are measured
            return jax.jit(of_arrays, donate_argnums=donated, compiler_options=options)

        def call(*args: Any) -> Any:
            needed = cpu = None
            if not is_traced(args) and is_outermost():
                given = 0.0 if work is None else work(*args)
                known = given if given < math.inf else LARGE
                needed = next(m for m in (SMALL, MIDDLING, LARGE, math.inf) if known <= m)
                cpu = place_of(given, args)
            with contextlib.nullcontext() if cpu is None else jax.default_device(cpu):
                return program(needed, platform(), *args[:num_static])(*args[num_static:])

        def lower(*args: Any) -> Any:  # for ``compile_ahead``
            return program(None, platform(), *args[:num_static]).lower(*args[num_static:])

        call.__dict__["lower"] = lower
        return functools.wraps(function)(call)

    return decorate


def cost_of(function: Callable[..., Any], *args: Any) -> float:
    """Numbers that a pure function computes, as ``work``; inf for a loop without a known end.

    ``args`` are arrays or anything of their shapes and types.

    >>> cost_of(lambda x: jax.lax.fori_loop(0, 10, lambda i, x: x + i, x), jnp.float32(0)) > 1_000
    True
    """
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(jnp.shape(x), x.dtype), args)
    return _cost(jax.jit(function).trace(*shapes).jaxpr.jaxpr)


def _cost(jaxpr: Any) -> float:
    total = 0.0
    for step in jaxpr.eqns:
        name = step.primitive.name
        given = [one if isinstance(one, tuple | list) else (one,) for one in step.params.values()]
        parts = [getattr(one, "jaxpr", one) for one in itertools.chain.from_iterable(given)]
        inside = sum(_cost(part) for part in parts if hasattr(part, "eqns"))
        if name == "while":
            return math.inf
        if name == "scan":
            inside = step.params["length"] * (inside + _STEP)
        size = sum(math.prod(getattr(one.aval, "shape", ())) for one in step.outvars)
        if name == "dot_general":
            (contracted, _), _ = step.params["dimension_numbers"]
            size *= math.prod(step.invars[0].aval.shape[axis] for axis in contracted)
        total += inside + size
    return total


def options_for(work: float) -> dict[str, Any] | None:
    """Options for ``compile`` by the size of the job; None if the user has set them.

    Small jobs have cheap options at level 0, larger ones level 1, which compiles in six tenths of
    the time; beyond ``LARGE`` comparisons a fifth of the run outweighs that.
    """
    is_on_cpu = platform() == "cpu"
    chosen = _LEVEL if is_on_cpu else next(iter(_UNTUNED))
    if f"--{chosen}=" in os.environ.get("XLA_FLAGS", ""):
        return None
    if not is_on_cpu:
        return _known(*_UNTUNED.items())
    if work > LARGE:
        return {}
    return (_known(*_CHEAP.items()) if work <= MIDDLING else {}) | {_LEVEL: int(work > SMALL)}


@functools.cache
def _known(*options: tuple[str, Any]) -> dict[str, Any]:
    """The options that this XLA knows, which only compiling tells."""
    try:
        jax.jit(lambda: 0, compiler_options=dict(options)).lower().compile()
    except jax.errors.JaxRuntimeError:
        each = map(_known, options) if len(options) > 1 else ()
        return dict(itertools.chain.from_iterable(known.items() for known in each))
    return dict(options)


def place_of(work: float, args: Any, default: Any = None) -> Any:
    """The CPU for a small job, if JAX's ``default`` device is another one; else None.

    None, too, if an array of ``args`` has been put on a device, or the user has named a default.
    """
    if work > _ON_CPU or getattr(jax.config, "jax_default_device", None) is not None:
        return None
    default = default or jax.local_devices()[0]
    try:
        cpu = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # JAX_PLATFORMS has none
        return None
    is_put = any(isinstance(x, jax.Array) and x.committed for x in jax.tree.leaves(args))
    return None if is_put or cpu == default else cpu
