"""How much work a device takes at once: the only place where sizes depend on the device.

A CPU is fastest while its work stays in its caches, a GPU with as much at once as there is.
"""

import contextlib
import dataclasses
from collections.abc import Iterator

import jax


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What is worked on together on a device."""

    places: int  # marked places of a mask, as pairs of options: see `for_listed`
    light_places: int  # the same where there is little to do for each
    takes_all: bool  # take all places that fit into one call, marked or not, without a list
    rounds: int  # earlier rounds of a pair that are gathered at once
    races: int  # of a batch that advance together
    blocks: int  # of a dominance race that are drawn between two looks
    rows: int  # options that are sampled together
    row_blocks: int  # the least number of such blocks in a batch
    light_draw: float  # numbers of a sample up to which all options draw: a list costs more
    compiles_long: bool  # put operands of many loops behind a conditional, unroll generators
    unrolls: bool  # short loops of known length: every pass would launch kernels of its own


# 512 pairs of 32 rounds fit into the second-level cache, 1,024 races into the third.
CPU = Sizes(
    places=512,
    light_places=512,
    takes_all=False,
    rounds=32,
    races=1024,
    blocks=1,
    rows=256,
    row_blocks=32,
    light_draw=0,
    compiles_long=True,
    unrolls=False,
)
# For a few races, without lists and conditionals: half as much to compile.
_ALONE = dataclasses.replace(
    CPU, places=2**12, light_places=2**12, takes_all=True, compiles_long=False
)
GPU = Sizes(
    places=2**16,
    light_places=2**19,
    takes_all=True,
    rounds=128,
    races=2**14,
    blocks=3,
    rows=2**17,
    row_blocks=4,
    light_draw=500,
    compiles_long=False,
    unrolls=True,
)

_chosen: list[Sizes] = []


def sizes() -> Sizes:
    """The sizes for the device that JAX computes on, or those of ``made_with``."""
    if _chosen:
        return _chosen[-1]
    return CPU if platform() == "cpu" else GPU


def platform() -> str:
    """The platform of the device that JAX computes on, "cpu" or another.

    >>> platform() in ("cpu", "gpu", "tpu")
    True
    """
    device = getattr(jax.config, "jax_default_device", None)
    if device is None:
        return jax.default_backend()
    return device if isinstance(device, str) else device.platform


@contextlib.contextmanager
def made_with(chosen: Sizes) -> Iterator[None]:
    """Trace programs with these sizes, and no functions in them that are jitted on their own.

    >>> with made_with(GPU):
    ...     sizes().races
    16384
    """
    _chosen.append(chosen)
    try:
        yield
    finally:
        _chosen.pop()


def made_alone() -> contextlib.AbstractContextManager[None]:
    """``made_with`` what makes the smallest program for a CPU, for little work."""
    return made_with(_ALONE if sizes() == CPU else sizes())
