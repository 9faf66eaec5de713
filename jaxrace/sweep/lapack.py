"""Programs that must not run side by side on a CPU: those with large batches for LAPACK.

JAX 0.10 cuts a large batch of matrices in pieces, leaves these to XLA's threads and waits for
them, often in one of these threads. When all of them wait, nobody is left to do the pieces, and
the programs hang for ever. A small batch is done at once, by whoever has it.
"""

import math
import re

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
    >>> may_hang(text(32, 3, 3)), may_hang(text(32, 64, 64))
    (False, True)
    """
    calls = [line for line in program.splitlines() if _CALL.search(line)]
    shapes = (shape for call in calls for shape in _SHAPE.findall(call))
    return any(_size(shape) > _AT_ONCE for shape in shapes)


def _size(shape: str) -> int:
    sides = [int(side) for side in shape.split(",")]
    return math.prod(sides) * max(sides[-2:])
