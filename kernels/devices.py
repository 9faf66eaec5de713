"""How much work a device takes at once: the only place where sizes depend on the device.

A CPU is fastest while its work stays in its caches. A GPU waits microseconds for every launch, and
for its host at every loop of unknown length: it takes as much at once as there is.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What is worked on together on a device."""

    places: int  # marked places of a mask, as pairs of options: see `for_listed`
    light_places: int  # the same where there is little to do for each
    takes_all: bool  # take all places that fit into one call, marked or not, without a list
    rounds: int  # earlier rounds of a pair that are gathered at once
    races: int  # of a batch that advance together
    rows: int  # options that are sampled together
    row_blocks: int  # the least number of such blocks in a batch
    keeps_operands: bool  # put operands that many loops read behind a conditional


# 512 pairs of 32 rounds fit into the second-level cache, 1,024 races into the third.
_CPU = Sizes(
    places=512,
    light_places=512,
    takes_all=False,
    rounds=32,
    races=1024,
    rows=256,
    row_blocks=32,
    keeps_operands=True,
)
# For a few races, without lists and conditionals: half as much to compile.
_ALONE = dataclasses.replace(
    _CPU, places=2**12, light_places=2**12, takes_all=True, keeps_operands=False
)
_GPU = Sizes(
    places=2**16,
    light_places=2**19,
    takes_all=True,
    rounds=128,
    races=2**14,
    rows=2**17,
    row_blocks=4,
    keeps_operands=False,
)

_chosen: list[Sizes] = []


def sizes() -> Sizes:
    """The sizes for the device that JAX computes on, or that ``made_for`` names."""
    return _chosen[-1] if _chosen else _of(platform())


def platform() -> str:
    """The platform of the device that JAX computes on, "cpu" or another.

    >>> platform() in ("cpu", "gpu", "tpu")
    True
    """
    device = getattr(jax.config, "jax_default_device", None)
    if device is None:
        return jax.default_backend()
    return device if isinstance(device, str) else device.platform


def _of(platform: str) -> Sizes:
    return _CPU if platform == "cpu" else _GPU


@contextlib.contextmanager
def made_alone() -> Iterator[None]:
    """Trace a program for little work: the smallest for a CPU.

    It must not call a function that is jitted on its own, which is traced once, here or elsewhere.

    >>> with made_alone():
    ...     sizes().places
    4096
    """
    _chosen.append(_ALONE if sizes() == _CPU else sizes())
    try:
        yield
    finally:
        _chosen.pop()


@contextlib.contextmanager
def made_for(platform: str, **changes: Any) -> Iterator[None]:
    """Trace programs for "cpu" or "gpu": to compile them for it, or to test its forms.

    ``changes`` are other sizes. What was traced before, or is traced within, is forgotten.

    >>> with made_for("gpu", places=1024):
    ...     sizes().places, sizes().races
    (1024, 16384)
    """
    _chosen.append(dataclasses.replace(_of(platform), **changes))
    jax.clear_caches()
    try:
        yield
    finally:
        _chosen.pop()
        jax.clear_caches()
