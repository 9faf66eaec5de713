"""LAPACK beside other work on a CPU: programs that must not run side by side, and its threads.

Those with large batches of matrices must not: JAX 0.10 cuts a batch in pieces, leaves these to
XLA's threads and waits for them, often in one of these threads. When all of them wait, nobody is
left to do the pieces, and the programs hang for ever. A small batch is done at once, by whoever has
it, and so is a single matrix.

The library behind it, SciPy's OpenBLAS, has threads of its own, one per core. They wait in a loop
for parts of matrices, and take the cores from those who advance blocks.
"""

import contextlib
import math
import re

from threadpoolctl import threadpool_limits

# Numbers of a batch, times the longer side of its matrices, that JAX 0.10 did in one piece for
# every routine that was looked at; svd was the first to be cut, at less than 32,000.
_AT_ONCE = 16_000

_CALL = re.compile(r'custom-call\(.*custom_call_target="lapack_')
_SHAPE = re.compile(r"\[([\d,]+)\]")


def may_hang(program: str) -> bool:
    """Can two of these programs wait for each other?

    Args:
        program: Text of a program that XLA has compiled for a CPU.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> def text(*shape):
    ...     return jax.jit(jnp.linalg.cholesky).lower(jnp.zeros(shape)).compile().as_text()
    >>> may_hang(text(32, 3, 3)), may_hang(text(32, 64, 64)), may_hang(text(1, 64, 64))
    (False, True, False)
    """
    calls = [line for line in program.splitlines() if _CALL.search(line)]
    shapes = (shape for call in calls for shape in _SHAPE.findall(call))
    return any(_size(shape) > _AT_ONCE for shape in shapes)


def one_thread() -> contextlib.AbstractContextManager[object]:
    """A context in which LAPACK uses the thread that calls it, and no other.

    In the whole process: of two such contexts, one inside the other has to end first.

    >>> import scipy.linalg
    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}
    {1}
    """
    return threadpool_limits(limits=1, user_api="blas")


def _size(shape: str) -> int:
    """Of what may be cut: 0 of a single matrix."""
    sides = [int(side) for side in shape.split(",")]
    return math.prod(sides) * max(sides[-2:]) if math.prod(sides[:-2]) > 1 else 0
