"""How a benchmark is timed: compiled and warmed up first, waited for, with its cost apart.

A benchmark is named SUBJECT/CONTENDER. Its seconds are those of the fastest round, on the wall and
of the processor (all threads); the latter is what machines with other load can compare.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
from jax.typing import ArrayLike

from jaxrace.core.programs import compile_ahead


class _Clock:
    """Calls a function and keeps the least processor time that a call took."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.least = float("inf")

    def __call__(self, *args: Any) -> Any:
        started = time.process_time()
        out = self.function(*args)
        self.least = min(self.least, time.process_time() - started)
        return out


def record(
    benchmark: Any,
    name: str,
    function: Callable[..., Any],
    *args: Any,
    rounds: int = 5,
    scale: float = 1.0,
    warmups: int = 1,
    **info: Any,
) -> Any:
    """Time ``function(*args)`` after a call that does not count; returns what it returned.

    Args:
        benchmark: pytest-benchmark's fixture.
        name: SUBJECT/CONTENDER.
        function: Does its work before it returns.
        *args: For the function.
        rounds: Calls that count.
        scale: Multiplies the time, where a slow peer does a part of the work only.
        warmups: Calls that do not count, 0 or 1.
        **info: Further numbers for the results.
    """
    clock = _Clock(function)
    out = benchmark.pedantic(clock, args=args, rounds=rounds, warmup_rounds=warmups, iterations=1)
    benchmark.extra_info.update(name=name, scale=scale, cpu_seconds=clock.least, **info)
    return out


def plainly(function: Any, *args: Any) -> Any:
    """Compile for these arguments as ``jax.jit`` by itself does, at XLA's own level."""
    return function.lower(*args).compile()


def record_jax(
    benchmark: Any,
    name: str,
    function: Callable[..., Any],
    *args: ArrayLike | Any,
    rounds: int = 5,
    compiled: Callable[..., Any] = compile_ahead,
    **info: Any,
) -> Any:
    """The same for a JAX function, which is compiled ahead; its memory is recorded too."""
    started = time.perf_counter()
    program = compiled(jax.jit(function), *args)
    compile_seconds = time.perf_counter() - started
    memory = program.memory_analysis()

    def run(*inputs: Any) -> Any:
        return jax.block_until_ready(program(*inputs))

    return record(
        benchmark,
        name,
        run,
        *args,
        rounds=rounds,
        compile_seconds=compile_seconds,
        temporary_bytes=memory.temp_size_in_bytes,
        output_bytes=memory.output_size_in_bytes,
        **info,
    )
